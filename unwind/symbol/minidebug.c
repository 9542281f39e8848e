/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/symbol/minidebug.h"

#include <lzma.h>

#include "core/base/pages.h"
#include "unwind/sections.h"

enum { PAGE = 4096, HEAD_BYTES = 64 };
#define UNPACKED_MAX YARN_MIB(32)
#define WORKSPACE_MAX YARN_MIB(64) /* xz -9; what is written with more is left packed */

/* The size stands in front of each piece of memory, in a line of its own for alignment. */
static void *allocate(void *context, size_t count, size_t size)
{
    (void)context;
    if (size && count > WORKSPACE_MAX / size)
        return NULL;
    size_t total = count * size + HEAD_BYTES;
    uint8_t *pages = yarn_pages_map(total);
    if (!pages)
        return NULL;
    memcpy(pages, &total, sizeof total);
    return pages + HEAD_BYTES;
}

static void release(void *context, void *memory)
{
    (void)context;
    if (!memory)
        return;
    uint8_t *pages = (uint8_t *)memory - HEAD_BYTES;
    size_t total;
    memcpy(&total, pages, sizeof total);
    yarn_pages_unmap(pages, total);
}

/* Pages of the caller's, their size whole pages. The room is reserved as a whole and what is not
 * used is given back: xz has the size only at its end. */
static int unpack(struct yarn_span packed, struct yarn_span *ret_file)
{
    const lzma_allocator allocator = {allocate, release, NULL};
    uint64_t workspace = WORKSPACE_MAX;
    size_t used_in = 0, used = 0;
    uint8_t *room = yarn_pages_map(UNPACKED_MAX);
    if (!room)
        return -ENOMEM;
    lzma_ret result = lzma_stream_buffer_decode(&workspace, 0, &allocator, packed.data, &used_in,
                                                packed.size, room, &used, UNPACKED_MAX);
    size_t kept = result == LZMA_OK ? yarn_align_up(used, PAGE) : 0;
    if (kept < UNPACKED_MAX)
        yarn_pages_unmap(room + kept, UNPACKED_MAX - kept);
    if (!kept)
        return -EBADMSG;
    *ret_file = yarn_span_of(room, used);
    return 0;
}

static struct yarn_section packed_of(const struct yarn_image *image)
{
    struct yarn_sections sections = yarn_sections_of(image);
    struct yarn_elf_section section;
    return yarn_sections_find(&sections, ".gnu_debugdata", &section)
               ? section.content
               : (struct yarn_section){.vaddr = 0};
}

uint64_t yarn_minidebug_bytes(const struct yarn_image *image)
{
    return packed_of(image).bytes.size;
}

int yarn_minidebug_open(struct yarn_image *debug, const struct yarn_image *image)
{
    struct yarn_section packed = packed_of(image);
    struct yarn_span file;
    if (!packed.bytes.size)
        return -ENOENT;
    if (!yarn_section_need(&packed, 0, packed.bytes.size))
        return -ESTALE;
    int err = unpack(packed.bytes, &file);
    if (packed.view)
        yarn_view_drop(packed.view, packed.bytes);
    if (err)
        return err;
    err = yarn_image_open_bytes(debug, file);
    if (err) {
        yarn_pages_unmap((void *)(uintptr_t)file.data, file.size);
        return -EBADMSG;
    }
    debug->origin = YARN_IMAGE_COPIED; /* the pages are the image's from here on */
    return 0;
}
