/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * One ELF file as yarn reads it for itself (never the host's own mapping, which a dlclose can
 * unmap, nor one of ours: see view.h), or a copy of the vDSO: where its unwind tables, symbol
 * tables and build id lie. Knows ELF containers; does not know where the host has loaded the file
 * (module_map), what the tables say (cfi, symbol).
 *
 * Every span lies inside `memory` and was checked when the image was opened; the bytes in it are
 * untrusted, and read on demand (yarn_section_need).
 *
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "unwind/cfi_index.h"
#include "unwind/frame_table.h"
#include "unwind/view.h"

enum { YARN_BUILD_ID_MAX = 32, YARN_IMAGE_SEGMENTS_MAX = 16 };

struct yarn_build_id {
    uint8_t size; /* 0: the file has none */
    uint8_t bytes[YARN_BUILD_ID_MAX];
};

static inline bool yarn_build_id_equal(const struct yarn_build_id *a, const struct yarn_build_id *b)
{
    return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

/* A loadable piece of the file. */
struct yarn_segment {
    uint64_t vaddr;
    uint64_t size; /* in memory */
    uint64_t file_offset;
    uint64_t file_size;
    bool executable;
};

/* Where `memory` comes from and how it ends. */
enum yarn_image_origin {
    YARN_IMAGE_BORROWED, /* also the closed image */
    YARN_IMAGE_VIEWED,   /* it is the view's */
    YARN_IMAGE_COPIED,
    YARN_IMAGE_ORIGIN_COUNT,
};

struct yarn_image {
    struct yarn_span
        memory;             /* the whole file; of a view what it has of it. Owned unless borrowed */
    struct yarn_view *view; /* owned; NULL: all of the file is there */
    enum yarn_image_origin origin;
    uint64_t id; /* unique among all openings in the process, since memory is reused */
    uint64_t file_size;
    struct yarn_build_id build_id;
    struct yarn_segment segments[YARN_IMAGE_SEGMENTS_MAX]; /* executable ones first */
    unsigned nr_segments;
    bool has_tables;                  /* yarn_image_read_tables */
    struct yarn_section eh_frame_hdr; /* empty where there is none */
    struct yarn_section eh_frame;     /* without section headers: to the end of its segment */
    struct yarn_section debug_frame;  /* empty where it is compressed */
    struct yarn_section plt;
    /* Owned, by yarn_cfi_index_tables: of .debug_frame, and of .eh_frame where it has no table. */
    struct yarn_frame_table frame_table;
    struct yarn_cfi_index debug_index, frame_index;
};

#define YARN_IMAGE_CLOSED ((struct yarn_image){.memory = {NULL, 0}})

/* Of the first bytes of a file, as far as they are there; size 0 where they name none. */
void yarn_image_find_build_id(struct yarn_span head, struct yarn_build_id *ret_id);

/* Opens the file at dir/path. -ENOEXEC where it is no ELF file that yarn understands. */
YARN_MUST_CHECK int yarn_image_open(struct yarn_image *image, int dir, const char *path);

/* The same, sharing the open files of another image. */
YARN_MUST_CHECK int yarn_image_open_beside(struct yarn_image *image, int dir, const char *path,
                                           const struct yarn_image *other);

/* As yarn_image_open for a file that is open and may be found again. */
YARN_MUST_CHECK int yarn_image_open_file(struct yarn_image *image, struct yarn_view_file *file);

/* Reads unwind tables that are not large as a whole, once: the file may be out of reach later. */
void yarn_image_read_tables(struct yarn_image *image);

/* As yarn_image_open for bytes in memory, which are copied: the vDSO. */
YARN_MUST_CHECK int yarn_image_open_copy(struct yarn_image *image, struct yarn_span bytes);

/* As yarn_image_open over bytes that stay the caller's and outlive the image (tests, fuzzing). */
YARN_MUST_CHECK int yarn_image_open_bytes(struct yarn_image *image, struct yarn_span bytes);

/* The section that these bytes of the file are; its bytes are empty where they are not in it, or
 * nobody wants them (image_extents.c). */
struct yarn_section yarn_image_section(const struct yarn_image *image, uint64_t offset,
                                       uint64_t size, uint64_t vaddr);

/* The same of the bytes from `vaddr` to the end of its segment, where a segment holds it. */
struct yarn_section yarn_image_section_at(const struct yarn_image *image, uint64_t vaddr);

/* The file's bytes from `vaddr`, as far as its segment goes, but perhaps no more than 64 of them;
 * empty where no segment holds it. Valid until the next call. */
struct yarn_span yarn_image_at(const struct yarn_image *image, uint64_t vaddr);

/* The linked address of a file offset, which may lie in the page in which a segment begins
 * (mappings do); executable segments are asked first. False where no segment holds it. */
bool yarn_image_vaddr_of(const struct yarn_image *image, uint64_t file_offset, uint64_t *ret_vaddr);

/* Idempotent. */
void yarn_image_close(struct yarn_image *image);
