/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What is known of when threads ran, as any source has it: their lives, the spans in which they
 * ran, wakings, what the kernel's schedstat said, and when nothing was recorded. Knows numbers
 * only: no dump, no trace file. A source adds what it has, in any order, and sorts it; then
 * walk.h goes through the life of a thread, and sums.h, lane.h and wakers.h say what it was.
 *
 * A thread is named by a space (a process of a dump, a trace file) and its tid there; two threads
 * that had one tid one after the other are kept apart by the times of their lives. Nothing is
 * trusted: what lies outside of every life, or overlaps, is left out and counted in `nr_refused`.
 *
 * Threads: one owner at a time.
 */
#pragma once

#include "core/base/table.h"
#include "output/analysis/sched/cores.h"

/* The space of threads of processes that were not recorded; that of interrupts, with tid 0. */
#define YARN_SCHED_FOREIGN UINT32_MAX
#define YARN_SCHED_INTERRUPT (UINT32_MAX - 1)

struct yarn_sched_life {
    uint64_t birth_ns, end_ns; /* or when it was found, and up to when it was recorded */
    uint64_t cpu_ns;           /* its CPU time from birth to end; 0: unknown */
    uint32_t space, tid;
    uint32_t owner;        /* the source's number for it */
    bool is_born;          /* at birth_ns; else found, having run before */
    bool has_ended;        /* at end_ns; else it lived on */
    bool is_recorded;      /* its switches; else all of it is unknown */
    bool has_wakings;      /* each waking of it is known */
    uint32_t group;        /* from here on: filled by sorting */
    uint32_t first, count; /* spans */
    bool is_last;          /* of its tid */
};

/* A span in which a thread was on a core. */
struct yarn_sched_span {
    uint64_t begin_ns, length_ns;
    uint32_t group; /* filled by adding */
    uint32_t cpu : 30;
    uint32_t is_preempted : 1; /* still runnable at its end */
    uint32_t is_open : 1;      /* where it ends is not where the thread left the core */
};

struct yarn_sched_waking {
    uint64_t time_ns;
    uint32_t group, waker; /* both groups: filled by adding */
    bool is_by_softirq;    /* which ran on top of the waker, perhaps not on its behalf */
};

struct yarn_sched_waker {
    uint32_t space, tid;
    bool is_by_softirq;
};

/* What the kernel counted of a thread up to then, since its birth. */
struct yarn_sched_reading {
    uint64_t time_ns;
    uint64_t run_ns, wait_ns; /* on a core; runnable */
    uint32_t group;           /* filled by adding */
};

/* A thread was seen to wait for a lock that another held. */
struct yarn_sched_lock_sample {
    uint32_t waiter, holder; /* groups: filled by adding */
    uint32_t place;          /* the source's number for where the waiter was */
    uint64_t time_ns;        /* of a sample of it */
    uint64_t ns;             /* what that stands for */
};

/* A time in which a space was not recorded: cut out, or stopped. */
struct yarn_sched_gap {
    uint64_t from_ns, to_ns;
    uint32_t space;
};

/* All that has one tid in one space. */
struct yarn_sched_group {
    uint32_t space, tid;
    uint32_t spans_end, wakings_end, readings_end, lives_end; /* each begins where the last ends */
};

/* Each pointer is an owned array; its count and its capacity follow. */
struct yarn_sched_log {
    struct yarn_sched_life *lives;
    size_t nr_lives, lives_capacity;
    struct yarn_sched_span *spans;
    size_t nr_spans, spans_capacity;
    struct yarn_sched_waking *wakings;
    size_t nr_wakings, wakings_capacity;
    struct yarn_sched_reading *readings;
    size_t nr_readings, readings_capacity;
    struct yarn_sched_lock_sample *lock_samples;
    size_t nr_lock_samples, lock_samples_capacity;
    struct yarn_sched_gap *gaps;
    size_t nr_gaps, gaps_capacity;
    struct yarn_sched_group *groups;
    size_t nr_groups, groups_capacity;
    struct yarn_table index; /* space and tid to group */
    struct yarn_sched_cores cores;
    bool has_cores;          /* the caller's: who came onto cores is taken */
    uint64_t from_ns, to_ns; /* what is looked at: the source's own */
    uint64_t nr_refused;     /* spans that contradict others, or belong to no life */
};

#define YARN_SCHED_LOG_EMPTY                                                                       \
    ((struct yarn_sched_log){.index = YARN_TABLE_CLOSED, .to_ns = UINT64_MAX})

/* Each: -ENOMEM. */
YARN_MUST_CHECK int yarn_sched_log_add_life(struct yarn_sched_log *sched,
                                            const struct yarn_sched_life *life);
YARN_MUST_CHECK int yarn_sched_log_add_span(struct yarn_sched_log *sched, uint32_t space,
                                            uint32_t tid, const struct yarn_sched_span *span);
YARN_MUST_CHECK int yarn_sched_log_add_waking(struct yarn_sched_log *sched, uint32_t space,
                                              uint32_t tid, uint64_t time_ns,
                                              const struct yarn_sched_waker *waker);
YARN_MUST_CHECK int yarn_sched_log_add_reading(struct yarn_sched_log *sched, uint32_t space,
                                               uint32_t tid,
                                               const struct yarn_sched_reading *reading);
YARN_MUST_CHECK int yarn_sched_log_add_lock_sample(struct yarn_sched_log *sched, uint32_t space,
                                                   uint32_t waiter_tid, uint32_t holder_tid,
                                                   const struct yarn_sched_lock_sample *sample);
YARN_MUST_CHECK int yarn_sched_log_add_gap(struct yarn_sched_log *sched,
                                           const struct yarn_sched_gap *gap);

/* The waker, as common_flags of a tracepoint's sample say: the thread, or what interrupted it. */
struct yarn_sched_waker yarn_sched_waker_of(uint32_t space, uint32_t tid, uint64_t flags);

/* Once all is added. Time is linear in what comes in order, else n log n. Lives keep no order. */
YARN_MUST_CHECK int yarn_sched_log_sort(struct yarn_sched_log *sched);

/* Idempotent. */
void yarn_sched_log_fini(struct yarn_sched_log *sched);

/* Where something of a group begins. */
#define YARN_SCHED_LOG_BEGIN(sched, group, member) ((group) ? (sched)->groups[(group)-1].member : 0)
