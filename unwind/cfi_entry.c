/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/cfi_entry.h"

#include "unwind/cfi_pointer.h"

/* Of windows: what is read of most entries at once, and of the longest length field. */
enum { AT_ONCE = 256, LENGTH_BYTES = 12 };

static int read_entry(const struct yarn_cfi_section *in, uint64_t offset, unsigned window,
                      struct yarn_cfi_entry *ret_entry)
{
    if (offset > in->section.bytes.size)
        return -ENOENT;
    uint64_t left = in->section.bytes.size - offset;
    if (left < sizeof(uint32_t))
        return -ENOENT;
    uint64_t got = yarn_u64_min(left, AT_ONCE);
    struct yarn_span bytes = yarn_section_window(&in->section, offset, got, window);
    struct yarn_cursor cursor = yarn_cursor_of(bytes);
    uint64_t size = yarn_cursor_u32(&cursor);
    bool is_64 = size == UINT32_MAX;
    if (is_64)
        size = yarn_cursor_u64(&cursor);
    if (cursor.failed || size > left - cursor.at)
        return -EBADMSG;
    if (size == 0)
        return -ENOENT;
    uint64_t id_at = cursor.at;
    if (id_at + size > got)
        bytes = yarn_section_window(&in->section, offset, id_at + size, window);
    bytes = yarn_span_sub(bytes, 0, id_at + size);
    cursor.span = bytes;

    /* In .eh_frame the field is 4 bytes wide whatever the length says. */
    bool is_wide = is_64 && in->is_debug_frame;
    uint64_t id = is_wide ? yarn_cursor_u64(&cursor) : yarn_cursor_u32(&cursor);
    uint64_t cie_id = !in->is_debug_frame ? 0 : is_wide ? UINT64_MAX : UINT32_MAX;
    if (cursor.failed)
        return -EBADMSG;
    *ret_entry = (struct yarn_cfi_entry){
        .offset = offset,
        .next = offset + id_at + size,
        .is_cie = id == cie_id,
        .cie_offset = in->is_debug_frame ? id : offset + id_at - id,
        .body = offset + cursor.at,
        .bytes = bytes,
    };
    return 0;
}

int yarn_cfi_entry_read(const struct yarn_cfi_section *in, uint64_t offset,
                        struct yarn_cfi_entry *ret_entry)
{
    return read_entry(in, offset, YARN_WINDOW_FDE, ret_entry);
}

/* Over the entry, behind its CIE pointer. */
static struct yarn_cursor cursor_over(const struct yarn_cfi_entry *entry)
{
    struct yarn_cursor cursor = yarn_cursor_of(entry->bytes);
    yarn_cursor_skip(&cursor, entry->body - entry->offset);
    return cursor;
}

static bool read_letter(struct yarn_cursor *cursor, char letter, struct yarn_cie *cie)
{
    switch (letter) {
    case 'R':
        cie->pointer_encoding = yarn_cursor_u8(cursor);
        return true;
    case 'L':
        (void)yarn_cursor_u8(cursor);
        return true;
    case 'P': {
        /* The routine's address is relocated, often indirect, and not wanted: its size counts. */
        uint8_t format = yarn_cursor_u8(cursor) & YARN_POINTER_FORMAT_MASK;
        (void)yarn_pointer_read(cursor, format, 0, 0);
        return true;
    }
    case 'S':
        cie->is_signal_frame = true;
        return true;
    default:
        return false;
    }
}

/* A letter of unknown meaning ends the reading, not the CIE: the size says where it all ends. */
static int read_augmentation(struct yarn_cursor *cursor, const char *letters, struct yarn_cie *cie)
{
    uint64_t size = yarn_cursor_uleb(cursor);
    uint64_t end = cursor->at + size;
    if (cursor->failed || size > yarn_cursor_left(cursor))
        return -EBADMSG;
    cie->has_augmentation_size = true;
    for (const char *letter = letters + 1; *letter && read_letter(cursor, *letter, cie);)
        letter++;
    if (cursor->failed || cursor->at > end)
        return -EBADMSG;
    cursor->at = (size_t)end;
    return 0;
}

int yarn_cie_read(const struct yarn_cfi_section *in, uint64_t offset, struct yarn_cie *ret_cie)
{
    struct yarn_cfi_entry entry;
    int err = read_entry(in, offset, YARN_WINDOW_CIE, &entry);
    if (err || !entry.is_cie)
        return -EBADMSG;
    struct yarn_cursor cursor = cursor_over(&entry);
    struct yarn_cie cie = {.offset = offset, .pointer_encoding = YARN_POINTER_ABSOLUTE};
    uint8_t version = yarn_cursor_u8(&cursor);
    const char *letters = yarn_cursor_text(&cursor);
    if (cursor.failed)
        return -EBADMSG;
    if (version != 1 && version != 3 && version != 4)
        return -ENOTSUP;
    if (version == 4 && (yarn_cursor_u8(&cursor) != 8 || yarn_cursor_u8(&cursor) != 0))
        return -ENOTSUP; /* address size 8, no segments */
    cie.code_align = yarn_cursor_uleb(&cursor);
    cie.data_align = yarn_cursor_sleb(&cursor);
    cie.return_register = version == 1 ? yarn_cursor_u8(&cursor) : yarn_cursor_uleb(&cursor);
    if (letters[0] == 'z') {
        err = read_augmentation(&cursor, letters, &cie);
        if (err)
            return err;
    } else if (letters[0]) {
        return -ENOTSUP;
    }
    if (cursor.failed)
        return -EBADMSG;
    cie.instructions = yarn_cursor_span(&cursor, yarn_cursor_left(&cursor));
    *ret_cie = cie;
    return 0;
}

int yarn_fde_read(const struct yarn_cfi_section *in, const struct yarn_cfi_entry *entry,
                  const struct yarn_cie *cie, struct yarn_fde *ret_fde)
{
    struct yarn_cursor cursor = cursor_over(entry);
    uint64_t vaddr = in->section.vaddr;
    uint64_t start =
        yarn_pointer_read(&cursor, cie->pointer_encoding, vaddr + entry->offset, vaddr);
    uint64_t size =
        yarn_pointer_read(&cursor, cie->pointer_encoding & YARN_POINTER_FORMAT_MASK, 0, 0);
    if (cie->has_augmentation_size)
        yarn_cursor_skip(&cursor, yarn_cursor_uleb(&cursor));
    if (cursor.failed || start + size < start)
        return -EBADMSG;
    *ret_fde = (struct yarn_fde){
        .start = start,
        .end = start + size,
        .cie_instructions = cie->instructions,
        .instructions = yarn_cursor_span(&cursor, yarn_cursor_left(&cursor)),
        .code_align = cie->code_align,
        .data_align = cie->data_align,
        .return_register = cie->return_register,
        .pointer_encoding = cie->pointer_encoding,
        .is_signal_frame = cie->is_signal_frame,
        .eh_frame_offset = entry->offset,
    };
    return 0;
}
