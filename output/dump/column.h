/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The rows of a batch as columns, by the table from format.def: one function to write and one
 * to read all of them. A column is its numbers as varints, byte by byte: the first bytes of all,
 * then the second bytes of those that have one, and so on; its encoding says what the numbers are.
 *
 * Threads, signals: pure functions; safe anywhere.
 */
#pragma once

#include "output/dump/fields.h"

/* `rows`: of struct yarn_dump_<row> of the batch. `scratch`: room for as many numbers. */
void yarn_dump_columns_encode(struct yarn_byte_buffer *bytes, enum yarn_dump_record batch,
                              const void *rows, size_t count, uint64_t base_ns, uint64_t *scratch);

struct yarn_dump_column_scratch {
    uint64_t *numbers;
    uint32_t *longer; /* those whose varint has more bytes */
};

/* Fails the cursor where a column is malformed or a number does not fit; *ret_rows is unspecified
 * then. Leaves it after the last known column. The scratch has room for `count`. */
void yarn_dump_columns_decode(struct yarn_cursor *cursor, enum yarn_dump_record batch,
                              void *ret_rows, size_t count, uint64_t base_ns,
                              const struct yarn_dump_column_scratch *scratch);
