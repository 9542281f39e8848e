/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The file of a recorded module, as long as it is still the one that was recorded: known by its
 * build id, or where it has none by its size. Knows paths and build ids; does not know what is in
 * the file (debuginfo, disassembly).
 *
 * Threads: safe anywhere.
 */
#pragma once

#include "core/base/span.h"

struct Elf; /* of libelf */

enum yarn_module_file_state {
    YARN_MODULE_FILE_FOUND,
    YARN_MODULE_FILE_ABSENT, /* none, or none that may be read */
    YARN_MODULE_FILE_OTHER,  /* at the path there is another file now */
};

/* A plain file whose compressed sections do not say that they are more than 32 MiB and 20 times the
 * file together. */
bool yarn_module_file_is_bounded(int fd);

/* Only such files: whatever else a recorded path names now (a pipe, a terminal) is left alone. A
 * file descriptor, or -1. */
YARN_MUST_CHECK int yarn_module_file_open_plain(const char *path);

bool yarn_module_file_has_build_id(struct Elf *elf, struct yarn_span build_id);

/* Whether a file without a build id may be the one that had `file_bytes`; 0: unknown, then it is
 * believed. */
bool yarn_module_file_has_size(int fd, uint64_t file_bytes);

/* A file descriptor that the caller closes, or -1 unless it was FOUND. `build_id` empty: unknown,
 * then the file is known by its size. */
YARN_MUST_CHECK int yarn_module_file_open(const char *path, struct yarn_span build_id,
                                          uint64_t file_bytes,
                                          enum yarn_module_file_state *ret_state);
