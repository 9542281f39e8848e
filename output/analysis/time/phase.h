/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Whether a process is in phase with the clock that samples it. Two clocks of different period that
 * take turns (`alternate_of` in output/dump/FORMAT.md) see a function with the same share, unless
 * the process repeats itself in the period of one of them.
 *
 * Each turn is compared with the next, since what a program does changes with time: where a
 * function has x of the weight n of one and y of the weight m of the other, the difference of the
 * shares is the sum of (x m - y n) / (n + m) over that of n m / (n + m), as Mantel and Haenszel
 * have it for many tables of two lines. Its variance is taken from the turns themselves, between
 * batches of neighbours: neither are the samples of a thread independent of each other, nor are
 * turns of a program that changes its work as often as clocks take turns. So it is Student's t,
 * with a degree of freedom less than there are batches.
 *
 * Knows samples by a number of the caller's (of their function); not what a dump or profile is.
 * Threads: one owner at a time.
 */
#pragma once

#include "output/analysis/value/number_map.h"

/* After that many batches two neighbours become one. With fewer than half there is no verdict. */
enum { YARN_PHASE_BATCHES = 32 };

struct yarn_clock_phase_row {
    uint32_t number, example;
    double of_turn[2];                /* weights in the present turn and in the one before */
    double weights[2];                /* of each clock */
    double parts[YARN_PHASE_BATCHES]; /* of the sum that is over `whole` */
};

struct yarn_clock_phase {
    struct yarn_number_map by_number;
    struct yarn_clock_phase_row *rows; /* owned array */
    size_t nr_rows, capacity;
    struct {
        uint32_t *rows; /* owned array: those with a weight in it */
        size_t count, capacity;
        double weight;
    } turns[2];                       /* the last of each clock */
    double weights[2];                /* of each clock */
    double whole[YARN_PHASE_BATCHES]; /* of each batch */
    size_t nr_compared, batch;        /* turns; and how many are one batch */
    uint64_t turn_ns;                 /* when the present one began */
    bool is_alternate, has_begun, has_former;
};

struct yarn_clock_phase_sample {
    uint64_t time_ns, weight;
    uint32_t number, example; /* the first example of a number is kept in its row */
    bool is_alternate;
};

/* Begins empty: all zero. Samples come by time; one that is late for its turn is left out. */
YARN_MUST_CHECK int yarn_clock_phase_add(struct yarn_clock_phase *phase,
                                         const struct yarn_clock_phase_sample *sample);

/* After the last sample. */
void yarn_clock_phase_end(struct yarn_clock_phase *phase);

/* What the clocks say of a row. */
struct yarn_clock_phase_verdict {
    double shares[2];
    double chance; /* that they differ so much, or more, with a program that is not in phase */
};

/* False where it cannot make a difference that matters, a point: too small a part of the whole, or
 * too few turns. A smaller difference has the chance 1. */
bool yarn_clock_phase_judge(const struct yarn_clock_phase *phase,
                            const struct yarn_clock_phase_row *row,
                            struct yarn_clock_phase_verdict *ret_verdict);

/* Of one process, among so many judgements: a thing that is as rare by chance as three standard
 * deviations even as the rarest of all (Bonferroni). */
static inline bool yarn_clock_phase_is_sure(double chance, size_t nr_judged)
{
    return chance * (double)nr_judged < 0.0027;
}

void yarn_clock_phase_clear(struct yarn_clock_phase *phase);
void yarn_clock_phase_fini(struct yarn_clock_phase *phase);
