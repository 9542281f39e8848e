/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Which number a string, a symbol or a stack has in this epoch: tables within a bound. Strings and
 * symbols are known by a 64-bit hash of what they are (two different ones of one hash would become
 * one; among a million that is one chance in 10^7), stacks exactly. What does not fit into a
 * full table still gets a number; it is then stored again the next time.
 *
 * Knows no bytes of the file. Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "core/base/room.h"
#include "core/base/table.h"
#include "output/dump/format.h"
#include "output/dump/types.h"

struct yarn_dump_interner {
    struct yarn_table strings, symbols, stacks; /* hash -> number */
    struct yarn_room starts;
    uint64_t *symbol_starts; /* in that room; of max_symbols at most */
    size_t max_symbols;
    uint32_t nr_strings, nr_symbols, nr_frames, nr_stacks; /* of this epoch */
    bool is_crowded; /* a table is full: time for a new epoch */
};

YARN_MUST_CHECK int yarn_dump_interner_open(struct yarn_dump_interner *interner, size_t bound);
/* Idempotent. */
void yarn_dump_interner_close(struct yarn_dump_interner *interner);
/* Numbering restarts at 0. */
void yarn_dump_interner_restart(struct yarn_dump_interner *interner);

/* The number; *ret_is_new says that it must be stored. YARN_DUMP_NONE where there are no more. */
uint32_t yarn_dump_interner_string(struct yarn_dump_interner *interner, struct yarn_span text,
                                   bool *ret_is_new);
uint32_t yarn_dump_interner_symbol(struct yarn_dump_interner *interner,
                                   const struct yarn_dump_symbol *symbol, bool *ret_is_new);
uint32_t yarn_dump_interner_stack(struct yarn_dump_interner *interner, uint32_t parent,
                                  uint32_t frame, bool *ret_is_new);
uint32_t yarn_dump_interner_frame(struct yarn_dump_interner *interner);
