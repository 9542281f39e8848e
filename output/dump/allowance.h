/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * How much a reader may make of dumps: so much in any case, and so much more for each byte of their
 * files that it has come past. A few bytes can ask for gigabytes (constant columns, frames of zstd,
 * texts that are named again and again); what is kept of a file is bounded by its size, and so is
 * the time that it takes. No recorder comes near: see README.md. Knows numbers only.
 *
 * Of many files each has an equal part of what is free in any case, and what the ones before left
 * of theirs: what one asks for is never taken from those behind it.
 *
 * Threads: one owner at a time.
 */
#pragma once

#include "core/base/base.h"

enum yarn_dump_budget {
    YARN_DUMP_BUDGET_UNPACKED, /* bytes of payloads, and of texts each time that they are named */
    YARN_DUMP_BUDGET_DECODED,  /* things in batches */
    YARN_DUMP_BUDGET_KEPT,     /* bytes of memory */
    YARN_DUMP_BUDGET_SAMPLES,
    YARN_DUMP_BUDGET_FRAMES, /* of the stacks of all samples */
    YARN_DUMP_BUDGET_WEIGHT, /* of all samples of all events */
    YARN_DUMP_BUDGET_COUNT,
};

/* What a thing is taken to cost in memory, with all that views make of it. */
enum {
    YARN_DUMP_COST_TEXT = 48, /* and twice its size */
    YARN_DUMP_COST_SYMBOL = 256,
    YARN_DUMP_COST_FRAME = 128,
    YARN_DUMP_COST_RECORD = 256,
    YARN_DUMP_COST_ROW = 96, /* of a list */
    YARN_DUMP_COST_THREAD = 144,
    YARN_DUMP_COST_CHANGE = 64, /* of a thread: its name, its end */
    YARN_DUMP_COST_EVENT = 1024,
    YARN_DUMP_COST_PROCESS = 2048,
    YARN_DUMP_COST_LINE_MAX = 1024, /* of a text that is part of a line */
    YARN_DUMP_COST_STACK = 8, /* as the dump numbers it; what a view keeps of it comes on top */
};

struct yarn_dump_allowance {
    uint64_t left[YARN_DUMP_BUDGET_COUNT];   /* of the file that is being read */
    uint64_t shared[YARN_DUMP_BUDGET_COUNT]; /* of those behind it */
    uint32_t reserved_a_byte; /* of memory a byte of the files: others take it, it is not spent */
    bool is_short;            /* something was left out that the reader does not know of yet */
};

/* Before the first file. */
void yarn_dump_allowance_init(struct yarn_dump_allowance *allowance);
/* A file begins, the first of so many (at least one) that are still to be read. */
void yarn_dump_allowance_begin(struct yarn_dump_allowance *allowance, size_t nr_files);
/* A whole chunk was found. */
void yarn_dump_allowance_earn(struct yarn_dump_allowance *allowance, uint64_t bytes);
/* False, and nothing is taken, where there is not so much left. */
static inline bool yarn_dump_allowance_spend(struct yarn_dump_allowance *allowance,
                                             enum yarn_dump_budget budget, uint64_t amount)
{
    if (amount > allowance->left[budget])
        return false;
    allowance->left[budget] -= amount;
    return true;
}
