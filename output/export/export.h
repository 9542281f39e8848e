/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Profiles in other tools' formats: one file a format, one table of them. What a view of yarn shows
 * as a function of its own ([truncated], …) is one here too, and the weights of what is written sum
 * up to those of the samples that pass; with CPU time in the kernel that was not sampled, where a
 * format has room for what has no time.
 * Knows profiles; does not know the command line, nor how the file gets its name (yarnprof).
 *
 * Threads: one owner at a time.
 */
#pragma once

#include <stdio.h>

#include "output/analysis/load/load.h"
#include "output/analysis/profile/profile.h"
#include "output/analysis/time/timeline.h"
#include "output/fold/choice.h"

struct yarn_export {
    const struct yarn_profile *profile;   /* borrowed, as is all here */
    const struct yarn_timeline *timeline; /* gathered; NULL: samples are summed up in cells */
    const struct yarn_choice *choice;
    const struct yarn_sched_log *sched; /* not sorted; where YARN_EXPORT_RAW is asked for */
    bool is_part;                       /* something of the recording is left out */
    uint32_t process;                   /* only it: a dump's number and 1; 0: all */
    const char *name;    /* of the service, where a format says one; NULL: each its program's */
    const char *version; /* of yarn */
    FILE *file;
    uint64_t most_bytes; /* of what is written; where that is not enough, -EFBIG */
    const char *path;    /* of `file`; NULL unless the format asks for YARN_EXPORT_FILE */
    char why[256];       /* of a failure, where errno does not say it */
    char note[256];      /* what the file says otherwise than it was */
};

/* Needs of a format. */
enum yarn_export_needs {
    YARN_EXPORT_TIMES = 1,   /* samples one by one, in time order */
    YARN_EXPORT_CPUS = 2,    /* sums kept apart by cpu */
    YARN_EXPORT_LINES = 4,   /* places in the source */
    YARN_EXPORT_INLINES = 8, /* and inlined functions */
    YARN_EXPORT_FILE = 16,   /* a file that can be gone back in */
    YARN_EXPORT_BINARY = 32, /* nothing for a terminal */
    YARN_EXPORT_ONE_EVENT = 64,
    YARN_EXPORT_THREADS = 128, /* sums kept apart by thread */
    YARN_EXPORT_TRACKS = 256,  /* time order is that of each thread and event */
    YARN_EXPORT_RAW = 512,     /* the raw bytes of tracepoints */
};

struct yarn_export_format {
    const char *name;
    const char *about; /* who reads it */
    unsigned needs;    /* enum yarn_export_needs */
    enum yarn_frames_kind frames;
    int (*write)(struct yarn_export *export);
};

/* Their names, as help and complaints have them. */
#define YARN_EXPORT_FORMATS                                                                        \
    "folded, pprof, otlp, speedscope, firefox, callgrind, chrome, perf.data, sqlite or trace.dat"

/* NULL where there is no n-th. */
const struct yarn_export_format *yarn_export_format(size_t n);

int yarn_export_folded(struct yarn_export *export);
int yarn_export_pprof(struct yarn_export *export);
int yarn_export_otlp(struct yarn_export *export);
int yarn_export_speedscope(struct yarn_export *export);
int yarn_export_firefox(struct yarn_export *export);
int yarn_export_callgrind(struct yarn_export *export);
int yarn_export_chrome(struct yarn_export *export);
int yarn_export_perf_data(struct yarn_export *export);
int yarn_export_sqlite(struct yarn_export *export);
int yarn_export_trace_dat(struct yarn_export *export);
