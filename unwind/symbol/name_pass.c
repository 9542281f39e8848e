/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/symbol/name_pass.h"

#include "core/base/pages.h"
#include "core/base/sort.h"
#include "core/sys/clock.h"

enum {
    NUMBER_BITS = 10, /* YARN_NAME_SEARCHES_MAX */
    BUCKETS = 4096,
};
#define OFFSET_MAX (UINT64_MAX >> NUMBER_BITS)

struct yarn_name_pass {
    size_t count;
    uint64_t low, high;                /* no search is about code outside */
    unsigned shift;                    /* from an offset in that to its bucket */
    uint16_t first_of_bucket[BUCKETS]; /* the first search whose code ends in it or behind */
    Elf64_Sym entries[YARN_SYMBOLS_AT_ONCE];
    uint64_t keys[YARN_NAME_SEARCHES_MAX];     /* offset and number of the search, in order */
    uint64_t from[YARN_NAME_SEARCHES_MAX + 1]; /* of each in order; the last is UINT64_MAX */
    struct yarn_name_search searches[YARN_NAME_SEARCHES_MAX];
};

int yarn_name_pass_new(struct yarn_name_pass **ret_pass)
{
    struct yarn_name_pass *pass = yarn_pages_map(sizeof *pass);
    if (!pass)
        return -ENOMEM;
    *ret_pass = pass;
    return 0;
}

void yarn_name_pass_free(struct yarn_name_pass *pass)
{
    yarn_pages_unmap(pass, sizeof *pass);
}

void yarn_name_pass_begin(struct yarn_name_pass *pass)
{
    pass->count = 0;
    pass->low = UINT64_MAX;
    pass->high = 0;
}

bool yarn_name_pass_add(struct yarn_name_pass *pass, const struct yarn_name_search *search)
{
    if (pass->count == YARN_NAME_SEARCHES_MAX)
        return false;
    pass->searches[pass->count] = *search;
    pass->searches[pass->count++].above = UINT64_MAX;
    pass->low = yarn_u64_min(pass->low, search->from);
    pass->high = yarn_u64_max(pass->high, search->to);
    return true;
}

const struct yarn_name_search *yarn_name_pass_at(const struct yarn_name_pass *pass, size_t i)
{
    return i < pass->count ? &pass->searches[i] : NULL;
}

static struct yarn_name_search *in_order(struct yarn_name_pass *pass, size_t i)
{
    return &pass->searches[pass->keys[i] & (YARN_NAME_SEARCHES_MAX - 1)];
}

/* An address farther from the first than a key can hold is in no file: it has no answer. */
static void sort(struct yarn_name_pass *pass)
{
    size_t count = 0;
    for (size_t i = 0; i < pass->count; i++) {
        uint64_t offset = pass->searches[i].vaddr - pass->low;
        if (offset <= OFFSET_MAX)
            pass->keys[count++] = offset << NUMBER_BITS | i;
    }
    yarn_sort_u64(pass->keys, count);
    for (size_t i = 0; i < count; i++)
        pass->from[i] = in_order(pass, i)->from;
    pass->from[count] = UINT64_MAX;
    size_t at = 0;
    pass->shift = 0;
    while (pass->high > pass->low && (pass->high - 1 - pass->low) >> pass->shift >= BUCKETS)
        pass->shift++;
    for (uint64_t bucket = 0; bucket < BUCKETS; bucket++) {
        while (at < count && in_order(pass, at)->to <= pass->low + (bucket << pass->shift))
            at++;
        pass->first_of_bucket[bucket] = (uint16_t)at;
    }
}

static bool is_inside(const struct yarn_elf_symbol *symbol, uint64_t vaddr)
{
    return vaddr >= symbol->start && vaddr - symbol->start < symbol->size;
}

static void keep_nearer(struct yarn_elf_symbol *kept, const struct yarn_elf_symbol *symbol)
{
    if (!kept->table || symbol->start > kept->start ||
        (symbol->start == kept->start && yarn_elf_symbol_is_better(symbol, kept)))
        *kept = *symbol;
}

/* Hand-written assembly: visible, or said to be a function, without size and FDE. */
static void consider_bare(struct yarn_name_search *search, const struct yarn_elf_symbol *symbol)
{
    if (symbol->size)
        search->sized = yarn_u64_max(search->sized, symbol->start);
    else if (!symbol->is_local)
        keep_nearer(&search->outer, symbol);
    else if (symbol->is_function)
        keep_nearer(&search->local, symbol);
    if (symbol->is_local && !symbol->is_function)
        search->label = yarn_u64_max(search->label, symbol->start);
}

/* Inside one FDE there may be labels and, in assembly, several functions. The nearest one that says
 * that it goes on to the address, that is a function of unknown size, or that starts the FDE is the
 * one. */
static void consider(struct yarn_name_search *search, const struct yarn_elf_symbol *symbol)
{
    bool has_fde = search->has_fde, has_address = is_inside(symbol, search->vaddr);
    if (symbol->start > search->vaddr) {
        search->above = yarn_u64_min(search->above, symbol->start);
    } else if (symbol->start < search->from && has_fde) {
        if (symbol->size >= search->to - symbol->start)
            keep_nearer(&search->outer, symbol);
    } else if (symbol->start < search->from) {
        if (has_address)
            keep_nearer(&search->inner, symbol);
    } else {
        search->below = yarn_u64_max(search->below, symbol->start);
        if (has_address ||
            (has_fde && (symbol->start == search->from || (symbol->is_function && !symbol->size))))
            keep_nearer(&search->inner, symbol);
        if (!has_fde)
            consider_bare(search, symbol);
        else if (!has_address)
            search->ended = yarn_u64_max(search->ended, symbol->start + symbol->size);
    }
}

/* Most entries of a table end here, after the look at a line or two that stay in the cache. */
static void take(struct yarn_name_pass *pass, const struct yarn_symbol_table *table,
                 const Elf64_Sym *entry)
{
    uint64_t start = entry->st_value;
    uint64_t last = start + yarn_u64_max(entry->st_size, 1) - 1;
    last = yarn_u64_max(start, last); /* a size may be anything */
    uint64_t offset = start > pass->low ? start - pass->low : 0;
    if (start >= pass->high || last < pass->low)
        return;
    size_t i = pass->first_of_bucket[offset >> pass->shift];
    if (pass->from[i] > last)
        return;
    struct yarn_elf_symbol symbol;
    if (!yarn_symbol_table_take(table, entry, &symbol))
        return;
    for (; pass->from[i] <= last; i++)
        if (in_order(pass, i)->to > start)
            consider(in_order(pass, i), &symbol);
}

static void consider_indexed(void *self, const struct yarn_elf_symbol *symbol)
{
    consider(self, symbol);
}

static void take_indexed(struct yarn_name_pass *pass, const struct yarn_symbol_index *index)
{
    for (size_t i = 0; pass->from[i] != UINT64_MAX; i++) {
        struct yarn_name_search *search = in_order(pass, i);
        yarn_symbol_index_visit(index, search->from, search->to, consider_indexed, search);
    }
}

Elf64_Sym *yarn_name_pass_room(struct yarn_name_pass *pass)
{
    return pass->entries;
}

int yarn_name_pass_over(struct yarn_name_pass *pass, const struct yarn_symbol_table *tables,
                        const struct yarn_symbol_index *indexes, size_t nr_tables,
                        uint64_t until_ns)
{
    sort(pass);
    for (size_t i = 0; pass->count && i < nr_tables; i++) {
        uint32_t first = indexes[i].symbols ? tables[i].count : 0;
        if (indexes[i].symbols)
            take_indexed(pass, &indexes[i]);
        while (first < tables[i].count) {
            size_t count = yarn_symbol_table_read(&tables[i], first, pass->entries);
            if (!count)
                return -ESTALE;
            for (size_t k = 0; k < count; k++)
                take(pass, &tables[i], &pass->entries[k]);
            first += (uint32_t)count;
            if (first < tables[i].count && yarn_clock_ns(YARN_TIME_MONOTONIC) >= until_ns)
                return -ETIMEDOUT;
        }
    }
    return 0;
}
