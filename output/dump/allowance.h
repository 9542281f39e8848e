/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Limits on what a reader may decode and keep: a fixed amount, and more for each byte of the files
 * that it has read. A few bytes can ask for gigabytes (constant columns, zstd frames, texts that
 * are referred to repeatedly); what is kept of a file is bounded by its size, and so is the time
 * that it takes. Recordings stay far below: see NOTES.md. Knows numbers only.
 *
 * Each of many files has an equal part of the fixed amount, and what earlier files left unused of
 * theirs: a file never takes from the ones after it.
 *
 * Threads: one owner at a time.
 */
#pragma once

#include "core/base/base.h"

enum yarn_dump_budget {
    YARN_DUMP_BUDGET_UNPACKED, /* bytes of payloads, and of texts each time that they are named */
    YARN_DUMP_BUDGET_DECODED,  /* rows of batches */
    YARN_DUMP_BUDGET_KEPT,     /* bytes of memory */
    YARN_DUMP_BUDGET_SAMPLES,
    YARN_DUMP_BUDGET_FRAMES, /* of the stacks of all samples */
    YARN_DUMP_BUDGET_WEIGHT, /* of all samples of all events */
    YARN_DUMP_BUDGET_COUNT,
};

/* Estimated cost in memory, including what views derive from it. */
enum {
    YARN_DUMP_COST_TEXT = 48, /* and twice its size */
    YARN_DUMP_COST_SYMBOL = 256,
    YARN_DUMP_COST_FRAME = 128,
    YARN_DUMP_COST_RECORD = 256,
    YARN_DUMP_COST_ROW = 56, /* of a list; a real one takes 2 bytes of the file and more */
    YARN_DUMP_COST_THREAD = 144,
    YARN_DUMP_COST_CHANGE = 64, /* of a thread: its name, its end */
    YARN_DUMP_COST_EVENT = 1024,
    YARN_DUMP_COST_PROCESS = 2048,
    YARN_DUMP_COST_LINE_MAX = 1024, /* of a text that is part of a line */
    YARN_DUMP_COST_STACK = 8,       /* of its number; what a view keeps is added */
};

struct yarn_dump_allowance {
    uint64_t left[YARN_DUMP_BUDGET_COUNT];   /* of the file that is being read */
    uint64_t shared[YARN_DUMP_BUDGET_COUNT]; /* of the files after it */
    uint32_t reserved_a_byte; /* of memory a byte of the files: others take it, it is not spent */
    bool is_short;            /* something was left out that the reader does not know of yet */
};

/* Before the first file. */
void yarn_dump_allowance_init(struct yarn_dump_allowance *allowance);
/* A file begins, the first of so many (at least one) that are still to be read. */
void yarn_dump_allowance_begin(struct yarn_dump_allowance *allowance, size_t nr_files);
/* A whole chunk was found. */
void yarn_dump_allowance_earn(struct yarn_dump_allowance *allowance, uint64_t bytes);
/* False, and nothing is charged, where less is left. */
static inline bool yarn_dump_allowance_spend(struct yarn_dump_allowance *allowance,
                                             enum yarn_dump_budget budget, uint64_t amount)
{
    if (amount > allowance->left[budget])
        return false;
    allowance->left[budget] -= amount;
    return true;
}
