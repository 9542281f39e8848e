/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/frame_table.h"

#include "core/base/pages.h"
#include "core/base/search.h"
#include "unwind/cfi_pointer.h"

enum { HEAD_BYTES = 24, ENTRY = 8, PER_PAGE = 512, PAGE_BYTES = PER_PAGE * ENTRY };

/* Entries that were read. */
struct page {
    struct yarn_span bytes;
    uint64_t base;
};

struct header {
    uint64_t eh_frame, count;
    size_t size;
};

static struct header read_header(const struct yarn_section *section)
{
    size_t got = yarn_size_min(section->bytes.size, HEAD_BYTES);
    struct yarn_cursor cursor =
        yarn_cursor_of(yarn_section_window(section, 0, got, YARN_WINDOW_READ));
    struct header header = {0};
    uint8_t version = yarn_cursor_u8(&cursor);
    uint8_t frame_encoding = yarn_cursor_u8(&cursor);
    uint8_t count_encoding = yarn_cursor_u8(&cursor);
    uint8_t table_encoding = yarn_cursor_u8(&cursor);
    if (version != 1)
        return header;
    if (frame_encoding != YARN_POINTER_OMITTED)
        header.eh_frame =
            yarn_pointer_read(&cursor, frame_encoding, section->vaddr, section->vaddr);
    if (count_encoding == YARN_POINTER_OMITTED || table_encoding != YARN_POINTER_TABLE)
        return header;
    header.count = yarn_pointer_read(&cursor, count_encoding, section->vaddr, section->vaddr);
    header.size = cursor.at;
    if (cursor.failed)
        header.count = 0;
    return header;
}

uint64_t yarn_frame_table_eh_frame(const struct yarn_section *header)
{
    return read_header(header).eh_frame;
}

struct yarn_frame_table yarn_frame_table_of(const struct yarn_section *section)
{
    struct header header = read_header(section);
    struct yarn_frame_table table = {.entries = *section, .base = section->vaddr};
    table.entries.bytes = yarn_span_from(section->bytes, header.size);
    if (header.count <= table.entries.bytes.size / ENTRY)
        table.count = (size_t)header.count;
    table.entries.bytes.size = table.count * ENTRY;
    return table;
}

static size_t nr_pages(const struct yarn_frame_table *table)
{
    return (table->count + PER_PAGE - 1) / PER_PAGE;
}

void yarn_frame_table_index(struct yarn_frame_table *table)
{
    if (table->count > PER_PAGE)
        table->starts = yarn_pages_map(nr_pages(table) * sizeof *table->starts);
}

static uint64_t word_at(const struct yarn_frame_table *table, size_t position, size_t at)
{
    int32_t word;
    struct yarn_span bytes =
        yarn_section_window(&table->entries, position * ENTRY + at, sizeof word, YARN_WINDOW_READ);
    return yarn_span_read(bytes, 0, &word, sizeof word) ? table->base + (uint64_t)(int64_t)word : 0;
}

uint64_t yarn_frame_table_start(const struct yarn_frame_table *table, size_t position)
{
    return word_at(table, position, 0);
}

uint64_t yarn_frame_table_fde(const struct yarn_frame_table *table, size_t position)
{
    return word_at(table, position, sizeof(int32_t));
}

static uint64_t start_of_page(const void *self, size_t page)
{
    const struct yarn_frame_table *table = self;
    uint64_t start = table->starts ? table->starts[page] : 0;
    if (start)
        return start;
    start = yarn_frame_table_start(table, page * PER_PAGE);
    if (table->starts)
        table->starts[page] = start;
    return start;
}

static uint64_t start_in_page(const void *self, size_t at)
{
    const struct page *page = self;
    int32_t word = 0;
    (void)yarn_span_read(page->bytes, at * ENTRY, &word, sizeof word);
    return page->base + (uint64_t)(int64_t)word;
}

size_t yarn_frame_table_position(const struct yarn_frame_table *table, uint64_t vaddr)
{
    size_t before = yarn_search_position(table, nr_pages(table), start_of_page, vaddr);
    if (!before)
        return 0;
    size_t first = (before - 1) * PER_PAGE, count = yarn_size_min(PER_PAGE, table->count - first);
    struct page page = {
        .bytes =
            yarn_section_window(&table->entries, first * ENTRY, count * ENTRY, YARN_WINDOW_READ),
        .base = table->base,
    };
    size_t in_page = yarn_search_position(&page, page.bytes.size / ENTRY, start_in_page, vaddr);
    return in_page ? first + in_page : SIZE_MAX;
}

void yarn_frame_table_close(struct yarn_frame_table *table)
{
    yarn_pages_unmap(table->starts, nr_pages(table) * sizeof *table->starts);
    table->starts = NULL;
}
