/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What `yarnprof sched` shows and in which forms: between the verb, which reads the command line,
 * and the files that print. Threads: one.
 */
#pragma once

#include "output/analysis/sched/cores.h"
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
    const struct yarn_table *comms;         /* names by raw pid; NULL: of a trace file */
    bool has_wakers;                        /* who woke whom is shown */
    const struct yarn_sched_cores *cores;   /* sorted; NULL: who had the core is not shown */
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

/* How many of them are shown. */
size_t yarn_sched_view_count(const struct yarn_sched_view *view);
/* Of a row: what the thread was called at its end, and its process. */
const char *yarn_sched_view_comm(const struct yarn_sched_view *view,
                                 const struct yarn_sched_row *row);
/* Of a number that the kernel has for a thread of no process that was recorded. */
const char *yarn_sched_view_foreign(const struct yarn_sched_view *view, uint32_t tid);
uint32_t yarn_sched_view_pid(const struct yarn_sched_view *view, const struct yarn_sched_row *row);

/* What the dumps say of the whole. */
struct yarn_sched_missing {
    uint64_t cut_ns, lost, refused;
    size_t nr_unrecorded; /* processes without switches */
};
struct yarn_sched_missing yarn_sched_view_missing(const struct yarn_sched_view *view);

/* The line above a table; what is missing, below it. */
void yarn_sched_head_text(const struct yarn_sched_view *view, const struct yarn_out *out);
void yarn_sched_notes_text(const struct yarn_sched_view *view, const struct yarn_out *out);

/* Each list in the form of `out`; `json` is that of YARN_OUT_JSON. */
void yarn_sched_threads(const struct yarn_sched_view *view, const struct yarn_out *out,
                        struct yarn_json *json);
/* Who woke whom: a row a pair, the most wakings first. -ENOMEM. */
YARN_MUST_CHECK int yarn_sched_wakers(const struct yarn_sched_view *view,
                                      const struct yarn_out *out, struct yarn_json *json);
/* Who was on the core while a thread waited for it: a row a pair, the longest first. -ENOMEM. */
YARN_MUST_CHECK int yarn_sched_wait_for_core(const struct yarn_sched_view *view,
                                             const struct yarn_out *out, struct yarn_json *json);
/* Who held locks that another waited for: a row a pair, the longest first. -ENOMEM. */
YARN_MUST_CHECK int yarn_sched_locks(const struct yarn_sched_view *view, const struct yarn_out *out,
                                     struct yarn_json *json);

/* All of them. -ENOMEM. */
YARN_MUST_CHECK int yarn_sched_json(const struct yarn_sched_view *view, const struct yarn_out *out);
/* A line a thread. -ENOMEM. */
YARN_MUST_CHECK int yarn_sched_timeline_text(const struct yarn_sched_view *view,
                                             const struct yarn_out *out);
