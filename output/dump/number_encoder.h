/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Numbers as bits of a range coder, each as short as its model finds it likely. Knows models; does
 * not know columns. Threads: one owner at a time. Signals: safe anywhere.
 */
#pragma once

#include "core/base/bytes.h"
#include "output/dump/column_model.h"

struct yarn_number_encoder {
    struct yarn_bytes *bytes; /* borrowed */
    size_t from;              /* where in them it began */
    uint64_t low;             /* 32 bits and a carry */
    uint32_t range;
    uint8_t last; /* byte that a carry can still change, with the 0xff behind it */
    bool has_last;
    size_t nr_full; /* of those 0xff */
};

struct yarn_number_encoder yarn_number_encoder_begin(struct yarn_bytes *bytes);
void yarn_number_encoder_put(struct yarn_number_encoder *encoder, struct yarn_column_model *model,
                             uint64_t number);
/* Zeros at the end are left out: they are what a decoder finds behind it. */
void yarn_number_encoder_end(struct yarn_number_encoder *encoder);
