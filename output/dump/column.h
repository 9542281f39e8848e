/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The things of a batch as columns, after the table that format.def makes: one way to write and one
 * to read all of them. A column is its numbers as varints, byte by byte: the first bytes of all,
 * then the second bytes of those that have one, and so on. What the numbers are, its encoding says.
 *
 * Threads, signals: pure functions; safe anywhere.
 */
#pragma once

#include "output/dump/fields.h"

/* `rows`: of struct yarn_dump_<row> of the batch. `scratch`: room for as many numbers. */
void yarn_dump_columns_encode(struct yarn_bytes *bytes, enum yarn_dump_record batch,
                              const void *rows, size_t count, uint64_t base_ns, uint64_t *scratch);

struct yarn_dump_column_scratch {
    uint64_t *numbers;
    uint32_t *longer; /* those whose varint goes on */
};

/* Fails the cursor where a column is malformed or a number does not fit; *ret_rows is unspecified
 * then. Leaves it behind the last column that is known. The scratch has room for `count`. */
void yarn_dump_columns_decode(struct yarn_cursor *cursor, enum yarn_dump_record batch,
                              void *ret_rows, size_t count, uint64_t base_ns,
                              const struct yarn_dump_column_scratch *scratch);
