/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Structured records as bytes, after the field table that format.def makes: one way to write and
 * one to read all of them. Knows kinds of fields; does not know what they mean, nor where texts
 * are kept: the caller turns texts into references (0 for the empty one, else number + 1) and back.
 *
 * Threads, signals: pure functions; safe anywhere.
 */
#pragma once

#include "core/base/bytes.h"
#include "output/dump/format.h"

/* A struct of types.h, whichever the record has. */
union yarn_dump_any {
#define YARN_RECORD(number, NAME, name, since, prose) struct yarn_dump_##name name;
#include "output/dump/format.def"
};

enum { YARN_DUMP_TEXTS_MAX = 8 }; /* texts of one record */

/* The record's texts in order of its fields, as members of the struct; how many. */
size_t yarn_dump_fields_texts(enum yarn_dump_record record, const void *thing,
                              struct yarn_span ret_texts[YARN_DUMP_TEXTS_MAX]);

/* `references`: of the texts, in the same order. */
void yarn_dump_fields_encode(struct yarn_bytes *bytes, enum yarn_dump_record record,
                             const void *thing, const uint64_t *references, uint64_t base_ns);

/* Fields that the record does not have yet become 0 (none, for references to things); texts are
 * left to yarn_dump_fields_set_texts. Fails the cursor where a field is malformed. Leaves it
 * behind the last field that is known. */
void yarn_dump_fields_decode(struct yarn_cursor *cursor, enum yarn_dump_record record,
                             union yarn_dump_any *ret_thing, uint64_t *ret_references,
                             uint64_t base_ns);
void yarn_dump_fields_set_texts(enum yarn_dump_record record, union yarn_dump_any *thing,
                                const struct yarn_span *texts);
