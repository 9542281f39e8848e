/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The CPU time of each process of a tree, into its target: by the switch records of the kernel for
 * as long as there are such, later by its CPU clock, which is read from time to time, and the
 * weight of its samples since, and then said to be estimated.
 *
 * Threads: one. Signals: not safe.
 */
#pragma once

#include "core/session/session.h"
#include "output/yarnprof/outside/cpu_clock.h"
#include "output/yarnprof/outside/processes.h"

struct yarn_tree_times {
    const struct yarn_session *session; /* borrowed, as is the next */
    const struct yarn_processes *processes;
    struct yarn_cpu_clock clock;
    uint32_t clock_event; /* whose samples weigh CPU time; YARN_DUMP_NONE */
    bool is_cut;          /* there are no switch records, or not any more */
    uint64_t read_ns;     /* when clocks were read last, since */
    uint64_t cpu_ns;      /* of all that was counted */
    /* The clock event counts what a switch takes, too, which is in no stretch between two records:
     * each stretch is charged for its part of that, which changes with the load of the cores. */
    uint64_t nr_turns;    /* stretches that have ended since the latest comparison */
    uint64_t turn_ns;     /* one turn's part before that */
    uint64_t turns_ns;    /* what all turns were charged */
    uint64_t switches_ns; /* what they took by the latest comparison */
    uint64_t compared_ns; /* when that is due again */
    struct {
        uint64_t time_ns, counted_ns; /* a reading that the records have not come to; 0 */
    } reading;
};

struct yarn_tree_times yarn_tree_times_of(const struct yarn_session *session,
                                          const struct yarn_processes *processes);

/* Records of the tree, before anything else is made of them. */
void yarn_tree_times_record(struct yarn_tree_times *times, const struct yarn_typed_record *record);

/* At the end of an image, before that is stored: what is not in its CPU time yet. */
void yarn_tree_times_on_end(struct yarn_tree_times *times, struct yarn_tree_process *process);

/* It ran already. */
void yarn_tree_times_on_attach(const struct yarn_tree_times *times,
                               struct yarn_tree_process *process);

/* The process has executed a program: after what is before that was ended. */
void yarn_tree_times_on_exec(struct yarn_tree_times *times, struct yarn_tree_process *process,
                             const struct yarn_typed_record *record);

/* The records are read until then: whoever is on a core is charged. */
void yarn_tree_times_pass(struct yarn_tree_times *times, uint64_t time_ns);
