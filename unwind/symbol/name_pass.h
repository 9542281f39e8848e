/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Which symbol names each of some addresses, found in one pass over the tables of a module: the
 * addresses are sorted, the tables are not, and nothing of them is kept but what may be an answer.
 * Knows which symbol may name which address; does not know files, frame information or stubs.
 *
 * Threads: one owner at a time. Signals: not safe. Memory through pages.h only.
 */
#pragma once

#include "unwind/symbol/symbol_index.h"

enum { YARN_NAME_SEARCHES_MAX = 1024 };

/* One address, and what the pass has seen around it. */
struct yarn_name_search {
    uint64_t vaddr;
    uint64_t from, to; /* an FDE, or the code between two, within which a name starts */
    bool has_fde;
    uint32_t number; /* the asker's */

    struct yarn_elf_symbol inner; /* the nearest that may name the address by itself */
    /* With an FDE: the nearest that begins before it and goes on behind it. Without: the nearest
     * without a size that is visible, and the nearest local function without a size. */
    struct yarn_elf_symbol outer, local;
    uint64_t below, above; /* where the nearest symbols start; 0, UINT64_MAX: nowhere */
    uint64_t ended;        /* the last end of those in the FDE that end before the address */
    uint64_t sized, label; /* below: the nearest with a size, the nearest local label */
};

struct yarn_name_pass;

YARN_MUST_CHECK int yarn_name_pass_new(struct yarn_name_pass **ret_pass);
/* NULL is allowed. */
void yarn_name_pass_free(struct yarn_name_pass *pass);

/* Clears what was asked before. */
void yarn_name_pass_begin(struct yarn_name_pass *pass);

/* `search` with vaddr, from, to, has_fde and number. False beyond YARN_NAME_SEARCHES_MAX. */
bool yarn_name_pass_add(struct yarn_name_pass *pass, const struct yarn_name_search *search);

/* Reads the tables, which must outlive the answers; of one that has an index, that. -ESTALE: one
 * could not be read; -ETIMEDOUT: it was `until_ns` of CLOCK_MONOTONIC before they were. */
YARN_MUST_CHECK int yarn_name_pass_over(struct yarn_name_pass *pass,
                                        const struct yarn_symbol_table *tables,
                                        const struct yarn_symbol_index *indexes, size_t nr_tables,
                                        uint64_t until_ns);

/* Room of YARN_SYMBOLS_AT_ONCE entries, between two passes. */
Elf64_Sym *yarn_name_pass_room(struct yarn_name_pass *pass);

/* In no order; NULL behind the last. */
const struct yarn_name_search *yarn_name_pass_at(const struct yarn_name_pass *pass, size_t i);
