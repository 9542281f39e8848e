/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The numbers that a number encoder was given. Any bytes are numbers: what is wrong with them is
 * found elsewhere. Knows models; does not know columns. Threads: one owner at a time.
 */
#pragma once

#include "core/base/span.h"
#include "output/dump/column_model.h"

struct yarn_number_decoder {
    struct yarn_span bytes; /* zeros are behind them */
    size_t at;
    uint32_t code, range;
};

struct yarn_number_decoder yarn_number_decoder_begin(struct yarn_span bytes);
uint64_t yarn_number_decoder_take(struct yarn_number_decoder *decoder,
                                  struct yarn_column_model *model);
