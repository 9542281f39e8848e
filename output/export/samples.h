/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The samples of an export that pass its filter: one by one or summed up, as the format asked.
 * Threads: one owner at a time.
 */
#pragma once

#include "output/export/export.h"

struct yarn_export_sample {
    uint64_t time_ns; /* 0 where samples are summed up */
    uint64_t weight;
    uint64_t count; /* of samples */
    uint32_t stack; /* YARN_DUMP_NONE: none */
    uint32_t thread;
    uint32_t comm; /* the thread's: at that time, or the latest */
    uint32_t dump;
    uint32_t event;
    uint32_t cpu;
    uint32_t stack_end;
    uint32_t root; /* the pseudo-function around the stack; YARN_DUMP_NONE: none */
};

struct yarn_export_samples {
    const struct yarn_export *export;
    size_t at;
};

#define YARN_EXPORT_SAMPLES(export) ((struct yarn_export_samples){(export), 0})

/* False at the end. */
bool yarn_export_next(struct yarn_export_samples *samples, struct yarn_export_sample *ret_sample);

/* The functions of one stack, innermost first. */
struct yarn_export_path {
    uint32_t *functions; /* owned array */
    size_t count, capacity;
};

/* In the place of the stack before. `path` begins zeroed and ends with free(path->functions). */
YARN_MUST_CHECK int yarn_export_path(const struct yarn_profile *profile, uint32_t stack,
                                     struct yarn_export_path *path);

/* What an event has that passes. */
struct yarn_export_total {
    uint64_t weight;
    uint64_t count;
};

/* One an event of the profile; owned by the caller, freed by free(). NULL: no memory. */
YARN_MUST_CHECK struct yarn_export_total *yarn_export_totals(const struct yarn_export *export);

/* The one with the most samples; YARN_DUMP_NONE: there is none. */
uint32_t yarn_export_main_dump(const struct yarn_profile *profile);
