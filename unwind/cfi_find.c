/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/cfi.h"
#include "unwind/cfi_entry.h"

enum { SCAN_MAX = 1 << 20 };

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

static struct yarn_frame_table table_of(const struct yarn_image *image)
{
    return image->frame_table.count ? image->frame_table
                                    : yarn_frame_table_of(&image->eh_frame_hdr);
}

static int find_in_eh_frame(const struct yarn_image *image, uint64_t vaddr,
                            struct yarn_fde *ret_fde)
{
    struct yarn_cfi_section in = eh_frame_of(image);
    if (!in.section.bytes.size)
        return -ENOENT;
    if (image->frame_index.keys)
        return find_in_index(&in, &image->frame_index, vaddr, ret_fde);
    struct yarn_frame_table table = table_of(image);
    if (!table.count)
        return scan(&in, vaddr, ret_fde);
    size_t position = yarn_frame_table_position(&table, vaddr);
    if (!position)
        return -ENOENT;
    uint64_t fde = yarn_frame_table_fde(&table, position - 1);
    return fde ? read_covering(&in, fde - in.section.vaddr, vaddr, ret_fde) : -EBADMSG;
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
    yarn_frame_table_close(&image->frame_table);
    yarn_cfi_index_close(&image->frame_index);
    yarn_cfi_index_close(&image->debug_index);
    image->debug_index = yarn_cfi_index_of(&debug);
    if (!frame.section.bytes.size)
        return;
    image->frame_table = yarn_frame_table_of(&image->eh_frame_hdr);
    if (image->frame_table.count)
        yarn_frame_table_index(&image->frame_table);
    else
        image->frame_index = yarn_cfi_index_of(&frame);
}

/* The FDEs of a section in order of address, by whatever says it. */
struct order {
    const struct yarn_cfi_index *index; /* without keys: the table */
    struct yarn_cfi_section in;
    struct yarn_frame_table table;
};

static size_t position_in(const struct order *order, uint64_t vaddr)
{
    return order->index->keys ? yarn_cfi_index_position(order->index, vaddr)
                              : yarn_frame_table_position(&order->table, vaddr);
}

static uint64_t start_in(const struct order *order, size_t position)
{
    return order->index->keys ? yarn_cfi_index_start(order->index, position)
                              : yarn_frame_table_start(&order->table, position);
}

static uint64_t offset_in(const struct order *order, size_t position)
{
    return order->index->keys
               ? yarn_cfi_index_offset(order->index, position)
               : yarn_frame_table_fde(&order->table, position) - order->in.section.vaddr;
}

static void narrow(const struct order *order, uint64_t vaddr, uint64_t *from, uint64_t *to)
{
    size_t count = order->index->keys ? order->index->count : order->table.count;
    size_t position = position_in(order, vaddr);
    struct yarn_fde fde;
    if (position < count)
        *to = yarn_u64_min(*to, start_in(order, position));
    if (!position--)
        return;
    int err =
        read_covering(&order->in, offset_in(order, position), start_in(order, position), &fde);
    *from = yarn_u64_max(*from, err ? vaddr : fde.end);
}

bool yarn_cfi_gap(const struct yarn_image *image, uint64_t vaddr, uint64_t *ret_from,
                  uint64_t *ret_to)
{
    struct order orders[] = {
        {&image->frame_index, eh_frame_of(image), table_of(image)},
        {.index = &image->debug_index, .in = debug_frame_of(image)},
    };
    *ret_from = 0;
    *ret_to = UINT64_MAX;
    for (size_t i = 0; i < YARN_COUNT_OF(orders); i++) {
        if (!orders[i].in.section.bytes.size)
            continue;
        if (!orders[i].index->keys && !orders[i].table.count)
            return false;
        narrow(&orders[i], vaddr, ret_from, ret_to);
    }
    return true;
}
