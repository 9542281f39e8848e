/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as an ELF file: every span of the image lies in the file; frames and names are found or
 * not found at the starts, middles and ends of its segments and symbols; a name's bounds make
 * sense.
 */
#include <elf.h>

#include "core/base/sort.h"
#include "tests/support/ask.h"
#include "unwind/cfi_row.h"
#include "unwind/symbol/symbol_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PLACES_MAX = 256, ADDRESS_BITS = 54 };

struct places {
    uint64_t vaddr[PLACES_MAX];
    size_t count;
};

static void require(bool holds)
{
    if (!holds)
        __builtin_trap();
}

static void require_inside(struct yarn_span file, struct yarn_span part)
{
    if (part.size)
        require(part.data >= file.data && part.size <= file.size &&
                (size_t)(part.data - file.data) <= file.size - part.size);
}

static void add_place(struct places *places, uint64_t vaddr)
{
    if (places->count < PLACES_MAX)
        places->vaddr[places->count++] = vaddr;
}

static void add_segments(struct places *places, const struct yarn_image *image)
{
    for (unsigned i = 0; i < image->nr_segments; i++) {
        const struct yarn_segment *segment = &image->segments[i];
        uint64_t vaddr;
        if (yarn_image_vaddr_of(image, segment->file_offset, &vaddr))
            add_place(places, vaddr);
        for (unsigned part = 0; part < 8; part++)
            add_place(places, segment->vaddr + segment->size / 8 * part);
        add_place(places, segment->vaddr + segment->size - 1);
    }
    for (uint64_t at = 0; at < image->plt.bytes.size && at < 128; at += 8)
        add_place(places, image->plt.vaddr + at);
}

static void add_symbols(struct places *places, const struct yarn_image *image, uint32_t type)
{
    struct yarn_symbol_table table = yarn_symbol_table_of(image, type);
    struct yarn_elf_symbol symbol;
    static Elf64_Sym entries[YARN_SYMBOLS_AT_ONCE];
    size_t count = yarn_symbol_table_read(&table, 0, entries);
    for (uint32_t i = 0; i < count && i < 64; i++) {
        require_inside(image->memory, yarn_symbol_table_name(&table, i));
        if (!yarn_symbol_table_take(&table, &entries[i], &symbol))
            continue;
        add_place(places, symbol.start);
        add_place(places, symbol.start + symbol.size - 1);
    }
}

static void check_frames(const struct yarn_image *image, uint64_t vaddr)
{
    struct yarn_fde fde;
    struct yarn_cfi_row row;
    if (yarn_cfi_find(image, vaddr, &fde) != 0)
        return;
    require(fde.start <= vaddr && vaddr < fde.end);
    require_inside(image->memory, fde.instructions);
    require_inside(image->memory, fde.cie_instructions);
    if (yarn_cfi_row_at(&fde, vaddr, &row) == 0)
        require_inside(image->memory, row.cfa_expression);
}

/* Also that those that were asked together have the answers that each has alone. */
static void check_names(struct yarn_symbols *symbols, const struct yarn_image *image,
                        const struct places *places)
{
    static uint64_t memory[1 << 17];
    static struct yarn_symbol_question questions[PLACES_MAX];
    struct yarn_arena names;
    yarn_arena_open_over(&names, memory, sizeof memory);
    memset(questions, 0, sizeof questions);
    for (size_t i = 0; i < places->count; i++)
        questions[i].vaddr = places->vaddr[i];
    if (yarn_symbols_ask(symbols, image, "/fuzzed", questions, places->count, &names, UINT64_MAX))
        return;
    for (size_t i = 0; i < places->count; i++) {
        const struct yarn_symbol *symbol = &questions[i].answer;
        uint64_t vaddr = places->vaddr[i];
        struct yarn_symbol alone = ask_symbol(symbols, image, "/fuzzed", vaddr);
        /* Of code at addresses that no processor has, so far from the others. */
        bool is_out_of_reach = vaddr >> ADDRESS_BITS && !symbol->end;
        require(symbol->start <= symbol->end);
        if (symbol->end)
            require(symbol->start <= vaddr && vaddr < symbol->end);
        require(is_out_of_reach || (alone.start == symbol->start && alone.end == symbol->end));
        require(is_out_of_reach || yarn_span_equal(alone.name, symbol->name));
        require(!symbol->name.size || !memchr(symbol->name.data, 0, symbol->name.size));
    }
    yarn_arena_close(&names);
}

static void check_image(const struct yarn_image *image)
{
    require_inside(image->memory, image->eh_frame.bytes);
    require_inside(image->memory, image->eh_frame_hdr.bytes);
    require_inside(image->memory, image->debug_frame.bytes);
    require_inside(image->memory, image->plt.bytes);
    require(image->nr_segments && image->nr_segments <= YARN_IMAGE_SEGMENTS_MAX);
    require(image->build_id.size <= YARN_BUILD_ID_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct yarn_image image;
    struct yarn_symbols *symbols;
    struct places places = {.count = 0};
    if (yarn_image_open_bytes(&image, yarn_span_of(data, size)) != 0)
        return 0;
    check_image(&image);
    if (size % 2) /* by scans the one half of them, by indexes the other */
        yarn_cfi_index_tables(&image);
    add_segments(&places, &image);
    add_symbols(&places, &image, SHT_SYMTAB);
    add_symbols(&places, &image, SHT_DYNSYM);
    yarn_sort_u64(places.vaddr, places.count);
    if (yarn_symbols_new(&symbols) != 0)
        return 0;
    for (size_t i = 0; i < places.count; i++) {
        require_inside(image.memory, yarn_image_at(&image, places.vaddr[i]));
        check_frames(&image, places.vaddr[i]);
    }
    check_names(symbols, &image, &places);
    yarn_symbols_free(symbols);
    yarn_image_close(&image);
    return 0;
}
