/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/sched/sched_log.h"

#include <stdlib.h>

#include "output/base/array.h"

enum { GROUPS_AT_FIRST = 64 };

static int find_group(struct yarn_sched_log *sched, uint32_t space, uint32_t tid,
                      uint32_t *ret_group)
{
    uint64_t key = (uint64_t)space << 32 | tid;
    int err =
        sched->index.slots ? 0 : yarn_table_open(&sched->index, GROUPS_AT_FIRST, (size_t)1 << 31);
    if (err)
        return err;
    uint32_t found = yarn_table_find(&sched->index, key);
    if (found == YARN_TABLE_NONE) {
        struct yarn_sched_group group = {.space = space, .tid = tid};
        found = (uint32_t)sched->nr_groups;
        err = YARN_ARRAY_PUT(&sched->groups, &sched->nr_groups, &sched->groups_capacity, &group);
        if (!err)
            err = yarn_table_put(&sched->index, key, found);
        if (err)
            return err;
    }
    *ret_group = found;
    return 0;
}

int yarn_sched_log_add_life(struct yarn_sched_log *sched, const struct yarn_sched_life *life)
{
    struct yarn_sched_life added = *life;
    int err = find_group(sched, life->space, life->tid, &added.group);
    added.end_ns = yarn_u64_max(added.birth_ns, added.end_ns);
    return err ? err
               : YARN_ARRAY_PUT(&sched->lives, &sched->nr_lives, &sched->lives_capacity, &added);
}

int yarn_sched_log_add_span(struct yarn_sched_log *sched, uint32_t space, uint32_t tid,
                            const struct yarn_sched_span *span)
{
    struct yarn_sched_span added = *span;
    int err = find_group(sched, space, tid, &added.group);
    return err ? err
               : YARN_ARRAY_PUT(&sched->spans, &sched->nr_spans, &sched->spans_capacity, &added);
}

int yarn_sched_log_add_waking(struct yarn_sched_log *sched, uint32_t space, uint32_t tid,
                              uint64_t time_ns, const struct yarn_sched_waker *waker)
{
    struct yarn_sched_waking added = {.time_ns = time_ns, .is_by_softirq = waker->is_by_softirq};
    int err = find_group(sched, space, tid, &added.group);
    if (!err)
        err = find_group(sched, waker->space, waker->tid, &added.waker);
    return err ? err
               : YARN_ARRAY_PUT(&sched->wakings, &sched->nr_wakings, &sched->wakings_capacity,
                                &added);
}

/* The bits are the kernel's trace_flag_type. Why no name with an interrupt: whom it hits is chance.
 */
struct yarn_sched_waker yarn_sched_waker_of(uint32_t space, uint32_t tid, uint64_t flags)
{
    enum { IN_HARDIRQ = 0x08, IN_SOFTIRQ = 0x10, IN_NMI = 0x40 };
    if (flags & (IN_HARDIRQ | IN_NMI))
        return (struct yarn_sched_waker){.space = YARN_SCHED_INTERRUPT};
    return (struct yarn_sched_waker){space, tid, flags & IN_SOFTIRQ};
}

int yarn_sched_log_add_reading(struct yarn_sched_log *sched, uint32_t space, uint32_t tid,
                               const struct yarn_sched_reading *reading)
{
    struct yarn_sched_reading added = *reading;
    int err = find_group(sched, space, tid, &added.group);
    return err ? err
               : YARN_ARRAY_PUT(&sched->readings, &sched->nr_readings, &sched->readings_capacity,
                                &added);
}

int yarn_sched_log_add_lock_sample(struct yarn_sched_log *sched, uint32_t space,
                                   uint32_t waiter_tid, uint32_t holder_tid,
                                   const struct yarn_sched_lock_sample *sample)
{
    struct yarn_sched_lock_sample added = *sample;
    int err = find_group(sched, space, waiter_tid, &added.waiter);
    if (!err)
        err = find_group(sched, space, holder_tid, &added.holder);
    return err ? err
               : YARN_ARRAY_PUT(&sched->lock_samples, &sched->nr_lock_samples,
                                &sched->lock_samples_capacity, &added);
}

int yarn_sched_log_add_gap(struct yarn_sched_log *sched, const struct yarn_sched_gap *gap)
{
    return gap->from_ns >= gap->to_ns
               ? 0
               : YARN_ARRAY_PUT(&sched->gaps, &sched->nr_gaps, &sched->gaps_capacity, gap);
}

void yarn_sched_log_fini(struct yarn_sched_log *sched)
{
    free(sched->lives);
    free(sched->spans);
    free(sched->wakings);
    free(sched->readings);
    free(sched->lock_samples);
    free(sched->gaps);
    free(sched->groups);
    yarn_table_close(&sched->index);
    yarn_sched_cores_fini(&sched->cores);
    *sched = YARN_SCHED_LOG_EMPTY;
}
