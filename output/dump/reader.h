/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Reads a dump front to back and hands each record to a visitor. Trusts nothing: every length and
 * number is checked before it is used; after damage it looks for the next whole chunk, says what
 * was skipped, and goes on. Memory is bounded by one chunk and the interning tables' own sizes
 * (allowance.h); of what a visitor keeps it knows nothing.
 * A program may use it freely (malloc); it never runs in a host.
 *
 * Record spans are valid for the length of the visit only; texts end with a NUL that they do not
 * count, and are valid until the next reset. References are resolved by the caller,
 * but the reader guarantees that they name records that came before, in the same epoch (modules and
 * events: in the same process). Where that record was lost with a damaged chunk, this is counted in
 * records_bad, and: a text is empty; a symbol's module and a sample's stack become YARN_DUMP_NONE
 * (its stack_end YARN_DUMP_STACK_FAILED); an event is made up, with its number only; a frame or
 * stack is not handed on. Numbers may have gaps; none is given twice, save for events and modules,
 * of which the last counts. Samples are in time order within one visit.
 *
 * A merged dump has many processes: each begins with reset (not the first) and process; where that
 * record was lost the process has pid 0.
 */
#pragma once

#include "output/dump/chunk_reader.h"
#include "output/dump/record_reader.h"

/* -ENOEXEC: it is no dump, or of a later major version (see *ret_summary); -ENOBUFS: it
 * asks for more than any recording (allowance.h); another negative errno: it could not be read.
 * Damage is no error: see *ret_summary, which is always filled. */
YARN_MUST_CHECK int yarn_dump_read_file(const char *path, const struct yarn_dump_visitor *visitor,
                                        void *self, struct yarn_dump_summary *ret_summary);
YARN_MUST_CHECK int yarn_dump_read_bytes(struct yarn_span bytes,
                                         const struct yarn_dump_visitor *visitor, void *self,
                                         struct yarn_dump_summary *ret_summary);

/* The same at the caller's pace: a step is a record, and its visits. Stays where it is in memory.
 */
struct yarn_dump_reader {
    struct yarn_dump_source source;
    struct yarn_dump_allowance allowance;
    struct yarn_dump_chunk_reader chunks;
    struct yarn_dump_record_reader records;
    uint16_t process, epoch; /* of the last chunk */
};

/* All is borrowed. *summary grows with each step. */
YARN_MUST_CHECK int yarn_dump_reader_open(struct yarn_dump_reader *reader, const char *path,
                                          const struct yarn_dump_visitor *visitor, void *self,
                                          struct yarn_dump_summary *summary);
/* The result is what the visitor returned, or a negative errno: then there is no further step. */
YARN_MUST_CHECK int yarn_dump_reader_next(struct yarn_dump_reader *reader, bool *ret_is_end);
void yarn_dump_reader_close(struct yarn_dump_reader *reader);
