/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * /proc/PID/maps: one mapping a line. Knows the format; does not know modules.
 * Threads, signals: safe anywhere.
 */
#pragma once

#include "core/base/span.h"

struct yarn_proc_map {
    uint64_t start, end, file_offset;
    uint64_t device, inode; /* 0 where there is no file */
    bool readable, writable, executable, shared;
    struct yarn_span path; /* borrowed, as printed: with " (deleted)"; empty: anonymous */
};

/* The device number as stat(2) has it, of its major and minor part. */
static inline uint64_t yarn_device_of(uint32_t major, uint32_t minor)
{
    return (minor & 0xff) | ((uint64_t)(major & 0xfff) << 8) | ((uint64_t)(minor & ~0xffu) << 12) |
           ((uint64_t)(major & ~0xfffu) << 32);
}

/* `line` without or with its newline. -EINVAL where it cannot be parsed. */
YARN_MUST_CHECK int yarn_proc_map_parse(struct yarn_span line, struct yarn_proc_map *ret_map);

/* Not 0 ends the reading. */
typedef int yarn_proc_map_fn(void *context, const struct yarn_proc_map *map);

/* Calls `each` for every line of dir/path ("maps") in order of address; what it returned last.
 * Lines that do not parse are skipped. */
YARN_MUST_CHECK int yarn_proc_maps_read(int dir, const char *path, yarn_proc_map_fn *each,
                                        void *context);
