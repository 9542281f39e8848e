/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/symbol/symbol_index.h"

#include "core/base/pages.h"
#include "core/base/sort.h"

enum { NUMBER_BITS = 20 };
#define START_MAX (UINT64_MAX >> NUMBER_BITS)
#define ROW_BYTES (sizeof(struct yarn_elf_symbol) + 2 * sizeof(uint64_t))

static const struct yarn_elf_symbol *symbol_at(const struct yarn_symbol_index *index, size_t i)
{
    return &index->symbols[index->order[i] & ((UINT64_C(1) << NUMBER_BITS) - 1)];
}

static uint64_t last_of(const struct yarn_elf_symbol *symbol)
{
    return symbol->start + yarn_u64_max(symbol->size, 1) - 1;
}

static bool take(struct yarn_symbol_index *index, const struct yarn_symbol_table *table,
                 const Elf64_Sym *entry)
{
    struct yarn_elf_symbol *symbol = &index->symbols[index->count];
    if (!yarn_symbol_table_take(table, entry, symbol))
        return true;
    index->order[index->count] = symbol->start << NUMBER_BITS | index->count;
    index->count++;
    return symbol->start <= START_MAX;
}

static bool read_table(struct yarn_symbol_index *index, const struct yarn_symbol_table *table,
                       Elf64_Sym *room)
{
    for (uint32_t first = 0; first < table->count;) {
        size_t count = yarn_symbol_table_read(table, first, room);
        for (size_t i = 0; i < count; i++)
            if (!take(index, table, &room[i]))
                return false;
        if (!count)
            return false;
        first += (uint32_t)count;
    }
    return true;
}

bool yarn_symbol_index_open(struct yarn_symbol_index *index, const struct yarn_symbol_table *table,
                            Elf64_Sym *room, size_t most_bytes)
{
    uint64_t reach = 0;
    size_t bytes = table->count * ROW_BYTES;
    *index = (struct yarn_symbol_index){.symbols = NULL};
    if (!table->count || table->count >> NUMBER_BITS || bytes > most_bytes)
        return false;
    index->symbols = yarn_pages_map(bytes);
    index->bytes = index->symbols ? bytes : 0;
    if (!index->symbols)
        return false;
    index->order = (uint64_t *)(void *)(index->symbols + table->count);
    index->reach = index->order + table->count;
    if (!read_table(index, table, room)) {
        yarn_symbol_index_close(index);
        return false;
    }
    yarn_sort_u64(index->order, index->count);
    for (size_t i = 0; i < index->count; i++) {
        reach = yarn_u64_max(reach, last_of(symbol_at(index, i)));
        index->reach[i] = reach;
    }
    return true;
}

/* How many begin before that. */
static size_t nr_before(const struct yarn_symbol_index *index, uint64_t start)
{
    size_t low = 0, high = index->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (index->order[middle] >> NUMBER_BITS < start)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void yarn_symbol_index_visit(const struct yarn_symbol_index *index, uint64_t from, uint64_t to,
                             yarn_symbol_index_fn *each, void *self)
{
    for (size_t i = nr_before(index, to); i > 0 && index->reach[i - 1] >= from; i--)
        if (last_of(symbol_at(index, i - 1)) >= from)
            each(self, symbol_at(index, i - 1));
}

void yarn_symbol_index_close(struct yarn_symbol_index *index)
{
    yarn_pages_unmap(index->symbols, index->bytes);
    *index = (struct yarn_symbol_index){.symbols = NULL};
}
