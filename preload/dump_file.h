/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Where the dump goes: the output pattern becomes a path, missing folders are made, and the file is
 * created under a name that nobody has: a taken one gets .1, .2, … Never overwrites, never follows
 * a link. Nothing is open before the dump is created. Runs on the reader thread.
 */
#pragma once

#include "preload/path.h"

struct yarn_dump_file {
    char path[YARN_PATH_MAX];
    uint64_t device, inode;   /* of the file, once it is created */
    char like[YARN_PATH_MAX]; /* the same for any executable, as a glob; empty: not to be had */
};

/* Expands the pattern, makes the folders and finds out whether a
 * file could be created there. On failure `path` holds what was tried. */
YARN_MUST_CHECK int yarn_dump_file_prepare(struct yarn_dump_file *file, const char *pattern,
                                           const struct yarn_facts *facts, char *const envp[]);

/* Where its path still leads there and its folder's rights allow it. */
void yarn_dump_file_remove(const struct yarn_dump_file *file);

/* A descriptor of the new file; `path` then names it. */
YARN_MUST_CHECK int yarn_dump_file_create(struct yarn_dump_file *file);
