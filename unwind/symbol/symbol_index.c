/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/symbol/symbol_index.h"

#include "core/base/pages.h"
#include "core/base/search.h"
#include "core/base/sort.h"

enum { NUMBER_BITS = 30, PAGE = 4096 };
#define NUMBER_MASK ((UINT64_C(1) << NUMBER_BITS) - 1)
#define SYMBOLS_MAX ((size_t)4 << 20)

static uint64_t table_of(uint64_t key)
{
    return (key >> NUMBER_BITS) & 3;
}

static uint32_t number_of(uint64_t key)
{
    return (uint32_t)(key & NUMBER_MASK);
}

static void add_table(struct yarn_symbol_index *index, uint64_t table_number, size_t capacity)
{
    const struct yarn_symbol_table *table = &index->tables[table_number];
    struct yarn_elf_symbol symbol;
    for (uint32_t i = 0; i < table->count && i <= NUMBER_MASK && index->count < capacity; i++) {
        if (!yarn_symbol_table_at(table, i, &symbol) || symbol.start < index->base ||
            symbol.start - index->base > UINT32_MAX)
            continue;
        index->keys[index->count++] =
            (symbol.start - index->base) << 32 | table_number << NUMBER_BITS | i;
    }
}

static bool read_key(const struct yarn_symbol_index *index, uint64_t key,
                     struct yarn_elf_symbol *ret_symbol, struct yarn_span *ret_name)
{
    const struct yarn_symbol_table *table = &index->tables[table_of(key)];
    if (!yarn_symbol_table_at(table, number_of(key), ret_symbol))
        return false;
    *ret_name = yarn_symbol_table_name(table, number_of(key));
    return true;
}

/* The best name among keys[from..to), which have one address. */
static uint64_t best_key(const struct yarn_symbol_index *index, size_t from, size_t to)
{
    struct yarn_elf_symbol best, symbol;
    struct yarn_span best_name, name;
    uint64_t best_key = index->keys[from];
    if (from + 1 == to || !read_key(index, best_key, &best, &best_name))
        return best_key;
    for (size_t i = from + 1; i < to; i++) {
        if (!read_key(index, index->keys[i], &symbol, &name) ||
            !yarn_elf_symbol_is_better(&symbol, name, &best, best_name))
            continue;
        best = symbol;
        best_name = name;
        best_key = index->keys[i];
    }
    return best_key;
}

static void choose_names(struct yarn_symbol_index *index)
{
    size_t kept = 0;
    for (size_t from = 0, to; from < index->count; from = to) {
        for (to = from + 1; to < index->count; to++)
            if (index->keys[to] >> 32 != index->keys[from] >> 32)
                break;
        index->keys[kept++] = best_key(index, from, to);
    }
    index->count = kept;
}

static void give_back_rest(struct yarn_symbol_index *index, size_t capacity)
{
    size_t used = yarn_align_up(index->count * sizeof *index->keys, PAGE);
    size_t mapped = yarn_align_up(capacity * sizeof *index->keys, PAGE);
    if (used < mapped)
        yarn_pages_unmap((uint8_t *)index->keys + used, mapped - used);
    if (!used)
        index->keys = NULL;
}

static uint64_t offset_at(const void *keys, size_t position)
{
    return ((const uint64_t *)keys)[position] >> 32;
}

int yarn_symbol_index_open(struct yarn_symbol_index *index, uint64_t base,
                           const struct yarn_symbol_table *tables, size_t nr_tables)
{
    struct yarn_symbol_index opened = {.base = base};
    size_t capacity = 0;
    for (size_t i = 0; i < nr_tables && i < YARN_SYMBOL_TABLES_MAX; i++) {
        opened.tables[i] = tables[i];
        capacity += tables[i].count;
    }
    capacity = yarn_size_min(capacity, SYMBOLS_MAX);
    if (capacity) {
        opened.keys = yarn_pages_map(capacity * sizeof *opened.keys);
        if (!opened.keys)
            return -ENOMEM;
        for (uint64_t i = 0; i < YARN_SYMBOL_TABLES_MAX; i++)
            add_table(&opened, i, capacity);
        yarn_sort_u64(opened.keys, opened.count);
        choose_names(&opened);
        give_back_rest(&opened, capacity);
        opened.guide = yarn_search_guide_of(opened.keys, opened.count, offset_at);
    }
    *index = opened;
    return 0;
}

size_t yarn_symbol_index_position(const struct yarn_symbol_index *index, uint64_t vaddr)
{
    if (vaddr < index->base)
        return 0;
    uint64_t offset = yarn_u64_min(vaddr - index->base, UINT32_MAX);
    return yarn_search_guided(&index->guide, index->keys, index->count, offset_at, offset);
}

uint64_t yarn_symbol_index_start(const struct yarn_symbol_index *index, size_t position)
{
    return position < index->count ? index->base + offset_at(index->keys, position) : UINT64_MAX;
}

bool yarn_symbol_index_at(const struct yarn_symbol_index *index, size_t position,
                          struct yarn_elf_symbol *ret_symbol, struct yarn_span *ret_name)
{
    return position < index->count && read_key(index, index->keys[position], ret_symbol, ret_name);
}

void yarn_symbol_index_close(struct yarn_symbol_index *index)
{
    if (index->keys)
        yarn_pages_unmap(index->keys, index->count * sizeof *index->keys);
    yarn_search_guide_close(&index->guide);
    *index = (struct yarn_symbol_index){.base = 0};
}
