/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * ELF64 files made by hand, in memory, for tests: content first, then the headers that describe it.
 * Nothing is checked: what the test asks for is what stands in the file.
 */
#pragma once

#include <elf.h>

#include "core/base/span.h"

enum { MADE_ELF_BYTES = 64 << 10, MADE_ELF_SEGMENTS = 64, MADE_ELF_SECTIONS = 32 };

struct made_elf {
    uint8_t bytes[MADE_ELF_BYTES];
    size_t size;
    Elf64_Ehdr header;
    Elf64_Phdr segments[MADE_ELF_SEGMENTS];
    Elf64_Shdr sections[MADE_ELF_SECTIONS];
    char names[1024]; /* of sections */
    size_t names_size;
};

void made_elf_begin(struct made_elf *elf, uint16_t machine);

/* Where it stands in the file. */
uint64_t made_elf_put(struct made_elf *elf, const void *data, size_t size, size_t align);

/* The whole file at `vaddr`, as one loadable segment. */
void made_elf_load_all(struct made_elf *elf, uint64_t vaddr, size_t size);
Elf64_Phdr *made_elf_segment(struct made_elf *elf, uint32_t type, uint32_t flags, uint64_t vaddr,
                             uint64_t file_offset, uint64_t size);

/* Number 1 is the first. */
Elf64_Shdr *made_elf_section(struct made_elf *elf, const char *name, uint32_t type, uint64_t flags,
                             uint64_t vaddr, uint64_t file_offset, uint64_t size);
uint16_t made_elf_last_section(const struct made_elf *elf);

/* .eh_frame with one CIE and an FDE for each [start, end), pc-relative, at the address that its
 * place in the file has in a segment that loads the whole file at `file_vaddr`. */
struct made_function {
    uint64_t start, end;
};
void made_elf_eh_frame(struct made_elf *elf, uint64_t file_vaddr,
                       const struct made_function *functions, size_t count);

struct made_symbol {
    const char *name;
    uint64_t value, size;
    unsigned type, binding; /* STT_*, STB_* */
    uint16_t section;
};
/* .symtab or .dynsym (`type`) with its string table. */
void made_elf_symbols(struct made_elf *elf, uint32_t type, const struct made_symbol *symbols,
                      size_t count);

/* Writes the headers: the finished file. Borrowed from `elf`. */
struct yarn_span made_elf_end(struct made_elf *elf);
