/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a view wants of the dumps that are loaded for it.
 */
#pragma once

#include "output/analysis/profile/filter.h"
#include "output/analysis/profile/profile.h"
#include "output/analysis/sched/sched_log.h"
#include "output/analysis/source/lines.h"
#include "output/analysis/time/timeline.h"
#include "output/store/stream.h"

/* 0 or a negative errno, which ends the loading. */
typedef int yarn_sample_fn(void *self, const struct yarn_profile *profile,
                           const struct yarn_timeline_entry *sample);

/* How many bytes of all have been read. */
typedef void yarn_load_progress_fn(void *self, uint64_t done, uint64_t all);

/* What a file at hand says of a frame whose name was not asked for; 0 or a negative errno. */
typedef int yarn_found_name_fn(void *self, const struct yarn_dump_code_name *name);

/* What the view distinguishes: frames that are equal in it become one, and with them stacks. */
enum yarn_frames_kind { YARN_FRAMES_BY_ADDRESS, YARN_FRAMES_BY_LINE, YARN_FRAMES_BY_FUNCTION };

struct yarn_load_options {
    struct yarn_time_range time;
    bool by_cpu;          /* cells are kept apart by cpu */
    bool by_address;      /* and by the memory that they are about */
    const char *by_field; /* and by a tracepoint's field of that name; NULL: by none */
    bool has_no_threads;  /* cells are not kept apart by thread: all are of thread 0 */
    bool has_no_stacks;   /* nor by stack: all are of none */
    bool has_counts;      /* dumps have each count, and cells are of what is counted, alone */
    bool has_no_code;     /* there are no stacks at all, nor functions that would need a name */
    bool has_no_files;    /* functions have the names that the dump has: no file is read for one */
    enum yarn_frames_kind frames;
    struct yarn_timeline *timeline;   /* borrowed; if given, samples go there, not into cells */
    bool has_scheduling;              /* the timeline has tracepoints of YARN_SCHED */
    bool has_raw;                     /* details have the raw bytes of tracepoints */
    bool has_branches;                /* the profile has those noted beside samples */
    struct yarn_sched_log *sched;     /* borrowed; if given, when threads ran goes there */
    struct yarn_stream_list *streams; /* borrowed; if given, each record in time order, too */
    struct yarn_lines *lines;         /* borrowed; if given, frames are placed in the source */
    bool folds_glue;                  /* of interpreters: glue.h */
    bool has_no_inlines;              /* inlined functions become no frames of their own */
    yarn_sample_fn *take_sample;      /* if given, samples go there, as stored: not by time */
    void *take_self;
    yarn_found_name_fn *take_name; /* if given, such names go there, valid for the call */
    void *names_self;
    yarn_load_progress_fn *show_progress; /* NULL: not shown */
    void *progress_self;
};

/* Of dumps all but their threads and stacks. */
#define YARN_LOAD_SHORT                                                                            \
    ((struct yarn_load_options){.time = YARN_TIME_RANGE_ALL,                                       \
                                .has_no_threads = true,                                            \
                                .has_no_stacks = true,                                             \
                                .frames = YARN_FRAMES_BY_FUNCTION})
