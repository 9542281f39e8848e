/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The samples of an export that pass its filter: one by one or summed up, as the format asked.
 * Threads: one owner at a time.
 */
#pragma once

#include "output/analysis/time/kernel_time.h"
#include "output/export/export.h"
#include "output/fold/fold.h"

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

/* What passes of each event of the profile; owned by the caller, freed by free(). NULL: no memory.
 */
YARN_MUST_CHECK struct yarn_sum *yarn_export_totals(const struct yarn_export *export);

/* CPU time in the kernel that was not sampled, a row each thread as far as it is known: [kernel] in
 * what is written. Empty where the clock's event is not written, or a part only: which part it
 * would be in is not known. *ret_list is the caller's to free. */
YARN_MUST_CHECK int yarn_export_kernel(const struct yarn_export *export,
                                       struct yarn_kernel_time **ret_list, size_t *ret_count);

/* Beside the pseudo-functions: [kernel], which no stack has. */
enum { YARN_EXPORT_KERNEL_ROOT = YARN_FUNCTION_PSEUDO_COUNT };

/* The kernel's time as a sample of weight without count, time, stack and cpu; its thread may be
 * YARN_DUMP_NONE. */
struct yarn_export_sample yarn_export_kernel_sample(const struct yarn_profile *profile,
                                                    const struct yarn_kernel_time *time);

/* The number of the one that stands for all; YARN_DUMP_NONE: there is none. */
uint32_t yarn_export_main_dump(const struct yarn_profile *profile);
