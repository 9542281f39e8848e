/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * perf-PID.map: the text file in which a compiler inside the process says what it has put where,
 * one "START SIZE NAME" a line in hexadecimal. Followed as it grows; read anew where it was cut or
 * written again. A file of another user is ignored. A line without its newline is read
 * when it is complete.
 * Knows the file; does not know whose addresses those are.
 *
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "unwind/symbol/code_names.h"

struct yarn_perf_map {
    /* CLOCK_REALTIME: a file that was last written before is that of an earlier process. */
    uint64_t not_before_ns;
    const struct yarn_target *target; /* borrowed: whose files are read; NULL: the calling one */
    uint32_t user;                    /* of the process, or YARN_OWN_FILE_OURS */
    uint64_t device, inode;           /* of the file that was read so far */
    uint64_t offset;                  /* of the first line that was not */
    bool skips_line;                  /* the line at offset is the rest of one that is too long */
};

struct yarn_perf_map_line {
    uint64_t start, size;
    struct yarn_span name; /* borrowed; not empty */
};

/* `line` without its newline. -EINVAL where it cannot be parsed. */
YARN_MUST_CHECK int yarn_perf_map_parse(struct yarn_span line, struct yarn_perf_map_line *ret_line);

/* Begins all zero but for `not_before_ns`, `target` and `user`. Adds what is new in the file, as
 * far as `most` bytes (about); true where more is left. No file is no fault. */
bool yarn_perf_map_read(struct yarn_perf_map *map, const char *path, uint64_t most,
                        struct yarn_code_names *names);
