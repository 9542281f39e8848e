/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a page shows, with numbers that hold over both profiles where it compares two: the
 * functions, the tree of calls of all samples (one node for each path of functions from the
 * outside), the events, threads, and the samples added up by event, thread, leaf of the tree and
 * slice of time. Knows profiles; does not know HTML.
 *
 * Threads: one owner at a time.
 */
#pragma once

#include "output/analysis/sched/sched_log.h"
#include "output/export/page/slices.h"
#include "output/fold/choice.h"
#include "output/fold/clusters.h"
#include "output/fold/match.h"
#include "output/fold/paths.h"

struct yarn_page_side {
    const struct yarn_profile *profile; /* borrowed; NULL: there is no such side */
    const struct yarn_choice *choice;   /* borrowed: of the profile */
    struct yarn_slices *slices;         /* borrowed */
    const struct yarn_sched_log *sched; /* borrowed, sorted; NULL: not known, or not shown */
    bool is_part;                       /* something of the recording is left out */
};

struct yarn_page_cell {
    uint64_t weight, samples;
    double squares;  /* of each sample's weight */
    uint32_t thread; /* of `threads` */
    uint32_t leaf;
    uint16_t event; /* of `events` */
    uint16_t slice; /* 0: the first of its side that has a sample */
};

struct yarn_page_event {
    const char *name, *unit; /* borrowed */
    uint64_t period;         /* 0: varies */
    uint32_t numbers[2];     /* of the profiles; YARN_DUMP_NONE: that one has none */
};

/* A lane of the timeline: one thread, or several that memory allows to be shown only together. */
struct yarn_page_thread {
    uint32_t side;
    uint32_t number; /* of the profile: its first */
    uint32_t count;
    uint32_t run; /* of its side's clusters; YARN_DUMP_NONE: its threads are of several */
};

/* Each pointer is an owned array; its count and its capacity follow. */
struct yarn_page_graph {
    struct yarn_page_side sides[2]; /* before, after */
    struct yarn_match match;
    struct yarn_clusters clusters[2];   /* owned; empty where nothing is compared */
    const struct yarn_sched_log *sched; /* borrowed: of the side after; NULL: not shown */
    uint32_t *lane_of;  /* owned: of each thread of that profile, in `threads`; or YARN_DUMP_NONE */
    bool is_by_runs;    /* changes are judged by the spread of the runs */
    uint8_t *is_kernel; /* owned; a byte a function of `match` */
    struct yarn_paths nodes; /* by function of `match`; node 0 is the root of all */
    uint32_t *leaves;        /* nodes where stacks end */
    size_t nr_leaves, leaves_capacity;
    struct yarn_page_event *events;
    size_t nr_events, events_capacity;
    struct yarn_page_thread *threads;
    size_t nr_threads, threads_capacity;
    struct yarn_page_cell *cells; /* by event, thread, leaf, slice */
    size_t nr_cells, cells_capacity;
};
