/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The symbols of a table that name code, in memory and by where they begin: for who asks one table
 * again and again, and has the room. Knows what covers a range; does not know which is the better.
 *
 * Threads: one owner at a time. Signals: not safe. Memory through pages.h only.
 */
#pragma once

#include "unwind/symbol/symbol_table.h"

struct yarn_symbol_index {
    struct yarn_elf_symbol *symbols; /* owned; as the table has them; NULL while closed */
    uint64_t *order;                 /* where each begins, and its number */
    uint64_t *reach;                 /* in that order: the last byte of each and all before it */
    size_t count, bytes;
};

/* False where it would be more than that many bytes, or the table cannot be read; it stays closed.
 * The table is borrowed. `room`: of YARN_SYMBOLS_AT_ONCE entries. */
bool yarn_symbol_index_open(struct yarn_symbol_index *index, const struct yarn_symbol_table *table,
                            Elf64_Sym *room, size_t most_bytes);

typedef void yarn_symbol_index_fn(void *self, const struct yarn_elf_symbol *symbol);

/* Each of which a byte is in [from, to), in no order; one without a size has its first. */
void yarn_symbol_index_visit(const struct yarn_symbol_index *index, uint64_t from, uint64_t to,
                             yarn_symbol_index_fn *each, void *self);

/* Idempotent. */
void yarn_symbol_index_close(struct yarn_symbol_index *index);
