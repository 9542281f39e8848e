/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Encoded pointers of .eh_frame (LSB Core, "DWARF Extensions"): a format in the low nibble, what
 * the value is relative to in the high one. Only what a linker leaves in a loaded file can be
 * read: an indirect pointer, or one relative to text, function or an alignment, fails the cursor.
 * Knows the encoding; does not know what is pointed at.
 *
 * Threads, signals: pure functions over values; safe anywhere.
 */
#pragma once

#include "core/base/span.h"

enum {
    YARN_POINTER_ABSOLUTE = 0x00, /* 8 bytes as they are */
    YARN_POINTER_OMITTED = 0xff,
    YARN_POINTER_TABLE = 0x3b,       /* relative to .eh_frame_hdr, 4 signed bytes */
    YARN_POINTER_FORMAT_MASK = 0x0f, /* of a length: never relative */
};

/* The cursor is over bytes that begin at `vaddr`, in the section that begins at `section_vaddr`. */
uint64_t yarn_pointer_read(struct yarn_cursor *cursor, uint8_t encoding, uint64_t vaddr,
                           uint64_t section_vaddr);
