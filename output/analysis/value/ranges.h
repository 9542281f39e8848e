/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Ranges of addresses and what lies in each, found again by an address. They may overlap, as those
 * of broken or merged code do: then the one that starts last, among equals the one that was added
 * first, has the address. Threads: one owner at a time.
 */
#pragma once

#include "core/base/base.h"

#define YARN_RANGES_NONE UINT32_MAX

struct yarn_range {
    uint64_t start; /* first: the ranges are searched by it */
    uint64_t end;
    uint64_t reach; /* the greatest end up to here, once sorted */
    uint32_t what;  /* the owner's number */
};

struct yarn_ranges {
    struct yarn_range *ranges; /* owned array */
    size_t count;
    size_t capacity;
};

/* An empty range and one that starts at 0, where no code ever is (linkers leave discarded
 * sections there), are skipped. */
YARN_MUST_CHECK int yarn_ranges_add(struct yarn_ranges *ranges, uint64_t start, uint64_t end,
                                    uint32_t what);
/* Call after additions, before the next search. */
void yarn_ranges_sort(struct yarn_ranges *ranges);
/* YARN_RANGES_NONE where no range has the address. */
uint32_t yarn_ranges_find(const struct yarn_ranges *ranges, uint64_t address);
void yarn_ranges_fini(struct yarn_ranges *ranges);
