/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/sections.h"

#include <elf.h>

static bool read_header(const struct yarn_sections *sections, uint32_t number, Elf64_Shdr *ret)
{
    uint64_t at = (uint64_t)number * sizeof *ret;
    return yarn_section_need(&sections->headers, at, sizeof *ret) &&
           yarn_span_read(sections->headers.bytes, at, ret, sizeof *ret);
}

static struct yarn_section content_of(const struct yarn_sections *sections,
                                      const Elf64_Shdr *header)
{
    bool has_bytes = header->sh_type != SHT_NOBITS && !(header->sh_flags & SHF_COMPRESSED);
    return yarn_image_section(sections->image, header->sh_offset, has_bytes ? header->sh_size : 0,
                              header->sh_addr);
}

struct yarn_sections yarn_sections_of(const struct yarn_image *image)
{
    struct yarn_sections sections = {.image = image};
    Elf64_Ehdr elf;
    Elf64_Shdr first, names;
    struct yarn_section head = yarn_image_section(image, 0, sizeof elf, 0);
    if (!yarn_section_read(&head, 0, &elf, sizeof elf) || elf.e_shentsize != sizeof first ||
        !elf.e_shoff)
        return sections;
    head = yarn_image_section(image, elf.e_shoff, sizeof first, 0);
    if (!yarn_section_read(&head, 0, &first, sizeof first))
        return sections;
    /* More sections than 16 bits count: the numbers are in the first header (gABI, ch. 4). */
    uint64_t count = elf.e_shnum ? elf.e_shnum : first.sh_size;
    uint32_t names_at = elf.e_shstrndx == SHN_XINDEX ? first.sh_link : elf.e_shstrndx;
    if (count > image->file_size / sizeof first || count > UINT32_MAX)
        return sections;
    sections.headers = yarn_image_section(image, elf.e_shoff, count * sizeof first, 0);
    if (sections.headers.bytes.size)
        sections.count = (uint32_t)count;
    if (read_header(&sections, names_at, &names))
        sections.names = content_of(&sections, &names);
    return sections;
}

bool yarn_sections_at(const struct yarn_sections *sections, uint32_t number,
                      struct yarn_elf_section *ret_section)
{
    Elf64_Shdr header;
    if (!read_header(sections, number, &header))
        return false;
    const char *name = yarn_section_text(&sections->names, header.sh_name, YARN_WINDOW_OTHER_NAME);
    *ret_section = (struct yarn_elf_section){
        .name = name ? name : "",
        .type = header.sh_type,
        .flags = header.sh_flags,
        .size = header.sh_size,
        .entry_size = header.sh_entsize,
        .link = header.sh_link,
        .info = header.sh_info,
        .content = content_of(sections, &header),
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
