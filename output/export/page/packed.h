/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Numbers for a script, small: varints (7 bits a byte, the lowest first), written as base64 as they
 * come. Its decoder is data.js. Threads: one owner at a time.
 */
#pragma once

#include <stdio.h>

#include "core/base/base.h"

struct yarn_packed {
    FILE *file;       /* borrowed */
    uint8_t three[3]; /* not written yet */
    unsigned nr_three;
};

void yarn_packed_number(struct yarn_packed *packed, uint64_t value);
void yarn_packed_signed(struct yarn_packed *packed, int64_t value); /* zigzag */
void yarn_packed_end(struct yarn_packed *packed);
