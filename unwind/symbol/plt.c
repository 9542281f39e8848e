/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/symbol/plt.h"

#include <elf.h>

#include "unwind/sections.h"

/* Relocations are searched one by one, once for each new address: bounded. */
enum { RELOCATIONS_MAX = 64 << 10, STUB_BYTES = 16 };

struct yarn_plt yarn_plt_of(const struct yarn_image *image)
{
    static const char *const stub_names[YARN_PLT_SECTIONS] = {".plt", ".plt.sec", ".plt.got"};
    static const char *const relocation_names[YARN_PLT_RELOCATIONS] = {".rela.plt", ".rela.dyn"};
    struct yarn_plt plt = {0};
    struct yarn_sections sections = yarn_sections_of(image);
    struct yarn_elf_section section;
    for (size_t i = 0; i < YARN_PLT_SECTIONS; i++)
        if (yarn_sections_find(&sections, stub_names[i], &section)) {
            plt.stubs[i] = section.content;
            plt.stub_sizes[i] = section.entry_size == 8 ? 8 : STUB_BYTES;
        }
    for (size_t i = 0; i < YARN_PLT_RELOCATIONS; i++)
        if (yarn_sections_find(&sections, relocation_names[i], &section))
            plt.relocations[i] = section.content;
    return plt;
}

static bool find_relocation(const struct yarn_plt *plt, uint64_t slot, Elf64_Rela *ret)
{
    Elf64_Rela relocation;
    for (size_t i = 0; i < YARN_PLT_RELOCATIONS; i++) {
        const struct yarn_section *section = &plt->relocations[i];
        struct yarn_span bytes = section->bytes;
        bytes.size = yarn_size_min(bytes.size, RELOCATIONS_MAX * sizeof relocation);
        if (!yarn_section_need(section, 0, bytes.size))
            continue;
        for (uint64_t at = 0; yarn_span_read(bytes, at, &relocation, sizeof relocation);
             at += sizeof relocation) {
            if (relocation.r_offset == slot) {
                *ret = relocation;
                return true;
            }
        }
    }
    return false;
}

/* `jmp *disp(%rip)` is ff 25 and four bytes, after endbr64 or bnd in some stubs. */
static bool read_slot(const uint8_t *stub, size_t size, uint64_t vaddr, uint64_t *ret_slot)
{
    for (size_t at = 0; at + 6 <= size; at++) {
        int32_t displacement;
        if (stub[at] != 0xff || stub[at + 1] != 0x25)
            continue;
        memcpy(&displacement, stub + at + 2, sizeof displacement);
        *ret_slot = vaddr + at + 6 + (uint64_t)(int64_t)displacement;
        return true;
    }
    return false;
}

static bool read_stub(const struct yarn_plt *plt, const struct yarn_section *stubs, uint64_t at,
                      size_t size, struct yarn_plt_stub *ret_stub)
{
    uint8_t bytes[STUB_BYTES];
    Elf64_Rela relocation;
    uint64_t slot;
    at -= at % size;
    if (!yarn_section_read(stubs, at, bytes, size) ||
        !read_slot(bytes, size, stubs->vaddr + at, &slot) ||
        !find_relocation(plt, slot, &relocation))
        return false;
    *ret_stub = (struct yarn_plt_stub){
        .start = stubs->vaddr + at,
        .end = stubs->vaddr + at + size,
        .symbol = (uint32_t)ELF64_R_SYM(relocation.r_info),
        .resolver = (uint64_t)relocation.r_addend,
    };
    return true;
}

bool yarn_plt_find(const struct yarn_plt *plt, uint64_t vaddr, struct yarn_plt_stub *ret_stub)
{
    for (size_t i = 0; i < YARN_PLT_SECTIONS; i++) {
        const struct yarn_section *stubs = &plt->stubs[i];
        if (vaddr >= stubs->vaddr && vaddr - stubs->vaddr < stubs->bytes.size)
            return read_stub(plt, stubs, vaddr - stubs->vaddr, plt->stub_sizes[i], ret_stub);
    }
    return false;
}

bool yarn_plt_overlaps(const struct yarn_plt *plt, uint64_t start, uint64_t end)
{
    for (size_t i = 0; i < YARN_PLT_SECTIONS; i++) {
        const struct yarn_section *stubs = &plt->stubs[i];
        if (start < stubs->vaddr + stubs->bytes.size && stubs->vaddr < end)
            return true;
    }
    return false;
}
