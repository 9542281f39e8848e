/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What `yarnprof sched` shows and in which forms: between the verb, which reads the command line,
 * and the files that print. Threads: one.
 */
#pragma once

#include "output/analysis/sched/sums.h"
#include "output/fold/choice.h"
#include "output/yarnprof/io/out.h"
#include "output/yarnprof/views/stream_list.h"

struct yarn_sched_row {
    const struct yarn_sched_life *life;
    struct yarn_sched_sums sums;
};

struct yarn_sched_view {
    const struct yarn_profile *profile;
    bool is_timeline;                       /* of text a line a thread */
    bool has_wakers;                        /* who woke whom is shown */
    bool has_cores;                         /* who had the core is shown */
    bool is_by_process;                     /* that of processes, not of threads */
    const struct yarn_sched_log *sched;     /* sorted; owners are threads of the profile */
    uint64_t from_ns, to_ns;                /* what is looked at, within the recording */
    const struct yarn_stream_list *streams; /* NULL: couplebreak is not shown */
    const struct yarn_stream_view *shown;   /* of them */
    size_t limit;                           /* rows; 0: all */
    struct yarn_sched_row *rows;            /* owned array, in the order of the profile's threads */
    size_t nr_rows;
};

/* Rows of the threads that pass. -ENOMEM. */
YARN_MUST_CHECK int yarn_sched_view_build(struct yarn_sched_view *view,
                                          const struct yarn_choice *choice);
/* Idempotent. */
void yarn_sched_view_fini(struct yarn_sched_view *view);

/* Of a number that the kernel has for a thread of no process that was recorded. */
const char *yarn_sched_view_foreign(const struct yarn_sched_view *view, uint32_t tid);

/* What the dumps say of the whole. */
struct yarn_sched_missing {
    uint64_t cut_ns, lost, refused;
    size_t nr_unrecorded; /* processes without switches */
};

/* Wakers and woken threads: a row a pair, the most wakings first. -ENOMEM. */
YARN_MUST_CHECK int yarn_sched_wakers(const struct yarn_sched_view *view,
                                      const struct yarn_out *out);
/* Threads on a core and those that waited for it: a row a pair, the longest first. -ENOMEM. */
YARN_MUST_CHECK int yarn_sched_wait_for_core(const struct yarn_sched_view *view,
                                             const struct yarn_out *out);
/* Holders of locks and their waiters: a row a pair, the longest first. -ENOMEM. */
YARN_MUST_CHECK int yarn_sched_locks(const struct yarn_sched_view *view,
                                     const struct yarn_out *out);

/* In the form of `out`. -ENOMEM. */
YARN_MUST_CHECK int yarn_sched_print(const struct yarn_sched_view *view,
                                     const struct yarn_out *out);
