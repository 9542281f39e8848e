/* SPDX-License-Identifier: Apache-2.0 */
#include "output/dump/interner.h"

#include "core/base/pages.h"

enum {
    SLOT_BYTES = 16, /* of a table */
    FIRST_SLOTS = 256,
};

/* Most of what is interned are stacks: they get half of the memory. A table that doubles needs half
 * as much again for a moment, which is left for it. */
int yarn_dump_interner_open(struct yarn_dump_interner *interner, size_t bound)
{
    size_t slots = bound / SLOT_BYTES;
    struct yarn_dump_interner opened = {
        .max_symbols =
            yarn_size_min(yarn_size_max(bound / 16 / sizeof(uint64_t), 64), YARN_DUMP_SYMBOLS_MAX),
    };
    int err = yarn_table_open(&opened.strings, FIRST_SLOTS, slots / 8);
    if (err)
        goto fail;
    err = yarn_table_open(&opened.symbols, FIRST_SLOTS, slots / 8);
    if (err)
        goto fail;
    err = yarn_table_open(&opened.stacks, FIRST_SLOTS, slots / 3);
    if (err)
        goto fail;
    yarn_room_open(&opened.starts, opened.max_symbols * sizeof(uint64_t));
    *interner = opened;
    return 0;

fail:
    yarn_dump_interner_close(&opened);
    return err;
}

void yarn_dump_interner_close(struct yarn_dump_interner *interner)
{
    yarn_table_close(&interner->strings);
    yarn_table_close(&interner->symbols);
    yarn_table_close(&interner->stacks);
    yarn_room_close(&interner->starts);
}

void yarn_dump_interner_restart(struct yarn_dump_interner *interner)
{
    yarn_table_clear(&interner->strings);
    yarn_table_clear(&interner->symbols);
    yarn_table_clear(&interner->stacks);
    interner->nr_strings = 0;
    interner->nr_symbols = 0;
    interner->nr_frames = 0;
    interner->nr_stacks = 0;
    interner->is_crowded = false;
}

static uint64_t hash_of(struct yarn_span text, uint64_t seed)
{
    uint64_t hash = yarn_hash_u64(seed ^ (text.size + 1));
    for (size_t at = 0; at < text.size; at += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, text.data + at, yarn_size_min(text.size - at, sizeof word));
        hash = yarn_hash_u64(hash ^ word) + at;
    }
    return hash;
}

/* The key's number; a new key gets *next, which is incremented. */
static uint32_t find_or_add(struct yarn_dump_interner *interner, struct yarn_table *table,
                            uint64_t key, uint32_t *next, size_t max, bool *ret_is_new)
{
    uint32_t number = yarn_table_find(table, key);
    if (number != YARN_TABLE_NONE) {
        *ret_is_new = false;
        return number;
    }
    if (*next >= max) {
        interner->is_crowded = true;
        return YARN_DUMP_NONE;
    }
    if (yarn_table_put(table, key, *next))
        interner->is_crowded = true;
    *ret_is_new = true;
    return (*next)++;
}

uint32_t yarn_dump_interner_string(struct yarn_dump_interner *interner, struct yarn_span text,
                                   bool *ret_is_new)
{
    return find_or_add(interner, &interner->strings, hash_of(text, 0), &interner->nr_strings,
                       YARN_DUMP_STRINGS_MAX, ret_is_new);
}

uint32_t yarn_dump_interner_symbol(struct yarn_dump_interner *interner,
                                   const struct yarn_dump_symbol *symbol, bool *ret_is_new)
{
    uint64_t key = hash_of(symbol->name, yarn_hash_u64(symbol->start) + symbol->module);
    size_t most = interner->max_symbols;
    if (!yarn_room_back(&interner->starts, (interner->nr_symbols + 1) * sizeof(uint64_t)))
        most = interner->nr_symbols;
    interner->symbol_starts = (uint64_t *)interner->starts.base;
    uint32_t number =
        find_or_add(interner, &interner->symbols, key, &interner->nr_symbols, most, ret_is_new);
    if (number != YARN_DUMP_NONE && *ret_is_new)
        interner->symbol_starts[number] = symbol->start;
    return number;
}

uint32_t yarn_dump_interner_stack(struct yarn_dump_interner *interner, uint32_t parent,
                                  uint32_t frame, bool *ret_is_new)
{
    uint64_t key = (uint64_t)parent << 32 | frame;
    return find_or_add(interner, &interner->stacks, key, &interner->nr_stacks, YARN_DUMP_STACKS_MAX,
                       ret_is_new);
}

uint32_t yarn_dump_interner_frame(struct yarn_dump_interner *interner)
{
    if (interner->nr_frames >= YARN_DUMP_FRAMES_MAX) {
        interner->is_crowded = true;
        return YARN_DUMP_NONE;
    }
    return interner->nr_frames++;
}
