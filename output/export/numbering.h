/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * New numbers for things, from 0 in the order in which they come up, for formats that number only
 * what they use. Threads: one owner at a time.
 */
#pragma once

#include "core/base/base.h"

struct yarn_numbering {
    uint32_t *numbers; /* owned; of each thing: 1 + its new number, 0: it has none */
    uint32_t *things;  /* owned array, by new number */
    size_t count;
    size_t capacity;
};

/* For things 0 … limit - 1. */
YARN_MUST_CHECK int yarn_numbering_init(struct yarn_numbering *numbering, size_t limit);
/* Idempotent. */
void yarn_numbering_fini(struct yarn_numbering *numbering);
/* Clears all, in time of what was numbered. */
void yarn_numbering_clear(struct yarn_numbering *numbering);

/* Finds or gives it. */
YARN_MUST_CHECK int yarn_numbering_of(struct yarn_numbering *numbering, uint32_t thing,
                                      uint32_t *ret_number);

static inline bool yarn_numbering_has(const struct yarn_numbering *numbering, uint32_t thing)
{
    return numbering->numbers[thing] != 0;
}
