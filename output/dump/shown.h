/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The text of a record in `yarnprof script`, as its YARN_SHOWN in format.def has it. In that text
 * {member} stands for the member, {member:enumeration} for the word of its value, and
 * {member?this:that} for one of two words.
 *
 * Threads, signals: pure functions; safe anywhere.
 */
#pragma once

#include "output/dump/fields.h"

bool yarn_dump_is_shown(enum yarn_dump_record record);

enum { YARN_DUMP_SHOWN_TEXT_MAX = 900 }; /* bytes that are shown of each text */

/* Appends it: of a record's struct or a list's row. */
void yarn_dump_show(struct yarn_byte_buffer *bytes, enum yarn_dump_record record,
                    const void *thing);

/* When it was, and where: YARN_DUMP_NONE where it does not say. */
struct yarn_dump_shown_at {
    uint64_t time_ns;
    uint32_t tid, cpu;
};
struct yarn_dump_shown_at yarn_dump_shown_at(enum yarn_dump_record record, const void *thing);
