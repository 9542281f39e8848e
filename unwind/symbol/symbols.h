/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The names of the functions that hold linked addresses of an image: ELF symbol tables, each name
 * accepted only if it starts in the FDE that covers the address (else the nearest symbol would
 * lend a stripped function its neighbour's name). Where there is no name there is still the
 * function's start, so that samples group rightly. Where no FDE covers the address either, a symbol
 * counts within its own size, or where it has none (hand-written assembly) up to the next symbol,
 * FDE or section, and not behind its last instruction where its code shows that (code_end.h). Stubs
 * of the PLT are "NAME@plt". Tables: .symtab; without it .dynsym and the separate debug file
 * (debug_file.h), or .gnu_debugdata where there is none. Many addresses are asked for at once, in
 * one pass over the tables (name_pass.h), which are not kept unless that is asked for. Knows symbol
 * tables; does not know processes, demangling or lines (the tool does those).
 *
 * Threads: one owner at a time. Signals: not safe. Memory through pages.h only.
 */
#pragma once

#include "core/base/arena.h"
#include "unwind/cfi.h"

struct yarn_symbol {
    struct yarn_span name; /* borrowed; empty: unknown */
    uint64_t start, end;   /* of the function, linked; start == end == 0 where unknown */
    uint64_t from, to;     /* each address of [from, to) under the same FDE has the same answer */
};

struct yarn_symbol_question {
    uint64_t vaddr;      /* a lookup address (inside the instruction), linked in the image */
    uint64_t start, end; /* of the FDE that covers it; equal: it is looked for, and set if found */
    struct yarn_symbol answer;
    bool is_answered; /* it and its name had room */
};

struct yarn_symbols;

YARN_MUST_CHECK int yarn_symbols_new(struct yarn_symbols **ret_symbols);
void yarn_symbols_free(struct yarn_symbols *symbols);

/* From now on tables that are asked often are kept, for who asks for many processes: within
 * 64 MiB. */
void yarn_symbols_keep_tables(struct yarn_symbols *symbols);

/* Gives up what is known of images that were closed. */
void yarn_symbols_sweep(struct yarn_symbols *symbols);

/* About how long questions to the image will take, however many they are. `path`: of the image,
 * for its debug file. */
uint64_t yarn_symbols_cost_ns(struct yarn_symbols *symbols, const struct yarn_image *image,
                              const char *path);

/* Answers them all, as far as `names` has room for the names. -ETIMEDOUT, and no answers: it was
 * `until_ns` of CLOCK_MONOTONIC before; -ESTALE: the file cannot be read. */
YARN_MUST_CHECK int yarn_symbols_ask(struct yarn_symbols *symbols, const struct yarn_image *image,
                                     const char *path, struct yarn_symbol_question *questions,
                                     size_t count, struct yarn_arena *names, uint64_t until_ns);
