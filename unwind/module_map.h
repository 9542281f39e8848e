/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The executable mappings of the host at the current position of the record stream: ranges of
 * addresses, each with its file. Fed in time order from the process's maps once and from
 * PERF_RECORD_MMAP2 after; a mapping over a known range replaces it (dlclose followed by dlopen at
 * the same address was seen), and the rest of a partly covered range keeps its number. A new
 * mapping is a new module with a new number, with three exceptions: a mapping that is reported
 * again (from both sources, or after mprotect), or that is mapped again exactly as before (range,
 * file, build id), is the same module; and adjoining anonymous mappings are one module that grows
 * at both ends, since JIT compilers map thousands. Numbers are never reused. Knows ranges, paths
 * and images; does not know records, dumps or symbols.
 *
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "core/base/arena.h"
#include "core/sys/target.h"
#include "unwind/image.h"

enum yarn_module_kind {
    YARN_MODULE_FILE,
    YARN_MODULE_VDSO,
    YARN_MODULE_ANONYMOUS, /* JIT code: "//anon", "[heap]", a memfd without ELF content (known to
                            * be one at the first look-up) */
    YARN_MODULE_KIND_COUNT,
};

/* State of the file when it was opened. */
enum yarn_image_state {
    YARN_IMAGE_UNTRIED,
    YARN_IMAGE_OPEN,
    YARN_IMAGE_ABSENT,   /* could not be opened; `image_error` says why */
    YARN_IMAGE_REPLACED, /* the path now names another file than the one that is mapped */
    YARN_IMAGE_STATE_COUNT,
};

struct yarn_module {
    uint32_t number; /* counts from 0 in order of appearance */
    enum yarn_module_kind kind;
    uint64_t start, end;
    uint64_t file_offset;
    uint64_t device, inode;        /* as the kernel gave them; 0 where unknown */
    uint64_t time_ns;              /* of appearance */
    const char *path;              /* owned by the map's arena; without " (deleted)" */
    struct yarn_build_id build_id; /* without an image: as its memory has it; size 0: unknown */
    enum yarn_image_state image_state;
    int image_error;
    /* Owned by the map, until a sweep; NULL unless image_state is OPEN. */
    struct yarn_image *image;
    /* Address in the host = linked address + bias. 0 for anonymous modules, whose code has no other
     * address. Without an image: such that the linked address is the offset in the file. */
    uint64_t bias;
};

struct yarn_module_map;

/* `target`: whose mappings they are (borrowed; outlives the map). Its folder in /proc is opened by
 * name at each use: an open directory would allow to escape from a chroot of the host. `images`:
 * those of several maps (borrowed); NULL: the map has its own. */
struct yarn_image_cache;
YARN_MUST_CHECK int yarn_module_map_new(struct yarn_module_map **ret_map,
                                        const struct yarn_target *target,
                                        struct yarn_image_cache *images);
void yarn_module_map_free(struct yarn_module_map *map);

/* The process whose mappings they are. */
const struct yarn_target *yarn_module_map_target(const struct yarn_module_map *map);

/* An executable mapping as the kernel reports it. Device numbers are put
 * together by yarn_device_of (core/sys/proc_maps.h). */
struct yarn_mapping {
    uint64_t start, end, file_offset;
    uint64_t device, inode;
    uint64_t time_ns;
    const char *path; /* borrowed for the call */
};
/* -ENOSPC beyond 65536 modules: what it covers is removed nevertheless. */
YARN_MUST_CHECK int yarn_module_map_add(struct yarn_module_map *map,
                                        const struct yarn_mapping *mapping);

/* Adds every executable line of the process's maps. */
YARN_MUST_CHECK int yarn_module_map_read_proc(struct yarn_module_map *map, uint64_t time_ns);

/* Code of a file was looked up that is new. At a call of the second, 100 ms after they were read
 * last at the soonest, the maps are read again: memory without a file may be there, which mremap
 * has put in a file's place, and of which the kernel says nothing. */
void yarn_module_map_want_look(struct yarn_module_map *map);
void yarn_module_map_look_again(struct yarn_module_map *map);

/* Closes the files that look-ups have opened, until the next look-up: before the reader sleeps or
 * replies. */
void yarn_module_map_rest(struct yarn_module_map *map);

/* Closes the images of modules that are no longer mapped and were not at the last call either: to
 * be called when every sample that was taken before the last call has been processed. Reads
 * the process's maps only where enough has changed. A module whose image is closed reopens it on
 * demand. */
void yarn_module_map_sweep(struct yarn_module_map *map);

/* The same of images that several maps share, for who has them all: first each marks the images
 * that it has mapped, then the cache is swept (image_cache.h), then each looks which were closed.
 */
void yarn_module_map_see_images(struct yarn_module_map *map);
void yarn_module_map_after_sweep(struct yarn_module_map *map);

/* The module that holds the address now, its image opened at first use; NULL where none does.
 * The pointer stays valid for the life of the map. */
const struct yarn_module *yarn_module_map_find(struct yarn_module_map *map, uint64_t address);

/* Where its mapping is still there; then its build id is known without its file, if its first page
 * has it. */
bool yarn_module_map_identify(struct yarn_module_map *map, uint32_t number);

/* As yarn_image_read_tables, of all images. */
void yarn_module_map_read_tables(struct yarn_module_map *map);

/* Grows with each change of the map: caches keyed by address are valid within one generation. */
uint64_t yarn_module_map_generation(const struct yarn_module_map *map);

uint32_t yarn_module_map_count(const struct yarn_module_map *map);
const struct yarn_module *yarn_module_map_at(const struct yarn_module_map *map, uint32_t number);
