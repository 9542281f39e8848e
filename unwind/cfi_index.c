/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/cfi_index.h"

#include "core/base/pages.h"
#include "core/base/search.h"
#include "core/base/sort.h"
#include "unwind/cfi_entry.h"

enum { NUMBER_BITS = 20, LEAST_BYTES = 16 /* of an FDE */ };
#define FDES_MAX ((size_t)1 << NUMBER_BITS)
#define START_MAX (UINT64_MAX >> NUMBER_BITS)

/* Calls nothing for entries that are damaged: another's version is no reason to miss ours. */
static bool read_next(const struct yarn_cfi_section *in, struct yarn_cfi_entry *entry,
                      struct yarn_cie *cie, struct yarn_fde *ret_fde)
{
    while (yarn_cfi_entry_read(in, entry->next, entry) == 0) {
        if (entry->is_cie)
            continue;
        if (entry->cie_offset != cie->offset && yarn_cie_read(in, entry->cie_offset, cie)) {
            cie->offset = UINT64_MAX;
            continue;
        }
        if (yarn_fde_read(in, entry, cie, ret_fde) == 0 && ret_fde->start < ret_fde->end)
            return true;
    }
    return false;
}

static void add_all(struct yarn_cfi_index *index, const struct yarn_cfi_section *in)
{
    struct yarn_cfi_entry entry = {0};
    struct yarn_cie cie = {.offset = UINT64_MAX};
    struct yarn_fde fde;
    while (index->count < index->capacity && read_next(in, &entry, &cie, &fde)) {
        if (entry.offset > UINT32_MAX || fde.start > START_MAX)
            continue;
        index->offsets[index->count] = (uint32_t)entry.offset;
        index->keys[index->count] = fde.start << NUMBER_BITS | index->count;
        index->count++;
    }
}

struct yarn_cfi_index yarn_cfi_index_of(const struct yarn_cfi_section *in)
{
    struct yarn_cfi_index index = {0};
    struct yarn_span bytes = in->section.bytes;
    if (!bytes.size || !yarn_section_need(&in->section, 0, bytes.size))
        return index;
    index.capacity = yarn_size_min(bytes.size / LEAST_BYTES + 1, FDES_MAX);
    index.keys = yarn_pages_map(index.capacity * sizeof *index.keys);
    index.offsets = yarn_pages_map(index.capacity * sizeof *index.offsets);
    if (!index.keys || !index.offsets) {
        yarn_cfi_index_close(&index);
        return index;
    }
    add_all(&index, in);
    yarn_sort_u64(index.keys, index.count);
    if (in->section.view)
        yarn_view_drop(in->section.view, bytes);
    return index;
}

static uint64_t start_at(const void *keys, size_t position)
{
    return ((const uint64_t *)keys)[position] >> NUMBER_BITS;
}

size_t yarn_cfi_index_position(const struct yarn_cfi_index *index, uint64_t vaddr)
{
    return yarn_search_position(index->keys, index->count, start_at,
                                yarn_u64_min(vaddr, START_MAX));
}

uint64_t yarn_cfi_index_start(const struct yarn_cfi_index *index, size_t position)
{
    return start_at(index->keys, position);
}

uint32_t yarn_cfi_index_offset(const struct yarn_cfi_index *index, size_t position)
{
    return index->offsets[index->keys[position] & (FDES_MAX - 1)];
}

void yarn_cfi_index_close(struct yarn_cfi_index *index)
{
    yarn_pages_unmap(index->keys, index->capacity * sizeof *index->keys);
    yarn_pages_unmap(index->offsets, index->capacity * sizeof *index->offsets);
    *index = (struct yarn_cfi_index){0};
}
