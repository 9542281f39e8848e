/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * One symbol table of an ELF file (.symtab or .dynsym): the entries that name code, and which of
 * two names for one address is the better one.
 * Knows the table; does not know order, FDEs or where files come from. Bytes are untrusted.
 *
 * Threads, signals: as image.h.
 */
#pragma once

#include <elf.h>

#include "unwind/sections.h"

struct yarn_symbol_table {
    struct yarn_sections sections;
    struct yarn_section symbols, names;
    uint32_t count;
};

struct yarn_elf_symbol {
    const struct yarn_symbol_table *table; /* borrowed; NULL: there is no such symbol */
    uint64_t start, size;                  /* linked; size 0: unknown */
    uint32_t name_at;                      /* in the names of the table */
    bool is_function; /* FUNC or IFUNC; false: a label without a type in executable code */
    bool is_local;
};

/* `type`: SHT_SYMTAB or SHT_DYNSYM. Empty where the file has none. The image is borrowed. */
struct yarn_symbol_table yarn_symbol_table_of(const struct yarn_image *image, uint32_t type);

enum { YARN_SYMBOLS_AT_ONCE = 5461 }; /* 128 KiB */

/* Entries from `first` on, up to YARN_SYMBOLS_AT_ONCE, into the caller's memory, and nothing of
 * them is kept. How many: 0 at the end, or where they are unavailable. */
size_t yarn_symbol_table_read(const struct yarn_symbol_table *table, uint32_t first,
                              Elf64_Sym *ret_entries);

/* False where the entry names no code: undefined, absolute, data, sections, files, assembler
 * mapping symbols ($x, $d). */
bool yarn_symbol_table_take(const struct yarn_symbol_table *table, const Elf64_Sym *entry,
                            struct yarn_elf_symbol *ret_symbol);

/* The name that stands at `name_at`, without its version (memcpy@@GLIBC_2.14); empty where there is
 * none. Valid until the next in the same window (enum yarn_view_window). */
struct yarn_span yarn_symbol_table_text(const struct yarn_symbol_table *table, uint32_t name_at,
                                        unsigned window);

/* The same of any entry. */
struct yarn_span yarn_symbol_table_name(const struct yarn_symbol_table *table, uint32_t number);

/* Functions before labels, sized before unsized, visible before local, then fewer leading
 * underscores (libc: the weak `write` is the name that people know, `__write` is the strong one),
 * then the shorter, then the one that sorts first. Total, so the choice does not depend on the
 * order in the table. */
bool yarn_elf_symbol_is_better(const struct yarn_elf_symbol *a, const struct yarn_elf_symbol *b);
