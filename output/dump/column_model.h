/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What writer and reader have learned of a column from its values so far, in the same series of
 * chunks: how many bits the next one may have, and how the highest of these are. Both learn the
 * same from the same values. FORMAT.md says how. Knows numbers only.
 *
 * Threads, signals: one owner at a time; safe anywhere.
 */
#pragma once

#include "core/base/base.h"

enum {
    YARN_MODEL_SHORT = 2,  /* bits of the first length that is told: shorter are only 0 and 1 */
    YARN_MODEL_LONG = 18,  /* bits, from which on the length is told in 6 bits, not 4 */
    YARN_MODEL_TOP = 2,    /* bits behind the highest that are learned */
    YARN_MODEL_PIECE = 16, /* bits that are not, at a time */
};

/* How likely it is that a bit is 0, in 1/65536: the mean of a quick learner and a slow one. */
struct yarn_model_bit {
    uint16_t quick, slow;
};

struct yarn_column_model {
    bool is_used;
    uint64_t before; /* the last value */
    uint64_t next;   /* 1 + the highest value */
    struct yarn_model_bit is_more, one, is_long;
    struct yarn_model_bit short_lengths[16], long_lengths[64]; /* trees: the root is [1] */
    struct yarn_model_bit tops[65][1 << YARN_MODEL_TOP];       /* trees, by length */
};

/* As if nothing was learned. */
static inline void yarn_column_model_reset(struct yarn_column_model *model)
{
    const struct yarn_model_bit even = {0x8000, 0x8000};
    model->is_used = false;
    model->before = 0;
    model->next = 0;
    model->is_more = even;
    model->one = even;
    model->is_long = even;
    for (size_t i = 0; i < YARN_COUNT_OF(model->short_lengths); i++)
        model->short_lengths[i] = even;
    for (size_t i = 0; i < YARN_COUNT_OF(model->long_lengths); i++)
        model->long_lengths[i] = even;
    for (size_t i = 0; i < YARN_COUNT_OF(model->tops); i++) {
        for (size_t k = 0; k < YARN_COUNT_OF(model->tops[i]); k++)
            model->tops[i][k] = even;
    }
}

/* From 39 to 65,497, whatever was learned. */
static inline uint32_t yarn_model_bit_chance(const struct yarn_model_bit *bit)
{
    return ((uint32_t)bit->quick + bit->slow) >> 1;
}

/* A 1 takes a sixteenth off the one and a 64th off the other, rounded down; a 0 brings them so much
 * nearer to 65,536. Without a branch, which nobody could predict. */
static inline void yarn_model_bit_learn(struct yarn_model_bit *bit, bool value)
{
    int32_t quick = bit->quick, slow = bit->slow;
    bit->quick = (uint16_t)(quick + (((value ? 15 : 0x10000) - quick) >> 4));
    bit->slow = (uint16_t)(slow + (((value ? 63 : 0x10000) - slow) >> 6));
}

/* The numbers that are told as differences are told from here. */
static inline void yarn_column_model_follow(struct yarn_column_model *model, uint64_t value)
{
    model->before = value;
    if (model->next < value + 1)
        model->next = value + 1;
}
