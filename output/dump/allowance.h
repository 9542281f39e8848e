/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Limits on what a reader may decode and keep of one file. Time is linear in the bytes that were
 * read: a few can ask for hours (constant columns, zstd frames, texts that are referred to
 * repeatedly). The reader's tables have an absolute bound of memory, whatever the file's size: a
 * recording of a compiler holds more names a byte than any ratio foresees. Recordings stay far
 * below: see NOTES.md. Where something exceeds a limit, reading ends with -ENOBUFS: a part is never
 * shown as if it were all, nor called damage. Knows numbers only.
 *
 * Threads: one owner at a time.
 */
#pragma once

#include "core/base/base.h"

enum yarn_dump_budget {
    YARN_DUMP_BUDGET_UNPACKED, /* bytes of payloads, and of texts each time that they are named */
    YARN_DUMP_BUDGET_DECODED,  /* rows of batches */
    YARN_DUMP_BUDGET_SAMPLES,
    YARN_DUMP_BUDGET_FRAMES, /* of the stacks of all samples */
    YARN_DUMP_BUDGET_KEPT,   /* bytes of the tables of an epoch */
    YARN_DUMP_BUDGET_WEIGHT, /* of all samples of all events: more is damage */
    YARN_DUMP_BUDGET_COUNT,
};

/* Estimated cost in memory. */
enum {
    YARN_DUMP_COST_TEXT = 48, /* beside its bytes */
    YARN_DUMP_COST_SYMBOL = 128,
    YARN_DUMP_COST_FRAME = 64,
    YARN_DUMP_COST_STACK = 16,
    YARN_DUMP_COST_RECORD = 256, /* beside its texts */
};

struct yarn_dump_allowance {
    uint64_t left[YARN_DUMP_BUDGET_COUNT];
    int error; /* -ENOBUFS, once something did not fit; -ENOMEM, where there is no more */
};

/* Before the file. */
void yarn_dump_allowance_init(struct yarn_dump_allowance *allowance);
/* A whole chunk was found. */
void yarn_dump_allowance_earn(struct yarn_dump_allowance *allowance, uint64_t bytes);
/* The reader has dropped what it kept of an epoch. */
void yarn_dump_allowance_reset_kept(struct yarn_dump_allowance *allowance);
/* False and nothing charged where less is left. */
bool yarn_dump_allowance_has(struct yarn_dump_allowance *allowance, enum yarn_dump_budget budget,
                             uint64_t amount);
/* The same, and the error is set. */
bool yarn_dump_allowance_spend(struct yarn_dump_allowance *allowance, enum yarn_dump_budget budget,
                               uint64_t amount);
