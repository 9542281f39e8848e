/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/image.h"

#include "core/base/pages.h"

/* The kernel maps whole pages: a mapping begins at most a page before its segment. */
enum { PAGE_MASK = 0xfff };

struct yarn_section yarn_image_section(const struct yarn_image *image, uint64_t offset,
                                       uint64_t size, uint64_t vaddr)
{
    struct yarn_span bytes = image->view ? yarn_view_place(image->view, offset, size)
                                         : yarn_span_sub(image->memory, offset, size);
    return (struct yarn_section){bytes, vaddr, image->view};
}

/* Where in the file, and how much of the segment is left there; 0: no segment holds it. */
static uint64_t find_in_segments(const struct yarn_image *image, uint64_t vaddr,
                                 uint64_t *ret_offset)
{
    for (unsigned i = 0; i < image->nr_segments; i++) {
        const struct yarn_segment *segment = &image->segments[i];
        if (vaddr < segment->vaddr || vaddr - segment->vaddr >= segment->file_size)
            continue;
        *ret_offset = segment->file_offset + (vaddr - segment->vaddr);
        return segment->file_size - (vaddr - segment->vaddr);
    }
    return 0;
}

struct yarn_section yarn_image_section_at(const struct yarn_image *image, uint64_t vaddr)
{
    uint64_t offset = 0, left = find_in_segments(image, vaddr, &offset);
    struct yarn_section section = yarn_image_section(image, offset, left, vaddr);
    if (!section.bytes.size && image->view && left)
        section.bytes = yarn_view_place_from(image->view, offset);
    return section;
}

struct yarn_span yarn_image_at(const struct yarn_image *image, uint64_t vaddr)
{
    uint64_t offset = 0, left = find_in_segments(image, vaddr, &offset);
    return image->view && left ? yarn_view_peek(image->view, offset, left)
                               : yarn_span_sub(image->memory, offset, left);
}

bool yarn_image_vaddr_of(const struct yarn_image *image, uint64_t file_offset, uint64_t *ret_vaddr)
{
    for (unsigned i = 0; i < image->nr_segments; i++) {
        const struct yarn_segment *segment = &image->segments[i];
        uint64_t first = segment->file_offset & ~(uint64_t)PAGE_MASK;
        if (file_offset < first || file_offset >= segment->file_offset + segment->file_size)
            continue;
        *ret_vaddr = segment->vaddr - segment->file_offset + file_offset;
        return true;
    }
    return false;
}

void yarn_image_close(struct yarn_image *image)
{
    yarn_view_close(image->view);
    if (image->origin == YARN_IMAGE_COPIED)
        yarn_pages_unmap((void *)(uintptr_t)image->memory.data, image->memory.size);
    yarn_frame_table_close(&image->frame_table);
    yarn_cfi_index_close(&image->debug_index);
    yarn_cfi_index_close(&image->frame_index);
    *image = YARN_IMAGE_CLOSED;
}
