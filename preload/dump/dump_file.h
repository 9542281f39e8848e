/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Where the dump goes: the output pattern becomes a path, missing folders are made, and the file is
 * created under a name that nobody has: a taken one gets .1, .2, … Never overwrites, never follows
 * a link. Nothing is open before the dump is created. A file that is there is locked as long as its
 * process lives, so what somebody could not remove any more is found to be left. Runs on the reader
 * thread.
 */
#pragma once

#include "core/sys/file.h"
#include "preload/process/path.h"

struct yarn_dump_file {
    char path[YARN_PATH_MAX];
    int fd;                     /* owned, of the created file until a writer has it; -1 */
    uint32_t number;            /* in its name, for the others were taken; 0: none */
    struct yarn_file_info made; /* the file, once it is created */
    char like[YARN_PATH_MAX];   /* the same for any executable, as a glob; empty: not to be had */
};

/* Expands the pattern, makes the folders and finds out whether a
 * file could be created there. On failure `path` holds what was tried. */
YARN_MUST_CHECK int yarn_dump_file_prepare(struct yarn_dump_file *file, const char *pattern,
                                           const struct yarn_facts *facts, char *const envp[]);

/* Of another process of the same pattern: false where it still may have a use for the file, which
 * is removed where that has gone and left it empty. */
bool yarn_dump_file_remove_left(const char *pattern, const struct yarn_facts *facts,
                                char *const envp[], uint32_t number);

/* A descriptor of the new file, in `fd` too; `path` then names it. */
YARN_MUST_CHECK int yarn_dump_file_create(struct yarn_dump_file *file);
