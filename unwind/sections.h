/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The section headers of one ELF64 file: sections by number and by name. A file may have
 * none (stripped of them, or cut), which is an empty table and no failure.
 * Knows section headers; does not know what is in a section, nor segments (image).
 *
 * Threads, signals: pure functions over values; safe anywhere.
 */
#pragma once

#include "unwind/image.h"

struct yarn_sections {
    const struct yarn_image *image; /* borrowed */
    struct yarn_section headers;    /* `count` whole ones */
    struct yarn_section names;
    uint32_t count;
};

struct yarn_elf_section {
    const char *name; /* inside the file; "" where it has none */
    uint32_t type;    /* SHT_* */
    uint64_t flags;   /* SHF_* */
    uint64_t size;    /* in memory */
    uint64_t entry_size;
    uint32_t link, info;
    /* Empty where the section has no bytes in the file, lies outside it or is compressed. */
    struct yarn_section content;
};

/* The section headers themselves are read. */
struct yarn_sections yarn_sections_of(const struct yarn_image *image);

/* False where there is no section of that number. */
bool yarn_sections_at(const struct yarn_sections *sections, uint32_t number,
                      struct yarn_elf_section *ret_section);

/* The first section of that name. */
bool yarn_sections_find(const struct yarn_sections *sections, const char *name,
                        struct yarn_elf_section *ret_section);
