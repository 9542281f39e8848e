/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "core/base/pages.h"
#include "core/sys/file.h"
#include "unwind/image.h"
#include "unwind/sections.h"
#include "unwind/view.h"

/* So many bytes of unwind tables are read at once. */
enum { READ_AT_ONCE = 256 << 10 };

/* Which parts of an ELF file are read at all: its headers, notes, unwind tables, symbols with
 * their names, and what leads to symbols elsewhere. Not its code (yarn_view_peek) nor its data,
 * which are most of it. Knows ELF containers; does not know what is in a section. */

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

/* -ENOEXEC where it is no ELF file. */
static int view_image(struct yarn_view **ret_view, struct yarn_view_file *file)
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

static bool is_ours(const Elf64_Ehdr *elf)
{
    return memcmp(elf->e_ident, ELFMAG, SELFMAG) == 0 && elf->e_ident[EI_CLASS] == ELFCLASS64 &&
           elf->e_ident[EI_DATA] == ELFDATA2LSB &&
           (elf->e_type == ET_EXEC || elf->e_type == ET_DYN) && elf->e_machine == EM_X86_64 &&
           elf->e_phentsize == sizeof(Elf64_Phdr);
}

static uint64_t note_align(uint64_t size, uint64_t align)
{
    return (size + align - 1) & ~(align - 1);
}

/* Notes of a segment aligned to 8 (.note.gnu.property) are padded to 8, all others to 4. */
static bool find_build_id(struct yarn_span notes, uint64_t align, struct yarn_build_id *ret_id)
{
    align = align == 8 ? 8 : 4;
    uint64_t at = 0;
    Elf64_Nhdr note;
    while (yarn_span_read(notes, at, &note, sizeof note)) {
        uint64_t name_at = at + sizeof note;
        uint64_t data_at = at + note_align(sizeof note + (uint64_t)note.n_namesz, align);
        struct yarn_span name = yarn_span_sub(notes, name_at, note.n_namesz);
        struct yarn_span data = yarn_span_sub(notes, data_at, note.n_descsz);
        if (note.n_type == NT_GNU_BUILD_ID && data.size &&
            yarn_span_equal(name, yarn_span_of("GNU", 4))) {
            size_t size = yarn_size_min(data.size, YARN_BUILD_ID_MAX);
            *ret_id = (struct yarn_build_id){.size = (uint8_t)size};
            memcpy(ret_id->bytes, data.data, size);
            return true;
        }
        at = data_at + note_align(note.n_descsz, align);
    }
    return false;
}

void yarn_image_find_build_id(struct yarn_span head, struct yarn_build_id *ret_id)
{
    Elf64_Ehdr file;
    Elf64_Phdr segment;
    *ret_id = (struct yarn_build_id){.size = 0};
    if (!yarn_span_read(head, 0, &file, sizeof file) ||
        memcmp(file.e_ident, ELFMAG, SELFMAG) != 0 || file.e_ident[EI_CLASS] != ELFCLASS64 ||
        file.e_phentsize != sizeof segment)
        return;
    for (size_t i = 0; i < file.e_phnum && !ret_id->size; i++)
        if (yarn_span_read(head, file.e_phoff + i * sizeof segment, &segment, sizeof segment) &&
            segment.p_type == PT_NOTE)
            (void)find_build_id(yarn_span_sub(head, segment.p_offset, segment.p_filesz),
                                segment.p_align, ret_id);
}

/* Read, or empty. */
static struct yarn_span bytes_of(const struct yarn_image *image, uint64_t offset, uint64_t size)
{
    struct yarn_section section = yarn_image_section(image, offset, size, 0);
    return yarn_section_need(&section, 0, size) ? section.bytes : YARN_SPAN_EMPTY;
}

static void add_segment(struct yarn_image *image, const Elf64_Phdr *header)
{
    struct yarn_segment *segment = &image->segments[image->nr_segments];
    if (image->nr_segments == YARN_IMAGE_SEGMENTS_MAX ||
        header->p_vaddr + header->p_memsz < header->p_vaddr)
        return;
    /* Debug files name places that they were cut off. */
    uint64_t left = image->file_size - yarn_u64_min(header->p_offset, image->file_size);
    *segment = (struct yarn_segment){
        .vaddr = header->p_vaddr,
        .size = header->p_memsz,
        .file_offset = header->p_offset,
        .file_size = yarn_u64_min(yarn_u64_min(header->p_filesz, header->p_memsz), left),
        .executable = (header->p_flags & PF_X) != 0,
    };
    image->nr_segments++;
}

/* Executable ones come first: they are what a mapping is looked up for, and must not fall victim
 * to the bound. */
static void read_loadable(struct yarn_image *image, struct yarn_span headers)
{
    Elf64_Phdr header;
    for (int executable = 1; executable >= 0; executable--) {
        for (uint64_t at = 0; yarn_span_read(headers, at, &header, sizeof header);
             at += sizeof header)
            if (header.p_type == PT_LOAD && (header.p_flags & PF_X ? 1 : 0) == executable)
                add_segment(image, &header);
    }
}

static void read_other_segments(struct yarn_image *image, struct yarn_span headers)
{
    Elf64_Phdr header;
    for (uint64_t at = 0; yarn_span_read(headers, at, &header, sizeof header);
         at += sizeof header) {
        if (header.p_type == PT_NOTE && !image->build_id.size)
            (void)find_build_id(bytes_of(image, header.p_offset, header.p_filesz), header.p_align,
                                &image->build_id);
        if (header.p_type == PT_GNU_EH_FRAME && !image->eh_frame_hdr.bytes.size) {
            image->eh_frame_hdr =
                yarn_image_section(image, header.p_offset, header.p_filesz, header.p_vaddr);
            /* The header names the start of .eh_frame, not its end: that is the segment's. */
            image->eh_frame =
                yarn_image_section_at(image, yarn_frame_table_eh_frame(&image->eh_frame_hdr));
        }
    }
}

static void take_section(struct yarn_image *image, const struct yarn_elf_section *section)
{
    struct yarn_section found = section->content;
    if (section->type == SHT_NOTE && !image->build_id.size &&
        yarn_section_need(&found, 0, found.bytes.size))
        (void)find_build_id(found.bytes, 4, &image->build_id);
    if (!found.bytes.size)
        return;
    if (strcmp(section->name, ".eh_frame") == 0) {
        /* Where the header says otherwise, the header is what the host itself unwinds by. */
        if (!image->eh_frame.bytes.size || image->eh_frame.vaddr == found.vaddr)
            image->eh_frame = found;
    } else if (strcmp(section->name, ".eh_frame_hdr") == 0) {
        if (!image->eh_frame_hdr.bytes.size)
            image->eh_frame_hdr = found;
    } else if (strcmp(section->name, ".debug_frame") == 0) {
        image->debug_frame = found;
    } else if (strcmp(section->name, ".plt") == 0) {
        image->plt = found;
    }
}

static void read_sections(struct yarn_image *image)
{
    struct yarn_sections sections = yarn_sections_of(image);
    struct yarn_elf_section section;
    for (uint32_t i = 0; yarn_sections_at(&sections, i, &section); i++)
        take_section(image, &section);
}

/* Fills everything but `origin`; memory and view stay the caller's where it fails. */
static int parse(struct yarn_image *image, struct yarn_span memory, struct yarn_view *view,
                 uint64_t file_size)
{
    static atomic_uint_least64_t nr_opened;
    Elf64_Ehdr elf;
    *image = (struct yarn_image){.memory = memory, .view = view, .file_size = file_size};
    image->id = 1 + atomic_fetch_add_explicit(&nr_opened, 1, memory_order_relaxed);
    if (!yarn_span_read(bytes_of(image, 0, sizeof elf), 0, &elf, sizeof elf) || !is_ours(&elf))
        return -ENOEXEC;
    struct yarn_span headers =
        bytes_of(image, elf.e_phoff, (uint64_t)elf.e_phnum * sizeof(Elf64_Phdr));
    read_loadable(image, headers);
    if (!image->nr_segments)
        return -ENOEXEC;
    read_other_segments(image, headers);
    read_sections(image);
    return 0;
}

int yarn_image_open(struct yarn_image *image, int dir, const char *path)
{
    return yarn_image_open_beside(image, dir, path, image);
}

int yarn_image_open_beside(struct yarn_image *image, int dir, const char *path,
                           const struct yarn_image *other)
{
    struct yarn_view_file file = {
        .fd = yarn_file_open(dir, path),
        .open_files = other != image && other->view ? yarn_view_open_files_of(other->view) : NULL,
        .name = {{dir, path}},
    };
    if (file.fd < 0)
        return file.fd;
    int err = yarn_file_stat(file.fd, &file.info);
    if (!err)
        err = yarn_image_open_file(image, &file);
    yarn_file_close(file.fd);
    return err;
}

void yarn_image_read_tables(struct yarn_image *image)
{
    const struct yarn_section *const tables[] = {&image->eh_frame_hdr, &image->eh_frame};
    for (size_t i = 0; i < YARN_COUNT_OF(tables) && !image->has_tables; i++)
        if (tables[i]->bytes.size <= READ_AT_ONCE)
            (void)yarn_section_need(tables[i], 0, tables[i]->bytes.size);
    image->has_tables = true;
}

int yarn_image_open_file(struct yarn_image *image, struct yarn_view_file *file)
{
    struct yarn_view *view;
    struct yarn_image opened;
    int err = view_image(&view, file);
    if (err)
        return err;
    err = parse(&opened, yarn_view_memory(view), view, file->info.size_bytes);
    if (err) {
        yarn_view_close(view);
        return err;
    }
    opened.origin = YARN_IMAGE_VIEWED;
    *image = opened;
    return 0;
}

int yarn_image_open_copy(struct yarn_image *image, struct yarn_span bytes)
{
    if (!bytes.size)
        return -ENOEXEC;
    uint8_t *copy = yarn_pages_map(bytes.size);
    if (!copy)
        return -ENOMEM;
    memcpy(copy, bytes.data, bytes.size);
    struct yarn_image opened;
    int err = parse(&opened, yarn_span_of(copy, bytes.size), NULL, bytes.size);
    if (err) {
        yarn_pages_unmap(copy, bytes.size);
        return err;
    }
    opened.origin = YARN_IMAGE_COPIED;
    *image = opened;
    return 0;
}

int yarn_image_open_bytes(struct yarn_image *image, struct yarn_span bytes)
{
    struct yarn_image opened;
    int err = parse(&opened, bytes, NULL, bytes.size);
    if (err)
        return err;
    opened.origin = YARN_IMAGE_BORROWED;
    *image = opened;
    return 0;
}
