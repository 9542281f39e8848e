/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * How far a profile can be believed: what is missing from it and what it cost. Samples and the ends
 * of their stacks are counted from what the dump holds; the rest is the recorder's own account.
 * Threads: one owner at a time.
 */
#pragma once

#include "output/dump/types.h"

struct yarn_trust {
#define YARN_TOTAL(number, NAME, name, prose) uint64_t name;
#include "output/dump/format.def"
    uint64_t stack_ends[YARN_DUMP_STACK_END_COUNT]; /* counted */
    uint64_t stacks_unasked;      /* of stacks_none: of events that asked for none */
    uint64_t leaves_unknown;      /* samples in a function without a name and without a start */
    uint64_t leaves_unknown_only; /* of these: whose stack is whole but for that */
    uint64_t leaves_named_late;   /* samples whose function had no name when they were taken */
    uint64_t leaves_without_name; /* and whose name was asked for in vain later */
    uint64_t nr_unnamed;          /* frames whose name nobody has asked for yet */
    uint64_t lost_records;        /* sum over the LOST records */
    struct yarn_dump_totals stored;
    bool has_stored;
    bool clean_end;
    bool disagrees; /* what was counted is not what the recorder stored */
};

/* Turns what was gathered while reading into the report. `has_end`: the dump is whole. */
void yarn_trust_finish(struct yarn_trust *trust, bool has_end);

/* A tree of processes is trusted as a whole; the end is clean where every one is. */
void yarn_trust_add(struct yarn_trust *sum, const struct yarn_trust *more);

/* Lost samples, cut and failed stacks, samples in unknown functions, in percent of the samples. */
double yarn_trust_doubt_percent(const struct yarn_trust *trust);

/* What a reader should know, in percent; 0 where it is too little to matter. */
struct yarn_trust_gaps {
    double lost;                                    /* of all samples, with the lost ones */
    double unsampled, kernel;                       /* of the CPU time */
    double truncated, no_unwind_info, failed, none; /* of the samples that were to have a stack */
    double unknown;                                 /* of the samples */
};

struct yarn_trust_gaps yarn_trust_gaps(const struct yarn_trust *trust);
