/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/account/child_times.h"

#include "core/base/pages.h"

struct yarn_child_times *yarn_child_times_new(void)
{
    return yarn_pages_map_shared(sizeof(struct yarn_child_times));
}

void yarn_child_times_free(struct yarn_child_times *child_times)
{
    yarn_pages_release(child_times, sizeof *child_times);
}

void yarn_child_times_add(struct yarn_child_times *child_times, int nr_children, uint64_t cpu_ns)
{
    if (!child_times)
        return;
    atomic_fetch_add(&child_times->nr_children, (uint64_t)nr_children);
    atomic_fetch_add(&child_times->cpu_ns, (uint64_t)nr_children * cpu_ns);
}

void yarn_child_times_add_dump(struct yarn_child_times *child_times,
                               const struct yarn_child_dump *dump)
{
    size_t at = YARN_CHILD_DUMPS_MAX;
    if (child_times)
        at = yarn_slots_take(child_times->state, YARN_CHILD_DUMPS_MAX);
    if (at == YARN_CHILD_DUMPS_MAX)
        return;
    child_times->dump[at] = *dump;
    atomic_store(&child_times->state[at], YARN_SLOT_READY);
}

void yarn_child_times_visit_dumps(struct yarn_child_times *child_times, yarn_child_dump_fn visit,
                                  void *self)
{
    for (size_t i = 0; child_times && i < YARN_CHILD_DUMPS_MAX; i++)
        if (atomic_load(&child_times->state[i]) == YARN_SLOT_READY &&
            visit(self, &child_times->dump[i]))
            atomic_store(&child_times->state[i], YARN_SLOT_FREE);
}
