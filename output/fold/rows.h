/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The flat view: one row for each event and function (or module, thread, …) with what it spent
 * itself and what was spent below it. A function that is several times on a stack (recursion)
 * counts once per sample. Threads: one owner at a time.
 */
#pragma once

#include "output/fold/by.h"
#include "output/fold/choice.h"

struct yarn_row {
    uint32_t event;
    uint32_t
        key; /* number of the function, place, module, thread, dump, cpu, event or text (by.h) */
    uint64_t self; /* in the event's unit */
    uint64_t total;
    uint64_t samples;       /* that make up `self` */
    uint64_t total_samples; /* that make up `total` */
    uint64_t latency;       /* by address: the sum over total_samples; 0: not known */
};

struct yarn_rows {
    enum yarn_by by;
    struct yarn_row *rows; /* owned array; by event, then self descending, then name */
    size_t count;
    size_t capacity;
};

/* For YARN_BY_CPU the profile must have been loaded by cpu, for YARN_BY_LINE with lines, for
 * YARN_BY_ADDRESS and YARN_BY_FIELD by that, and with threads where the key needs them. */
YARN_MUST_CHECK int yarn_rows_build(const struct yarn_choice *choice, enum yarn_by by,
                                    struct yarn_rows *ret_rows);
/* Another order within an event: by total, or by self and, where that is equal, by total. */
void yarn_rows_sort_by_total(const struct yarn_profile *profile, struct yarn_rows *rows);
void yarn_rows_sort_by_self_and_total(const struct yarn_profile *profile, struct yarn_rows *rows);
void yarn_rows_fini(struct yarn_rows *rows);
