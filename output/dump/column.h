/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A column: many 64-bit values as bytes, in the smallest of eight encodings, or as a model of the
 * column expects them. The first byte says which. Knows numbers only.
 *
 * Threads, signals: pure functions but for the model, which is its owner's; safe anywhere.
 */
#pragma once

#include "core/base/bytes.h"
#include "output/dump/column_model.h"

enum yarn_column_encoding {
    YARN_COLUMN_CONSTANT,   /* the one value, as a varint */
    YARN_COLUMN_PLAIN,      /* each as a varint */
    YARN_COLUMN_DELTA,      /* each as the zigzag difference from the one before; before: 0 */
    YARN_COLUMN_RUNS,       /* (how often, value) as varints, until there are enough */
    YARN_COLUMN_DELTA_RUNS, /* (how often, difference): RUNS of what DELTA has */
    YARN_COLUMN_PACKED,     /* lowest value, one byte of width in bits, each value - lowest in so
                               many bits, the first in the lowest bits of the first byte */
    YARN_COLUMN_RECENT,     /* each as the zigzag of next - value, where next begins as 0 and is 1 +
                               the highest value so far: short for numbers that are new or near */
    YARN_COLUMN_MOSTLY,     /* the usual value and the number of others, as varints; then of each
                               other how many usual ones stand before it, and it itself */
    YARN_COLUMN_MODELLED,   /* a size; so many bytes of a number encoder, by the column's model */
    YARN_COLUMN_MODELLED_DELTA,  /* the same, of what DELTA has; before: the model's */
    YARN_COLUMN_MODELLED_RECENT, /* the same, of what RECENT has; next: the model's */
    YARN_COLUMN_ENCODING_COUNT,
};

/* No values: no bytes. */
void yarn_column_encode(struct yarn_bytes *bytes, const uint64_t *values, size_t count);

/* In this encoding, which is one of a model, or as a constant. */
void yarn_column_encode_modelled(struct yarn_bytes *bytes, struct yarn_column_model *model,
                                 enum yarn_column_encoding encoding, const uint64_t *values,
                                 size_t count);

/* Fails the cursor where the column is malformed, or needs a model and there is none (NULL);
 * *ret_values is unspecified then. */
void yarn_column_decode(struct yarn_cursor *cursor, struct yarn_column_model *model,
                        uint64_t *ret_values, size_t count);

static inline uint64_t yarn_zigzag_of(uint64_t value)
{
    return (value << 1) ^ (uint64_t)((int64_t)value >> 63);
}

static inline uint64_t yarn_zigzag_to(uint64_t zigzag)
{
    return (zigzag >> 1) ^ (UINT64_C(0) - (zigzag & 1));
}
