/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/time/phase.h"

#include <math.h>
#include <stdlib.h>

#include "output/base/array.h"

#define LEAST_DIFFERENCE 0.01 /* a smaller one changes no conclusion */

/* Why not one: neighbours share a turn, which makes the variance of single ones too small. */
enum { LEAST_BATCH = 2 };

/* ---- turns ---- */

static void merge_neighbours(double batches[YARN_PHASE_BATCHES])
{
    for (size_t i = 0; i < YARN_PHASE_BATCHES; i++)
        batches[i] = i < YARN_PHASE_BATCHES / 2 ? batches[2 * i] + batches[2 * i + 1] : 0;
}

static void widen(struct yarn_clock_phase *phase)
{
    merge_neighbours(phase->whole);
    for (size_t i = 0; i < phase->nr_rows; i++)
        merge_neighbours(phase->rows[i].parts);
    phase->batch *= 2;
}

/* The second clock's share is above the first one's where it is positive. */
static void compare_row(struct yarn_clock_phase *phase, struct yarn_clock_phase_row *row,
                        size_t batch)
{
    double first = phase->turns[0].weight, second = phase->turns[1].weight;
    row->parts[batch] += (row->of_turn[1] * first - row->of_turn[0] * second) / (first + second);
}

static void compare_turns(struct yarn_clock_phase *phase)
{
    if (!phase->batch)
        phase->batch = LEAST_BATCH;
    if (phase->nr_compared == YARN_PHASE_BATCHES * phase->batch)
        widen(phase);
    size_t batch = phase->nr_compared++ / phase->batch;
    double first = phase->turns[0].weight, second = phase->turns[1].weight;
    phase->whole[batch] += first * second / (first + second);
    for (size_t i = 0; i < phase->turns[0].count; i++)
        compare_row(phase, &phase->rows[phase->turns[0].rows[i]], batch);
    for (size_t i = 0; i < phase->turns[1].count; i++) {
        struct yarn_clock_phase_row *row = &phase->rows[phase->turns[1].rows[i]];
        if (row->of_turn[0] <= 0) /* else it was among the others */
            compare_row(phase, row, batch);
    }
}

static void clear_turn(struct yarn_clock_phase *phase, bool is_alternate)
{
    for (size_t i = 0; i < phase->turns[is_alternate].count; i++)
        phase->rows[phase->turns[is_alternate].rows[i]].of_turn[is_alternate] = 0;
    phase->turns[is_alternate].count = 0;
    phase->turns[is_alternate].weight = 0;
}

static void end_turn(struct yarn_clock_phase *phase)
{
    if (phase->turns[0].weight > 0 && phase->turns[1].weight > 0)
        compare_turns(phase);
    clear_turn(phase, !phase->is_alternate);
}

void yarn_clock_phase_end(struct yarn_clock_phase *phase)
{
    end_turn(phase);
    clear_turn(phase, phase->is_alternate);
}

/* ---- samples ---- */

static int row_of(struct yarn_clock_phase *phase, const struct yarn_clock_phase_sample *sample,
                  uint32_t *ret_row)
{
    *ret_row = yarn_number_map_find(&phase->by_number, sample->number);
    if (*ret_row != YARN_NUMBER_NONE)
        return 0;
    const struct yarn_clock_phase_row row = {.number = sample->number, .example = sample->example};
    *ret_row = (uint32_t)phase->nr_rows;
    int err = yarn_number_map_put(&phase->by_number, sample->number, *ret_row);
    return err ? err : YARN_ARRAY_PUT(&phase->rows, &phase->nr_rows, &phase->capacity, &row);
}

/* What there was before the second clock's first turn has nothing to be compared with, and is more
 * than a turn: the start of the program. */
static bool is_in_turn(struct yarn_clock_phase *phase, const struct yarn_clock_phase_sample *sample)
{
    if (!phase->has_begun && !sample->is_alternate)
        return false;
    if (phase->has_begun && sample->time_ns < phase->turn_ns)
        return false;
    if (phase->has_begun && sample->is_alternate == phase->is_alternate)
        return true;
    if (phase->has_begun)
        end_turn(phase);
    phase->has_begun = true;
    phase->is_alternate = sample->is_alternate;
    phase->turn_ns = sample->time_ns;
    return true;
}

int yarn_clock_phase_add(struct yarn_clock_phase *phase,
                         const struct yarn_clock_phase_sample *sample)
{
    uint32_t at;
    if (!sample->weight || !is_in_turn(phase, sample))
        return 0;
    int err = row_of(phase, sample, &at);
    if (err)
        return err;
    bool side = sample->is_alternate;
    struct yarn_clock_phase_row *row = &phase->rows[at];
    double weight = (double)sample->weight;
    if (row->of_turn[side] <= 0)
        err = YARN_ARRAY_PUT(&phase->turns[side].rows, &phase->turns[side].count,
                             &phase->turns[side].capacity, &at);
    row->of_turn[side] += weight;
    row->weights[side] += weight;
    phase->turns[side].weight += weight;
    phase->weights[side] += weight;
    return err;
}

/* ---- the verdict ---- */

/* Of so large a t or a larger one, of either sign: the normal deviate that is as rare, by Wallace's
 * formula, right to a few per cent of the chance from three degrees on. */
static double chance_of(double t, double freedom)
{
    double deviate = (8 * freedom + 1) / (8 * freedom + 3) * sqrt(freedom * log1p(t * t / freedom));
    return erfc(deviate / sqrt(2));
}

static size_t batches_of(const struct yarn_clock_phase *phase)
{
    return phase->batch ? (phase->nr_compared + phase->batch - 1) / phase->batch : 0;
}

/* How far batches are off what they would have with that difference. */
static double squares_of(const struct yarn_clock_phase *phase,
                         const struct yarn_clock_phase_row *row, double difference)
{
    double squares = 0;
    for (size_t i = 0; i < batches_of(phase); i++) {
        double off = row->parts[i] - difference * phase->whole[i];
        squares += off * off;
    }
    return squares;
}

bool yarn_clock_phase_judge(const struct yarn_clock_phase *phase,
                            const struct yarn_clock_phase_row *row,
                            struct yarn_clock_phase_verdict *ret_verdict)
{
    double count = (double)batches_of(phase), batch = (double)phase->batch, sum = 0, whole = 0;
    double all = phase->weights[0] + phase->weights[1];
    if (count < YARN_PHASE_BATCHES / 2 ||
        row->weights[0] + row->weights[1] < all * LEAST_DIFFERENCE / 2)
        return false;
    for (size_t i = 0; i < YARN_PHASE_BATCHES; i++) {
        sum += row->parts[i];
        whole += phase->whole[i];
    }
    for (size_t i = 0; i < 2; i++)
        ret_verdict->shares[i] = row->weights[i] / phase->weights[i];
    ret_verdict->chance = 1;
    if (fabs(sum) < whole * LEAST_DIFFERENCE)
        return true;
    /* Why more: of two neighbouring batches one turn is in both. */
    double shared = 2 * batch / (2 * batch - 1);
    double variance = squares_of(phase, row, sum / whole) * shared * count / (count - 1);
    ret_verdict->chance = variance > 0 ? chance_of(sum / sqrt(variance), count - 1) : 0;
    return true;
}

void yarn_clock_phase_clear(struct yarn_clock_phase *phase)
{
    struct yarn_clock_phase empty = {
        .by_number = phase->by_number,
        .rows = phase->rows,
        .capacity = phase->capacity,
    };
    yarn_number_map_clear(&empty.by_number);
    for (size_t i = 0; i < 2; i++) {
        empty.turns[i].rows = phase->turns[i].rows;
        empty.turns[i].capacity = phase->turns[i].capacity;
    }
    *phase = empty;
}

void yarn_clock_phase_fini(struct yarn_clock_phase *phase)
{
    yarn_number_map_fini(&phase->by_number);
    free(phase->rows);
    for (size_t i = 0; i < 2; i++)
        free(phase->turns[i].rows);
    *phase = (struct yarn_clock_phase){0};
}
