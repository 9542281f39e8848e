/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Ranges of addresses that do not overlap, in order, each with a number: a newer range takes its
 * place from older ones, which are dropped, trimmed or split. Knows no modules.
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "core/base/base.h"

struct yarn_range {
    uint64_t start, end;
    uint32_t number;
};

struct yarn_ranges {
    struct yarn_range *items; /* owned; in order */
    size_t count, capacity, max_count;
    size_t last; /* where the last look-up ended: the next is often there too */
};

/* An all-zero value with max_count set is open and empty. */
#define YARN_RANGES_EMPTY(most) ((struct yarn_ranges){.max_count = (most)})

/* -ENOSPC or -ENOMEM leave the ranges as they were. */
YARN_MUST_CHECK int yarn_ranges_put(struct yarn_ranges *ranges, struct yarn_range range);

/* Takes [start, end) away. */
YARN_MUST_CHECK int yarn_ranges_cut(struct yarn_ranges *ranges, uint64_t start, uint64_t end);

/* The range that holds the address, valid until the next change; NULL where none does. */
const struct yarn_range *yarn_ranges_find(struct yarn_ranges *ranges, uint64_t address);

/* The position of the first range that ends behind the address; `count` where none does. */
size_t yarn_ranges_position(const struct yarn_ranges *ranges, uint64_t address);

/* Idempotent. */
void yarn_ranges_close(struct yarn_ranges *ranges);
