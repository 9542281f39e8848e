/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/made_elf.h"

void made_elf_begin(struct made_elf *elf, uint16_t machine)
{
    memset(elf, 0, sizeof *elf);
    elf->header = (Elf64_Ehdr){
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_DYN,
        .e_machine = machine,
        .e_version = EV_CURRENT,
        .e_ehsize = sizeof(Elf64_Ehdr),
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = 1,
    };
    elf->size = sizeof elf->header;
    elf->names_size = 1;
}

uint64_t made_elf_put(struct made_elf *elf, const void *data, size_t size, size_t align)
{
    size_t at = yarn_align_up(elf->size, align);
    memcpy(elf->bytes + at, data, size);
    elf->size = at + size;
    return at;
}

Elf64_Phdr *made_elf_segment(struct made_elf *elf, uint32_t type, uint32_t flags, uint64_t vaddr,
                             uint64_t file_offset, uint64_t size)
{
    Elf64_Phdr *segment = &elf->segments[elf->header.e_phnum++];
    *segment = (Elf64_Phdr){
        .p_type = type,
        .p_flags = flags,
        .p_offset = file_offset,
        .p_vaddr = vaddr,
        .p_paddr = vaddr,
        .p_filesz = size,
        .p_memsz = size,
        .p_align = type == PT_LOAD ? 4096 : 4,
    };
    return segment;
}

void made_elf_load_all(struct made_elf *elf, uint64_t vaddr, size_t size)
{
    made_elf_segment(elf, PT_LOAD, PF_R | PF_X, vaddr, 0, size);
}

Elf64_Shdr *made_elf_section(struct made_elf *elf, const char *name, uint32_t type, uint64_t flags,
                             uint64_t vaddr, uint64_t file_offset, uint64_t size)
{
    Elf64_Shdr *section = &elf->sections[elf->header.e_shnum++];
    *section = (Elf64_Shdr){
        .sh_name = (uint32_t)elf->names_size,
        .sh_type = type,
        .sh_flags = flags,
        .sh_addr = vaddr,
        .sh_offset = file_offset,
        .sh_size = size,
    };
    memcpy(elf->names + elf->names_size, name, strlen(name) + 1);
    elf->names_size += strlen(name) + 1;
    return section;
}

uint16_t made_elf_last_section(const struct made_elf *elf)
{
    return (uint16_t)(elf->header.e_shnum - 1);
}

/* Version 1, "zR", code alignment 1, data alignment -8, return address in 16, pcrel sdata4. */
static const uint8_t made_cie[] = {20, 0,    0,  0, 0,    0,    0, 0, 1,    'z', 'R', 0,
                                   1,  0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1,   0,   0};

void made_elf_eh_frame(struct made_elf *elf, uint64_t file_vaddr,
                       const struct made_function *functions, size_t count)
{
    uint64_t begin = made_elf_put(elf, made_cie, sizeof made_cie, 8);
    for (size_t i = 0; i < count; i++) {
        uint64_t at = elf->size;
        uint32_t fde[6] = {20,
                           (uint32_t)(at + 4 - begin),
                           (uint32_t)(functions[i].start - (file_vaddr + at + 8)),
                           (uint32_t)(functions[i].end - functions[i].start),
                           0,
                           0};
        made_elf_put(elf, fde, sizeof fde, 4);
    }
    uint32_t end = 0;
    made_elf_put(elf, &end, sizeof end, 4);
    made_elf_section(elf, ".eh_frame", SHT_PROGBITS, SHF_ALLOC, file_vaddr + begin, begin,
                     elf->size - begin);
}

void made_elf_symbols(struct made_elf *elf, uint32_t type, const struct made_symbol *symbols,
                      size_t count)
{
    uint64_t names = made_elf_put(elf, "", 1, 1);
    uint32_t name_at[256];
    for (size_t i = 0; i < count; i++)
        name_at[i] =
            (uint32_t)(made_elf_put(elf, symbols[i].name, strlen(symbols[i].name) + 1, 1) - names);
    made_elf_section(elf, type == SHT_SYMTAB ? ".strtab" : ".dynstr", SHT_STRTAB, 0, 0, names,
                     elf->size - names);
    uint16_t names_section = made_elf_last_section(elf);
    Elf64_Sym none = {.st_name = 0};
    uint64_t begin = made_elf_put(elf, &none, sizeof none, 8);
    for (size_t i = 0; i < count; i++) {
        Elf64_Sym symbol = {
            .st_name = symbols[i].name[0] ? name_at[i] : 0,
            .st_info = (unsigned char)ELF64_ST_INFO(symbols[i].binding, symbols[i].type),
            .st_shndx = symbols[i].section,
            .st_value = symbols[i].value,
            .st_size = symbols[i].size,
        };
        made_elf_put(elf, &symbol, sizeof symbol, 8);
    }
    Elf64_Shdr *section = made_elf_section(elf, type == SHT_SYMTAB ? ".symtab" : ".dynsym", type, 0,
                                           0, begin, elf->size - begin);
    section->sh_link = names_section;
    section->sh_entsize = sizeof(Elf64_Sym);
}

struct yarn_span made_elf_end(struct made_elf *elf)
{
    Elf64_Shdr *names = made_elf_section(elf, ".shstrtab", SHT_STRTAB, 0, 0, 0, 0);
    names->sh_offset = made_elf_put(elf, elf->names, elf->names_size, 1);
    names->sh_size = elf->names_size;
    elf->header.e_shstrndx = made_elf_last_section(elf);
    elf->header.e_phoff =
        made_elf_put(elf, elf->segments, elf->header.e_phnum * sizeof(Elf64_Phdr), 8);
    elf->header.e_shoff =
        made_elf_put(elf, elf->sections, elf->header.e_shnum * sizeof(Elf64_Shdr), 8);
    memcpy(elf->bytes, &elf->header, sizeof elf->header);
    return yarn_span_of(elf->bytes, elf->size);
}
