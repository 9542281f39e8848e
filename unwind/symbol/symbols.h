/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The name of the function that holds a linked address of an image: ELF symbol tables, each name
 * accepted only if it starts in the FDE that covers the address (else the nearest symbol would
 * lend a stripped function its neighbour's name). Where there is no name there is still the
 * function's start, so that samples group rightly. Where no FDE covers the address either, a symbol
 * counts within its own size, or where it has none (hand-written assembly) up to the next symbol,
 * FDE or section. Stubs of the PLT are "NAME@plt". Tables: .symtab; without it .dynsym and the
 * separate debug file (debug_file.h), or .gnu_debugdata where there is none. Knows symbol tables;
 * does not know processes, demangling or lines (the tool does those).
 *
 * Threads: one owner at a time. Signals: not safe. Memory through pages.h only.
 */
#pragma once

#include "unwind/cfi.h"
#include "unwind/module_map.h"

struct yarn_symbol {
    struct yarn_span name; /* borrowed until the next is looked for; empty: unknown */
    uint64_t start, end;   /* of the function, linked; start == end == 0 where unknown */
    uint64_t from, to;     /* each address of [from, to) under the same FDE has the same answer */
};

struct yarn_symbols;

YARN_MUST_CHECK int yarn_symbols_new(struct yarn_symbols **ret_symbols);
void yarn_symbols_free(struct yarn_symbols *symbols);

/* After yarn_module_map_sweep: gives up what is known of images that it closed. */
void yarn_symbols_sweep(struct yarn_symbols *symbols);

/* `vaddr` is a lookup address (inside the instruction) linked in the module's image. Always fills
 * *ret_symbol; true where it has a name. */
bool yarn_symbols_find(struct yarn_symbols *symbols, const struct yarn_module *module,
                       uint64_t vaddr, struct yarn_symbol *ret_symbol);

/* The same, where the caller knows which code [start, end) the FDE covers that covers the address.
 */
bool yarn_symbols_find_in(struct yarn_symbols *symbols, const struct yarn_module *module,
                          uint64_t vaddr, uint64_t start, uint64_t end,
                          struct yarn_symbol *ret_symbol);
