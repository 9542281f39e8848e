/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/image_extents.h"

#include <elf.h>
#include <sys/stat.h>

#include "core/base/pages.h"

enum {
    HEAD_BYTES = 4096,
    SEGMENTS_AT_ONCE = 32,
    SECTIONS_MAX = 64 << 10,
    NAMES_MAX = 1 << 20,
    NOTES_MAX = 1 << 16,
};

struct choice {
    const struct yarn_view_file *file;
    struct yarn_view_extents extents;
    uint64_t code_bytes;
    Elf64_Phdr tables; /* the segment that .eh_frame_hdr lies in; p_filesz 0: none */
};

static bool read_at(const struct yarn_view_file *file, void *ret, size_t size, uint64_t offset)
{
    return yarn_file_read_at(file->fd, ret, size, offset) == (ssize_t)size;
}

static void choose_segment(struct choice *choice, const Elf64_Phdr *segment)
{
    if (segment->p_type == PT_LOAD && segment->p_flags & PF_X)
        choice->code_bytes += segment->p_filesz;
    if (segment->p_type == PT_NOTE && segment->p_filesz <= NOTES_MAX)
        yarn_view_want(&choice->extents, segment->p_offset, segment->p_filesz);
    if (segment->p_type == PT_GNU_EH_FRAME)
        yarn_view_want(&choice->extents, segment->p_offset, segment->p_filesz);
}

/* .eh_frame has no end of its own where there are no section headers. */
static void choose_tables(struct choice *choice, const Elf64_Phdr *segments, unsigned count)
{
    const Elf64_Phdr *header = NULL;
    for (unsigned i = 0; i < count; i++)
        if (segments[i].p_type == PT_GNU_EH_FRAME)
            header = &segments[i];
    for (unsigned i = 0; header && i < count; i++)
        if (segments[i].p_type == PT_LOAD && header->p_vaddr >= segments[i].p_vaddr &&
            header->p_vaddr - segments[i].p_vaddr < segments[i].p_filesz)
            choice->tables = segments[i];
}

static void choose_segments(struct choice *choice, const Elf64_Ehdr *elf)
{
    Elf64_Phdr segments[SEGMENTS_AT_ONCE];
    yarn_view_want(&choice->extents, elf->e_phoff, (uint64_t)elf->e_phnum * sizeof segments[0]);
    for (unsigned at = 0; at < elf->e_phnum; at += SEGMENTS_AT_ONCE) {
        unsigned count =
            elf->e_phnum - at < SEGMENTS_AT_ONCE ? elf->e_phnum - at : SEGMENTS_AT_ONCE;
        if (!read_at(choice->file, segments, count * sizeof segments[0],
                     elf->e_phoff + at * sizeof segments[0]))
            return;
        for (unsigned i = 0; i < count; i++)
            choose_segment(choice, &segments[i]);
        choose_tables(choice, segments, count);
    }
}

static bool is_wanted(const Elf64_Shdr *section, const char *name)
{
    static const char *const names[] = {
        ".eh_frame",      ".eh_frame_hdr", ".debug_frame", ".plt",           ".plt.sec",
        ".plt.got",       ".rela.plt",     ".rela.dyn",    ".gnu_debuglink", ".symtab",
        ".gnu_debugdata", ".dynsym",       ".strtab",      ".dynstr",        ".shstrtab"};
    if (section->sh_type == SHT_NOBITS)
        return false;
    if (section->sh_type == SHT_SYMTAB || section->sh_type == SHT_DYNSYM ||
        (section->sh_type == SHT_NOTE && section->sh_size <= NOTES_MAX))
        return true;
    for (size_t i = 0; i < YARN_COUNT_OF(names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static void choose_named(struct choice *choice, struct yarn_span headers, struct yarn_span names)
{
    Elf64_Shdr section;
    for (uint64_t at = 0; yarn_span_read(headers, at, &section, sizeof section);
         at += sizeof section) {
        const char *name = yarn_span_text(names, section.sh_name);
        if (is_wanted(&section, name ? name : ""))
            yarn_view_want(&choice->extents, section.sh_offset, section.sh_size);
    }
}

/* As sections.c counts them. */
static bool find_headers(const struct choice *choice, const Elf64_Ehdr *elf, uint64_t *ret_count,
                         uint32_t *ret_names)
{
    Elf64_Shdr first = {.sh_size = 0};
    bool says_first = !elf->e_shnum || elf->e_shstrndx == SHN_XINDEX;
    if (!elf->e_shoff || elf->e_shentsize != sizeof first ||
        (says_first && !read_at(choice->file, &first, sizeof first, elf->e_shoff)))
        return false;
    *ret_count = elf->e_shnum ? elf->e_shnum : first.sh_size;
    *ret_names = elf->e_shstrndx == SHN_XINDEX ? first.sh_link : elf->e_shstrndx;
    return *ret_count && *ret_count <= SECTIONS_MAX;
}

static bool choose_among(struct choice *choice, const Elf64_Ehdr *elf, uint8_t *memory,
                         size_t header_bytes, const Elf64_Shdr *names)
{
    struct yarn_span headers = yarn_span_of(memory, header_bytes);
    size_t size = names->sh_size;
    if (!read_at(choice->file, memory, header_bytes, elf->e_shoff))
        return false;
    if (!read_at(choice->file, memory + header_bytes, size, names->sh_offset))
        size = 0;
    yarn_view_want(&choice->extents, elf->e_shoff, header_bytes);
    yarn_view_want(&choice->extents, names->sh_offset, size);
    choose_named(choice, headers, yarn_span_of(memory + header_bytes, size));
    return true;
}

/* False where there are none. */
static bool choose_sections(struct choice *choice, const Elf64_Ehdr *elf)
{
    uint64_t count;
    uint32_t names_at;
    if (!find_headers(choice, elf, &count, &names_at))
        return false;
    Elf64_Shdr names = {.sh_size = 0};
    size_t header_bytes = (size_t)count * sizeof names;
    if (names_at < count &&
        !read_at(choice->file, &names, sizeof names, elf->e_shoff + names_at * sizeof names))
        return false;
    names.sh_size = yarn_u64_min(names.sh_size, NAMES_MAX);
    uint8_t *memory = yarn_pages_map(header_bytes + names.sh_size);
    bool has_any = memory && choose_among(choice, elf, memory, header_bytes, &names);
    yarn_pages_unmap(memory, header_bytes + names.sh_size);
    return has_any;
}

int yarn_image_view(struct yarn_view **ret_view, struct yarn_view_file *file)
{
    Elf64_Ehdr elf;
    struct choice choice = {.file = file};
    if (!S_ISREG(file->info.mode) || !read_at(file, &elf, sizeof elf, 0) ||
        memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 || elf.e_ident[EI_CLASS] != ELFCLASS64 ||
        elf.e_phentsize != sizeof(Elf64_Phdr))
        return -ENOEXEC;
    yarn_view_want(&choice.extents, 0, HEAD_BYTES);
    choose_segments(&choice, &elf);
    if (!choose_sections(&choice, &elf))
        yarn_view_want(&choice.extents, choice.tables.p_offset, choice.tables.p_filesz);
    return yarn_view_open(ret_view, file, &choice.extents, choice.code_bytes);
}
