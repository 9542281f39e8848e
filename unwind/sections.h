/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The section headers of one ELF64 file in memory: sections by number and by name. A file may have
 * none (stripped of them, or cut), which is an empty table and no failure.
 * Knows section headers; does not know what is in a section, nor segments (image).
 *
 * Threads, signals: pure functions over values; safe anywhere.
 */
#pragma once

#include "core/base/span.h"

struct yarn_sections {
    struct yarn_span file;    /* borrowed */
    struct yarn_span headers; /* inside `file`: `count` whole headers */
    struct yarn_span names;   /* inside `file` */
    uint32_t count;
};

struct yarn_elf_section {
    const char *name; /* inside the file; "" where it has none */
    uint32_t type;    /* SHT_* */
    uint64_t flags;   /* SHF_* */
    uint64_t vaddr;
    uint64_t entry_size;
    uint32_t link, info;
    /* Empty where the section has no bytes in the file, lies outside it or is compressed. */
    struct yarn_span bytes;
};

struct yarn_sections yarn_sections_of(struct yarn_span file);

/* False where there is no section of that number. */
bool yarn_sections_at(const struct yarn_sections *sections, uint32_t number,
                      struct yarn_elf_section *ret_section);

/* The first section of that name. */
bool yarn_sections_find(const struct yarn_sections *sections, const char *name,
                        struct yarn_elf_section *ret_section);
