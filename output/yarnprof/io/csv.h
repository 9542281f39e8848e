/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Comma separated values after RFC 4180 (lines end with a plain newline). Texts become legible.
 * Threads: one.
 */
#pragma once

#include <stdio.h>

#include "core/base/base.h"

struct yarn_csv {
    FILE *file;
    bool is_begun; /* a field of the line is out */
};

void yarn_csv_text(struct yarn_csv *csv, const char *text);
void yarn_csv_u64(struct yarn_csv *csv, uint64_t value);
void yarn_csv_i64(struct yarn_csv *csv, int64_t value);
void yarn_csv_real(struct yarn_csv *csv, double value);
void yarn_csv_end_line(struct yarn_csv *csv);
