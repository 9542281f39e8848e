/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * How much a reader may make of a dump: so much in any case, and so much more for each byte of the
 * file that it has come past. A few bytes can ask for gigabytes (constant columns, frames of zstd,
 * texts that are named again and again); what is kept of a file is bounded by its size, and so is
 * the time that it takes. No recorder comes near: see README.md. Knows numbers only.
 *
 * Threads: one owner at a time.
 */
#pragma once

#include "core/base/base.h"

enum yarn_dump_purse {
    YARN_DUMP_PURSE_UNPACKED, /* bytes of payloads, and of texts each time that they are named */
    YARN_DUMP_PURSE_DECODED,  /* things in batches */
    YARN_DUMP_PURSE_KEPT,     /* bytes that all but stacks and samples takes in memory */
    YARN_DUMP_PURSE_STACKS,
    YARN_DUMP_PURSE_SAMPLES,
    YARN_DUMP_PURSE_FRAMES, /* of the stacks of all samples */
    YARN_DUMP_PURSE_WEIGHT, /* of all samples of all events */
    YARN_DUMP_PURSE_COUNT,
};

/* What a thing is taken to cost in memory, with all that views make of it. */
enum {
    YARN_DUMP_COST_TEXT = 48, /* and twice its size */
    YARN_DUMP_COST_SYMBOL = 256,
    YARN_DUMP_COST_FRAME = 128,
    YARN_DUMP_COST_RECORD = 256,
    YARN_DUMP_COST_ROW = 96, /* of a list */
    YARN_DUMP_COST_THREAD = 128,
    YARN_DUMP_COST_CHANGE = 64, /* of a thread: its name, its end */
    YARN_DUMP_COST_EVENT = 1024,
    YARN_DUMP_COST_PROCESS = 2048,
    YARN_DUMP_COST_LINE_MAX = 1024, /* of a text that is part of a line */
};

struct yarn_dump_allowance {
    uint64_t left[YARN_DUMP_PURSE_COUNT];
};

void yarn_dump_allowance_init(struct yarn_dump_allowance *allowance);
/* A whole chunk was found. */
void yarn_dump_allowance_earn(struct yarn_dump_allowance *allowance, uint64_t bytes);
/* False, and nothing is taken, where there is not so much left. */
static inline bool yarn_dump_allowance_spend(struct yarn_dump_allowance *allowance,
                                             enum yarn_dump_purse purse, uint64_t amount)
{
    if (amount > allowance->left[purse])
        return false;
    allowance->left[purse] -= amount;
    return true;
}
