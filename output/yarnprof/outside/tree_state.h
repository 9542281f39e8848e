/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a tree that is recorded consists of. Others read what is to be said of it.
 *
 * Threads: one. Signals: not safe.
 */
#pragma once

#include "output/yarnprof/io/written.h"
#include "output/yarnprof/outside/rows.h"
#include "output/yarnprof/outside/times.h"
#include "output/yarnprof/outside/unfollowed.h"

/* The latest stop of the recording. Times 0: there was none. */
struct yarn_tree_pause {
    bool is_off; /* it lasts */
    uint64_t off_ns, on_ns;
    enum yarn_dump_coverage_cause off_by, on_by;
};

/* Of the event off-cpu (waits). */
struct yarn_tree_waits {
    bool is_wanted;
    bool is_by_clock;             /* there are no switch records any more */
    uint64_t period_ns;           /* of each process's rounds, at least */
    uint64_t round_ns, due_ns;    /* the latest pass over all, and the next */
    uint64_t second_ns, nr_looks; /* since then */
};

struct yarn_process_tree {
    const struct yarn_job *job;         /* borrowed, as is the next */
    const struct yarn_session *session; /* of all of them */
    struct yarn_processes processes;
    struct yarn_tree_times times;
    struct yarn_tree_pause pause;
    struct yarn_tree_waits waits;
    struct yarn_tree_rows rows;
    struct yarn_followed *holder;          /* borrowed: whose dump has these; NULL: none yet */
    uint64_t kept_cpu_ns, kept_counted_ns; /* in dumps before that one */
    uint32_t nr_changes;                   /* of the session's, that the dumps know */
    uint64_t written_ns;                   /* when the rows were written last */
    uint64_t read_ns;                      /* time of the latest record */
    uint64_t ended_ns;                     /* when the recording was; 0 */
    struct yarn_arena paths;
    struct yarn_table path_at; /* hash of a path -> where it stands in that */
    struct yarn_pipeline_shared shared;
    struct yarn_unfollowed unfollowed;
    pid_t first_pid;       /* of the command */
    uint64_t times_due_ns; /* when those of threads are read again (switches) */
    bool are_switches_cut; /* too many came, and there are none any more */
    bool has_all;      /* every process of the machine, but the calling one; else those that descend
                        * from the ones that were added */
    uint64_t nr_lost;  /* samples, as far as a dump says so */
    uint64_t nr_stray; /* samples of processes that were never announced */
    uint64_t nr_malformed;
    struct yarn_own_dumps ended;
    uint64_t nr_samples; /* in dumps that have ended */
    const char *failure; /* the first that a process had, and its negative errno; NULL: none */
    int error;
};

/* Whether threads are looked at now. */
static inline bool yarn_tree_waits_are_on(const struct yarn_process_tree *tree)
{
    return tree->waits.is_wanted && !tree->pause.is_off;
}
