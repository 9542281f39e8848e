/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The code symbols of one module in order of address, from up to two tables
 * (its own, and its debug file's or its .gnu_debugdata's). Sixteen bytes a symbol in pages of
 * our own; the names stay in the tables. Knows order and nearness; does not know FDEs or files.
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
    uint64_t *keys; /* owned: start - base, then flags and which facts are its own */
    struct yarn_symbol_facts *facts; /* owned: as many, in the order of the tables */
    size_t count;
    struct yarn_search_index sparse; /* owned; of the keys */
};

/* Symbols below `base`, 512 GiB or more above it, and beyond 4 Mi in all are left out. Tables may
 * be empty. */
YARN_MUST_CHECK int yarn_symbol_index_open(struct yarn_symbol_index *index, uint64_t base,
                                           const struct yarn_symbol_table *tables,
                                           size_t nr_tables);

/* The number of symbols that start at or below the address: the nearest is that minus 1. */
size_t yarn_symbol_index_position(const struct yarn_symbol_index *index, uint64_t vaddr);

/* Where the symbol at that position starts; UINT64_MAX behind the last. */
uint64_t yarn_symbol_index_start(const struct yarn_symbol_index *index, size_t position);

/* Whether any of those that start where the symbol at that position does goes on up to `end`. */
bool yarn_symbol_index_reaches(const struct yarn_symbol_index *index, size_t position,
                               uint64_t end);

/* The best of those that start where the symbol at that position does, which is the last of them;
 * the position of the first in *ret_first. Of more than 64 that start in one place only the last 64
 * count. The name is empty where it is no longer available, and valid until the next call. */
bool yarn_symbol_index_at(const struct yarn_symbol_index *index, size_t position,
                          struct yarn_elf_symbol *ret_symbol, struct yarn_span *ret_name,
                          size_t *ret_first);

/* Idempotent. */
void yarn_symbol_index_close(struct yarn_symbol_index *index);
