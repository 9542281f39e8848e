/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/search.h"
#include "unwind/cfi.h"
#include "unwind/cfi_entry.h"
#include "unwind/cfi_pointer.h"

enum { TABLE_ENTRY_SIZE = 8, SCAN_MAX = 1 << 20 };

/* .eh_frame_hdr's table: pairs of (start of code, FDE), sorted, relative to the section. */
struct table {
    struct yarn_span entries;
    uint64_t count;
    uint64_t base;
};

static bool open_table(const struct yarn_image *image, struct table *ret_table)
{
    if (!yarn_section_need(&image->eh_frame_hdr, 0, image->eh_frame_hdr.bytes.size))
        return false;
    struct yarn_cursor cursor = yarn_cursor_of(image->eh_frame_hdr.bytes);
    uint8_t version = yarn_cursor_u8(&cursor);
    uint8_t frame_encoding = yarn_cursor_u8(&cursor);
    uint8_t count_encoding = yarn_cursor_u8(&cursor);
    uint8_t table_encoding = yarn_cursor_u8(&cursor);
    if (version != 1 || count_encoding == YARN_POINTER_OMITTED ||
        table_encoding != YARN_POINTER_TABLE)
        return false;
    uint64_t base = image->eh_frame_hdr.vaddr;
    if (frame_encoding != YARN_POINTER_OMITTED)
        (void)yarn_pointer_read(&cursor, frame_encoding, base, base);
    uint64_t count = yarn_pointer_read(&cursor, count_encoding, base, base);
    size_t left = yarn_cursor_left(&cursor);
    if (cursor.failed || count == 0 || count > left / TABLE_ENTRY_SIZE)
        return false;
    *ret_table = (struct table){
        .entries = yarn_cursor_span(&cursor, count * TABLE_ENTRY_SIZE),
        .count = count,
        .base = base,
    };
    return true;
}

static uint64_t table_word(const struct table *table, uint64_t entry, uint64_t at)
{
    int32_t value = 0;
    (void)yarn_span_read(table->entries, entry * TABLE_ENTRY_SIZE + at, &value, sizeof value);
    return table->base + (uint64_t)(int64_t)value;
}

static uint64_t start_at(const void *table, size_t entry)
{
    return table_word(table, entry, 0);
}

/* The address of the FDE that starts last at or before `vaddr`. */
static bool search_table(const struct table *table, const struct yarn_search_index *sparse,
                         uint64_t vaddr, uint64_t *ret_fde_vaddr)
{
    size_t position = yarn_search_indexed(sparse, table, table->count, start_at, vaddr);
    if (!position)
        return false;
    *ret_fde_vaddr = table_word(table, position - 1, sizeof(int32_t));
    return true;
}

static int read_covering(const struct yarn_cfi_section *in, uint64_t offset, uint64_t vaddr,
                         struct yarn_fde *ret_fde)
{
    struct yarn_cfi_entry entry;
    struct yarn_cie cie;
    struct yarn_fde fde;
    int err = yarn_cfi_entry_read(in, offset, &entry);
    if (err || entry.is_cie)
        return -EBADMSG;
    err = yarn_cie_read(in, entry.cie_offset, &cie);
    if (err)
        return err;
    err = yarn_fde_read(in, &entry, &cie, &fde);
    if (err)
        return err;
    if (vaddr < fde.start || vaddr >= fde.end)
        return -ENOENT;
    *ret_fde = fde;
    return 0;
}

/* Entry by entry, for files without a sorted table. The bound keeps a damaged or giant section
 * from costing more than some milliseconds an address. */
static int scan(const struct yarn_cfi_section *in, uint64_t vaddr, struct yarn_fde *ret_fde)
{
    struct yarn_cfi_entry entry = {0};
    struct yarn_cie cie = {.offset = UINT64_MAX};
    if (!yarn_section_need(&in->section, 0, in->section.bytes.size))
        return -EBADMSG;
    for (unsigned i = 0; i < SCAN_MAX; i++) {
        struct yarn_fde fde;
        int err = yarn_cfi_entry_read(in, entry.next, &entry);
        if (err)
            return err;
        if (entry.is_cie)
            continue;
        if (entry.cie_offset != cie.offset) {
            err = yarn_cie_read(in, entry.cie_offset, &cie);
            if (err) {
                cie.offset = UINT64_MAX;
                continue; /* another entry's version is no reason to miss ours */
            }
        }
        err = yarn_fde_read(in, &entry, &cie, &fde);
        if (!err && vaddr >= fde.start && vaddr < fde.end) {
            *ret_fde = fde;
            return 0;
        }
    }
    return -ENOENT;
}

/* Several FDEs may begin where one of them ends at once. */
enum { SAME_START_MAX = 8 };

static int find_in_index(const struct yarn_cfi_section *in, const struct yarn_cfi_index *index,
                         uint64_t vaddr, struct yarn_fde *ret_fde)
{
    size_t position = yarn_cfi_index_position(index, vaddr);
    int err = -ENOENT;
    for (unsigned i = 0; err == -ENOENT && i < SAME_START_MAX && position > i; i++)
        err = read_covering(in, yarn_cfi_index_offset(index, position - i - 1), vaddr, ret_fde);
    return err;
}

static struct yarn_cfi_section eh_frame_of(const struct yarn_image *image)
{
    return (struct yarn_cfi_section){.section = image->eh_frame};
}

static struct yarn_cfi_section debug_frame_of(const struct yarn_image *image)
{
    return (struct yarn_cfi_section){.section = image->debug_frame, .is_debug_frame = true};
}

static int find_in_eh_frame(const struct yarn_image *image, uint64_t vaddr,
                            struct yarn_fde *ret_fde)
{
    struct yarn_cfi_section in = eh_frame_of(image);
    struct table table;
    uint64_t fde_vaddr;
    if (!in.section.bytes.size)
        return -ENOENT;
    if (image->frame_index.keys)
        return find_in_index(&in, &image->frame_index, vaddr, ret_fde);
    if (!open_table(image, &table))
        return scan(&in, vaddr, ret_fde);
    if (!search_table(&table, &image->sparse, vaddr, &fde_vaddr))
        return -ENOENT;
    return read_covering(&in, fde_vaddr - in.section.vaddr, vaddr, ret_fde);
}

static int find_in_debug_frame(const struct yarn_image *image, uint64_t vaddr,
                               struct yarn_fde *ret_fde)
{
    struct yarn_cfi_section in = debug_frame_of(image);
    if (!in.section.bytes.size)
        return -ENOENT;
    return image->debug_index.keys ? find_in_index(&in, &image->debug_index, vaddr, ret_fde)
                                   : scan(&in, vaddr, ret_fde);
}

int yarn_cfi_find(const struct yarn_image *image, uint64_t vaddr, struct yarn_fde *ret_fde)
{
    int err = find_in_eh_frame(image, vaddr, ret_fde);
    if (err == -ENOENT)
        err = find_in_debug_frame(image, vaddr, ret_fde);
    return err == -ENOTSUP ? -EBADMSG : err;
}

void yarn_cfi_index_tables(struct yarn_image *image)
{
    struct yarn_cfi_section frame = eh_frame_of(image), debug = debug_frame_of(image);
    struct table table;
    yarn_search_index_close(&image->sparse);
    yarn_cfi_index_close(&image->frame_index);
    yarn_cfi_index_close(&image->debug_index);
    image->debug_index = yarn_cfi_index_of(&debug);
    if (!frame.section.bytes.size)
        return;
    if (open_table(image, &table))
        image->sparse = yarn_search_index_of(&table, table.count, start_at);
    else
        image->frame_index = yarn_cfi_index_of(&frame);
}

/* The FDEs of a section in order of address, by whatever says it. */
struct order {
    const struct yarn_image *image;
    const struct yarn_cfi_index *index; /* without keys: the table */
    struct yarn_cfi_section in;
    struct table table;
};

static bool open_order(struct order *order)
{
    return order->index->keys ||
           (!order->in.is_debug_frame && open_table(order->image, &order->table));
}

static void narrow(const struct order *order, uint64_t vaddr, uint64_t *from, uint64_t *to)
{
    const struct yarn_cfi_index *index = order->index;
    const struct table *table = &order->table;
    size_t count = index->keys ? index->count : table->count;
    size_t position = index->keys ? yarn_cfi_index_position(index, vaddr)
                                  : yarn_search_indexed(&order->image->sparse, table, table->count,
                                                        start_at, vaddr);
    if (position < count)
        *to = yarn_u64_min(*to, index->keys ? yarn_cfi_index_start(index, position)
                                            : start_at(table, position));
    if (!position--)
        return;
    struct yarn_fde fde;
    uint64_t start =
        index->keys ? yarn_cfi_index_start(index, position) : start_at(table, position);
    uint64_t offset = index->keys
                          ? yarn_cfi_index_offset(index, position)
                          : table_word(table, position, sizeof(int32_t)) - order->in.section.vaddr;
    int err = read_covering(&order->in, offset, start, &fde);
    *from = yarn_u64_max(*from, err ? vaddr : fde.end);
}

bool yarn_cfi_gap(const struct yarn_image *image, uint64_t vaddr, uint64_t *ret_from,
                  uint64_t *ret_to)
{
    struct order orders[] = {
        {.image = image, .index = &image->frame_index, .in = eh_frame_of(image)},
        {.image = image, .index = &image->debug_index, .in = debug_frame_of(image)},
    };
    *ret_from = 0;
    *ret_to = UINT64_MAX;
    for (size_t i = 0; i < YARN_COUNT_OF(orders); i++) {
        if (!orders[i].in.section.bytes.size)
            continue;
        if (!open_order(&orders[i]))
            return false;
        narrow(&orders[i], vaddr, ret_from, ret_to);
    }
    return true;
}
