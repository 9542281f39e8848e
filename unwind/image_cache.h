/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * From a mapping's path to the image of exactly the file that is mapped; each file is opened once,
 * for all processes whose mappings are asked about.
 * A path that names another file by now does not give a wrong image: then
 * the mapped file is tried through map_files in /proc, which needs privilege (measured: root may,
 * uid 65534 gets EPERM even for its own mappings).
 * Knows files and images; does not know modules or addresses beyond the name in map_files.
 *
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "core/base/pool.h"
#include "core/base/table.h"
#include "core/sys/target.h"
#include "unwind/image.h"

enum { YARN_DEVICE_ALIASES = 16 };

struct yarn_image_cache {
    struct yarn_image *vdso; /* one of `images`: of processes other than the calling one; NULL */
    size_t vdso_bytes;       /* of its mapping */
    struct yarn_table by_file;
    struct yarn_view_open_files open_files;
    uint32_t nr_open, nr_gone, sweep_at;
    struct {
        uint64_t mapped, named; /* the device of a mapping, and that of the file's name */
    } alias[YARN_DEVICE_ALIASES];
    size_t nr_aliases;
    struct yarn_pool images; /* of struct cached_image */
};

/* The mapped file as the kernel describes it; 0 where that is not known. */
struct yarn_image_request {
    const struct yarn_target *target; /* whose mapping it is */
    uint64_t start, end, file_offset; /* of the mapping */
    uint64_t device, inode;
    const char *path; /* absolute, without " (deleted)" */
    bool was_deleted;
};

YARN_MUST_CHECK int yarn_image_cache_open(struct yarn_image_cache *cache);

/* The image stays until it is swept out or the cache is closed. -ESTALE: the path names another
 * file, and the mapped one cannot be opened. */
YARN_MUST_CHECK int yarn_image_cache_find(struct yarn_image_cache *cache,
                                          const struct yarn_image_request *request,
                                          struct yarn_image **ret_image);

/* Of a file that is gone, or another now, by its first page, where the linker puts the note, which
 * is mapped at that address before its code. */
void yarn_image_cache_read_build_id(const struct yarn_target *target, uint64_t start,
                                    struct yarn_build_id *ret_id);

/* The image of the vDSO, of which only the mapping is asked about. */
YARN_MUST_CHECK int yarn_image_cache_find_vdso(struct yarn_image_cache *cache,
                                               const struct yarn_image_request *request,
                                               struct yarn_image **ret_image);

/* Whether to check which images are still mapped: there are twice as many as at the last check, or
 * some were not mapped then. */
bool yarn_image_cache_is_due(const struct yarn_image_cache *cache);

/* Call the first for each that is mapped; the second closes those that were mapped neither now nor
 * the last time. Such an image keeps its address, closed. */
void yarn_image_cache_see(struct yarn_image *image);
void yarn_image_cache_sweep(struct yarn_image_cache *cache);

/* Idempotent. */
void yarn_image_cache_close(struct yarn_image_cache *cache);
