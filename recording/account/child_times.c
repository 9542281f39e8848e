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

void yarn_child_times_add(struct yarn_child_times *child_times, uint64_t cpu_ns)
{
    if (!child_times)
        return;
    atomic_fetch_add(&child_times->nr_children, 1);
    atomic_fetch_add(&child_times->cpu_ns, cpu_ns);
}

enum { FREE, BUSY, READY };

void yarn_child_times_add_dump(struct yarn_child_times *child_times,
                               const struct yarn_child_dump *dump)
{
    for (size_t i = 0; child_times && i < YARN_CHILD_DUMPS_MAX; i++) {
        uint32_t free = FREE;
        if (!atomic_compare_exchange_strong(&child_times->state[i], &free, BUSY))
            continue;
        child_times->dump[i] = *dump;
        atomic_store(&child_times->state[i], READY);
        return;
    }
}

void yarn_child_times_visit_dumps(struct yarn_child_times *child_times, yarn_child_dump_fn visit,
                                  void *self)
{
    for (size_t i = 0; child_times && i < YARN_CHILD_DUMPS_MAX; i++)
        if (atomic_load(&child_times->state[i]) == READY && visit(self, &child_times->dump[i]))
            atomic_store(&child_times->state[i], FREE);
}

void yarn_child_times_subtract(struct yarn_child_times *child_times, uint64_t cpu_ns)
{
    if (!child_times)
        return;
    atomic_fetch_sub(&child_times->nr_children, 1);
    atomic_fetch_sub(&child_times->cpu_ns, cpu_ns);
}
