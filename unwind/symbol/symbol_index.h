/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The code symbols of one module in order of address, one name an address, from up to two tables
 * (its own, and its debug file's or its .gnu_debugdata's). Eight bytes a symbol in pages of our
 * own; the rest stays in the tables. Knows order and nearness; does not know FDEs or files.
 *
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "core/base/search.h"
#include "unwind/symbol/symbol_table.h"

enum { YARN_SYMBOL_TABLES_MAX = 2 };

struct yarn_symbol_index {
    struct yarn_symbol_table tables[YARN_SYMBOL_TABLES_MAX]; /* borrowed files */
    uint64_t base;
    uint64_t *keys; /* owned: (start - base) << 32 | table << 30 | number in the table */
    size_t count;
    struct yarn_search_guide guide; /* owned; of the keys */
};

/* Symbols below `base`, 4 GiB or more above it, and beyond 4 Mi in all are left out. Tables may be
 * empty. */
YARN_MUST_CHECK int yarn_symbol_index_open(struct yarn_symbol_index *index, uint64_t base,
                                           const struct yarn_symbol_table *tables,
                                           size_t nr_tables);

/* The number of symbols that start at or below the address: the nearest is that minus 1. */
size_t yarn_symbol_index_position(const struct yarn_symbol_index *index, uint64_t vaddr);

/* Where the symbol at that position starts; UINT64_MAX behind the last. */
uint64_t yarn_symbol_index_start(const struct yarn_symbol_index *index, size_t position);

/* False where there is no symbol at that position (or the file has changed under us). */
bool yarn_symbol_index_at(const struct yarn_symbol_index *index, size_t position,
                          struct yarn_elf_symbol *ret_symbol, struct yarn_span *ret_name);

/* Idempotent. */
void yarn_symbol_index_close(struct yarn_symbol_index *index);
