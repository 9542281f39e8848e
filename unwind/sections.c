/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/sections.h"

#include <elf.h>

static bool read_header(const struct yarn_sections *sections, uint32_t number, Elf64_Shdr *ret)
{
    return yarn_span_read(sections->headers, (uint64_t)number * sizeof *ret, ret, sizeof *ret);
}

static struct yarn_span bytes_of(const struct yarn_sections *sections, const Elf64_Shdr *header)
{
    if (header->sh_type == SHT_NOBITS || (header->sh_flags & SHF_COMPRESSED))
        return YARN_SPAN_EMPTY;
    return yarn_span_sub(sections->file, header->sh_offset, header->sh_size);
}

struct yarn_sections yarn_sections_of(struct yarn_span file)
{
    struct yarn_sections sections = {.file = file};
    Elf64_Ehdr elf;
    Elf64_Shdr first, names;
    if (!yarn_span_read(file, 0, &elf, sizeof elf) || elf.e_shentsize != sizeof first ||
        !elf.e_shoff || !yarn_span_read(file, elf.e_shoff, &first, sizeof first))
        return sections;
    /* More sections than 16 bits count: the numbers are in the first header (gABI, ch. 4). */
    uint64_t count = elf.e_shnum ? elf.e_shnum : first.sh_size;
    uint32_t names_at = elf.e_shstrndx == SHN_XINDEX ? first.sh_link : elf.e_shstrndx;
    if (count > file.size / sizeof first || count > UINT32_MAX)
        return sections;
    sections.headers = yarn_span_sub(file, elf.e_shoff, count * sizeof first);
    if (sections.headers.size)
        sections.count = (uint32_t)count;
    if (read_header(&sections, names_at, &names))
        sections.names = bytes_of(&sections, &names);
    return sections;
}

bool yarn_sections_at(const struct yarn_sections *sections, uint32_t number,
                      struct yarn_elf_section *ret_section)
{
    Elf64_Shdr header;
    if (!read_header(sections, number, &header))
        return false;
    const char *name = yarn_span_text(sections->names, header.sh_name);
    *ret_section = (struct yarn_elf_section){
        .name = name ? name : "",
        .type = header.sh_type,
        .flags = header.sh_flags,
        .vaddr = header.sh_addr,
        .entry_size = header.sh_entsize,
        .link = header.sh_link,
        .info = header.sh_info,
        .bytes = bytes_of(sections, &header),
    };
    return true;
}

bool yarn_sections_find(const struct yarn_sections *sections, const char *name,
                        struct yarn_elf_section *ret_section)
{
    struct yarn_elf_section section;
    for (uint32_t i = 0; i < sections->count; i++) {
        if (yarn_sections_at(sections, i, &section) && strcmp(section.name, name) == 0) {
            *ret_section = section;
            return true;
        }
    }
    return false;
}
