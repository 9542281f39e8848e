/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Rows of equal size that come in any order and are taken in theirs. All of them in memory, or at
 * most so many: then what does not fit lies, in order, in a file without a name, and is merged when
 * it is taken. Time is n log n at most, whatever comes. Threads: one owner at a time.
 */
#pragma once

#include "output/base/array.h"

struct yarn_sorter_order {
    size_t row_bytes; /* at most 64 */
    yarn_array_before_fn *before;
};

struct yarn_spill;
struct yarn_sorter_runs;

/* Begins all zero but for the order, `most` and `file`, which is opened when it is needed. */
struct yarn_sorter {
    const struct yarn_sorter_order *order; /* borrowed */
    size_t most;                           /* rows in memory; 0: all are */
    struct yarn_spill *file;               /* borrowed, of several sorters; NULL: one of its own */
    void *list;                            /* owned array, or mapped */
    size_t count, capacity;                /* of it */
    size_t mapped_bytes;                   /* of it; 0: it is an array */
    struct yarn_sorter_runs *runs;         /* owned; NULL while nothing had to leave memory */
    size_t at;                             /* of yarn_sorter_next */
    uint64_t nr_added;
};

/* A good `most`: some 10 MB, and as much again while they are sorted. */
enum { YARN_SORTER_MOST = 256 << 10 };

/* Where `most` is reached: also a negative errno of the file that they go into. */
YARN_MUST_CHECK int yarn_sorter_add(struct yarn_sorter *sorter, const void *row);
/* After the last is added. Equal rows keep their order. */
YARN_MUST_CHECK int yarn_sorter_sort(struct yarn_sorter *sorter);
/* In order, once sorted: 1, 0 at the end, or a negative errno. */
YARN_MUST_CHECK int yarn_sorter_next(struct yarn_sorter *sorter, void *ret_row);
/* Once sorted: all `nr_added` of them are `list`, in memory or mapped from a file, for who goes
 * over them more than once. Nothing more can be added or taken; what was borrowed is no more
 * needed. */
YARN_MUST_CHECK int yarn_sorter_gather(struct yarn_sorter *sorter);
/* Of those that were gathered so many were read in order: now and then, what was read goes from
 * memory; the file still has it. */
void yarn_sorter_drop(const struct yarn_sorter *sorter, size_t read);
/* Idempotent. */
void yarn_sorter_fini(struct yarn_sorter *sorter);
