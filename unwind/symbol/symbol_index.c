/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/symbol/symbol_index.h"

#include "core/base/pages.h"
#include "core/base/search.h"
#include "core/base/sort.h"

enum { NUMBER_BITS = 22, OFFSET_SHIFT = 25, SAME_START_MAX = 64, PAGE = 4096 };
#define SYMBOLS_MAX ((size_t)1 << NUMBER_BITS)
#define NUMBER_MASK (SYMBOLS_MAX - 1)
#define FROM_SECOND (UINT64_C(1) << NUMBER_BITS) /* the bits between number and offset */
#define IS_LOCAL (UINT64_C(2) << NUMBER_BITS)
#define IS_FUNCTION (UINT64_C(4) << NUMBER_BITS)
#define OFFSET_MAX (UINT64_MAX >> OFFSET_SHIFT)

struct yarn_symbol_facts {
    uint32_t size, name_at;
};

static void add(struct yarn_symbol_index *index, const struct yarn_elf_symbol *symbol,
                uint64_t flags)
{
    flags |= (symbol->is_local ? IS_LOCAL : 0) | (symbol->is_function ? IS_FUNCTION : 0);
    index->keys[index->count] =
        (symbol->start - index->base) << OFFSET_SHIFT | flags | index->count;
    index->facts[index->count++] = (struct yarn_symbol_facts){
        .size = (uint32_t)yarn_u64_min(symbol->size, UINT32_MAX),
        .name_at = symbol->name_at,
    };
}

static void add_table(struct yarn_symbol_index *index, unsigned number, size_t capacity)
{
    const struct yarn_symbol_table *table = &index->tables[number];
    struct yarn_elf_symbol symbol;
    for (uint32_t i = 0; i < table->count && index->count < capacity; i++)
        if (yarn_symbol_table_at(table, i, &symbol) && symbol.start >= index->base &&
            symbol.start - index->base <= OFFSET_MAX)
            add(index, &symbol, number ? FROM_SECOND : 0);
}

static struct yarn_elf_symbol symbol_of(const struct yarn_symbol_index *index, uint64_t key)
{
    const struct yarn_symbol_facts *facts = &index->facts[key & NUMBER_MASK];
    return (struct yarn_elf_symbol){
        .start = index->base + (key >> OFFSET_SHIFT),
        .size = facts->size,
        .name_at = facts->name_at,
        .is_function = key & IS_FUNCTION,
        .is_local = key & IS_LOCAL,
    };
}

/* What is left when `used` bytes are; NULL where nothing is. */
static void *give_back_rest(void *pages, size_t used, size_t mapped)
{
    used = yarn_align_up(used, PAGE);
    mapped = yarn_align_up(mapped, PAGE);
    if (used < mapped)
        yarn_pages_unmap((uint8_t *)pages + used, mapped - used);
    return used ? pages : NULL;
}

static uint64_t offset_at(const void *keys, size_t position)
{
    return ((const uint64_t *)keys)[position] >> OFFSET_SHIFT;
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
        size_t bytes = capacity * sizeof *opened.keys;
        opened.keys = yarn_pages_map(bytes);
        opened.facts = yarn_pages_map(bytes);
        if (!opened.keys || !opened.facts) {
            yarn_pages_unmap(opened.keys, bytes);
            yarn_pages_unmap(opened.facts, bytes);
            return -ENOMEM;
        }
        for (unsigned i = 0; i < YARN_SYMBOL_TABLES_MAX; i++)
            add_table(&opened, i, capacity);
        yarn_sort_u64(opened.keys, opened.count);
        size_t used = opened.count * sizeof *opened.keys;
        opened.keys = give_back_rest(opened.keys, used, bytes);
        opened.facts = give_back_rest(opened.facts, used, bytes);
        opened.sparse = yarn_search_index_of(opened.keys, opened.count, offset_at);
    }
    *index = opened;
    return 0;
}

size_t yarn_symbol_index_position(const struct yarn_symbol_index *index, uint64_t vaddr)
{
    if (vaddr < index->base)
        return 0;
    uint64_t offset = yarn_u64_min(vaddr - index->base, OFFSET_MAX);
    return yarn_search_indexed(&index->sparse, index->keys, index->count, offset_at, offset);
}

uint64_t yarn_symbol_index_start(const struct yarn_symbol_index *index, size_t position)
{
    return position < index->count ? index->base + offset_at(index->keys, position) : UINT64_MAX;
}

bool yarn_symbol_index_reaches(const struct yarn_symbol_index *index, size_t position, uint64_t end)
{
    uint64_t start = yarn_symbol_index_start(index, position);
    for (size_t i = 0; i < SAME_START_MAX && i <= position; i++) {
        if (yarn_symbol_index_start(index, position - i) != start)
            break;
        if (symbol_of(index, index->keys[position - i]).size >= end - start)
            return true;
    }
    return false;
}

bool yarn_symbol_index_at(const struct yarn_symbol_index *index, size_t position,
                          struct yarn_elf_symbol *ret_symbol, struct yarn_span *ret_name,
                          size_t *ret_first)
{
    uint64_t offset = offset_at(index->keys, position);
    unsigned window = YARN_WINDOW_NAME; /* the one that the best name is not in */
    bool has_any = false;
    for (size_t at = position, i = 0; i < SAME_START_MAX; i++) {
        uint64_t key = index->keys[at];
        struct yarn_elf_symbol symbol = symbol_of(index, key);
        struct yarn_span name = yarn_symbol_table_text(&index->tables[key & FROM_SECOND ? 1 : 0],
                                                       symbol.name_at, window);
        if (!has_any || yarn_elf_symbol_is_better(&symbol, name, ret_symbol, *ret_name)) {
            *ret_symbol = symbol;
            *ret_name = name;
            window = window == YARN_WINDOW_NAME ? YARN_WINDOW_OTHER_NAME : YARN_WINDOW_NAME;
        }
        has_any = true;
        *ret_first = at;
        if (at-- == 0 || offset_at(index->keys, at) != offset)
            break;
    }
    return has_any;
}

void yarn_symbol_index_close(struct yarn_symbol_index *index)
{
    yarn_pages_unmap(index->keys, index->count * sizeof *index->keys);
    yarn_pages_unmap(index->facts, index->count * sizeof *index->facts);
    yarn_search_index_close(&index->sparse);
    *index = (struct yarn_symbol_index){.base = 0};
}
