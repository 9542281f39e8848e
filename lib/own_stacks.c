/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/own_stacks.h"

#include <stdatomic.h>

#include "core/base/pages.h"
#include "core/event/attr.h"
#include "core/record/record.h"
#include "core/sys/clock.h"
#include "core/sys/futex.h"
#include "core/sys/process.h"
#include "unwind/registers.h"
#include "unwind/unwinder.h"

struct yarn_own_stacks {
    struct yarn_module_map *map;
    struct yarn_unwinder *unwinder;
    bool is_old; /* the map */
    struct yarn_frames frames;
};

/* Why: libunwind keeps a pool for the whole process, without a lock as it is built here. The word
 * is the process whose thread is inside: in a child after fork that is nobody. */
static _Atomic uint32_t inside;

static void enter(void)
{
    const uint32_t pid = (uint32_t)yarn_process_pid();
    uint32_t seen = 0;
    while (!atomic_compare_exchange_strong(&inside, &seen, pid)) {
        if (seen == pid) {
            yarn_futex_wait(&inside, pid, YARN_NS_PER_MS);
            seen = 0;
        }
    }
}

static void leave(void)
{
    atomic_store(&inside, 0);
    yarn_futex_wake(&inside);
}

void yarn_own_stacks_free(struct yarn_own_stacks *stacks)
{
    if (!stacks)
        return;
    enter();
    if (stacks->unwinder)
        yarn_unwinder_free(stacks->unwinder);
    leave();
    if (stacks->map)
        yarn_module_map_free(stacks->map);
    yarn_pages_unmap(stacks, sizeof *stacks);
}

int yarn_own_stacks_new(struct yarn_own_stacks **ret_stacks)
{
    struct yarn_own_stacks *made = yarn_pages_map(sizeof *made);
    if (!made)
        return -ENOMEM;
    made->is_old = true;
    int err = yarn_module_map_new(&made->map, &yarn_target_self, NULL);
    enter();
    if (!err)
        err = yarn_unwinder_new(&made->unwinder, YARN_UNWINDER_AUTO, made->map);
    leave();
    if (err) {
        yarn_own_stacks_free(made);
        return err;
    }
    *ret_stacks = made;
    return 0;
}

void yarn_own_stacks_note_mapping(struct yarn_own_stacks *stacks)
{
    stacks->is_old = true;
}

static bool read_register(const void *self, unsigned bit, uint64_t *ret_value)
{
    return yarn_record_register(self, yarn_attr_unwind_registers(), bit, ret_value);
}

int yarn_own_stacks_walk(struct yarn_own_stacks *stacks, const struct yarn_record *record,
                         uint64_t *ret_addresses, size_t max)
{
    struct yarn_registers registers;
    if (!yarn_registers_of_perf(read_register, record, &registers))
        return -ENODATA;
    if (stacks->is_old) {
        int err = yarn_module_map_read_proc(stacks->map, 0);
        if (err)
            return err;
        stacks->is_old = false;
    }
    const struct yarn_stack_copy copy = {
        .start = registers.sp,
        .first = yarn_span_of(record->stack.data, record->stack.size),
        .time_ns = record->time,
        .tid = (pid_t)record->tid,
    };
    enter();
    yarn_unwinder_unwind(stacks->unwinder, &registers, &copy, &stacks->frames);
    leave();
    yarn_module_map_rest(stacks->map);
    size_t count = yarn_size_min(stacks->frames.count, max);
    for (size_t i = 0; i < count; i++)
        ret_addresses[i] = stacks->frames.frame[i].ip;
    return (int)count;
}
