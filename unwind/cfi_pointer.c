/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/cfi_pointer.h"

enum { FORMAT_ULEB = 1, FORMAT_U2, FORMAT_U4, FORMAT_U8, FORMAT_SLEB = 9, FORMAT_S2, FORMAT_S4 };
enum { FORMAT_S8 = 12, RELATIVE_MASK = 0xf0, RELATIVE_TO_HERE = 0x10, RELATIVE_TO_SECTION = 0x30 };

static uint64_t read_format(struct yarn_cursor *cursor, uint8_t format)
{
    switch (format) {
    case YARN_POINTER_ABSOLUTE:
    case FORMAT_U8:
    case FORMAT_S8:
        return yarn_cursor_u64(cursor);
    case FORMAT_ULEB:
        return yarn_cursor_uleb(cursor);
    case FORMAT_U2:
        return yarn_cursor_u16(cursor);
    case FORMAT_U4:
        return yarn_cursor_u32(cursor);
    case FORMAT_SLEB:
        return (uint64_t)yarn_cursor_sleb(cursor);
    case FORMAT_S2:
        return (uint64_t)(int64_t)(int16_t)yarn_cursor_u16(cursor);
    case FORMAT_S4:
        return (uint64_t)(int64_t)(int32_t)yarn_cursor_u32(cursor);
    default:
        cursor->failed = true;
        return 0;
    }
}

uint64_t yarn_pointer_read(struct yarn_cursor *cursor, uint8_t encoding, uint64_t vaddr,
                           uint64_t section_vaddr)
{
    uint64_t here = vaddr + cursor->at;
    uint64_t value = read_format(cursor, encoding & YARN_POINTER_FORMAT_MASK);
    switch (encoding & RELATIVE_MASK) {
    case 0:
        break;
    case RELATIVE_TO_HERE:
        value += here;
        break;
    case RELATIVE_TO_SECTION:
        value += section_vaddr;
        break;
    default:
        cursor->failed = true;
    }
    return cursor->failed ? 0 : value;
}
