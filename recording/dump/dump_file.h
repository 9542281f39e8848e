/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The file of the dump: expands the output pattern to a path, creates missing folders, and creates
 * the file under a new name: .1, .2, … is appended if the name exists. Never overwrites, never
 * follows a symbolic link. Opens nothing before the dump is created. A dump is locked as long as
 * its process lives, so an empty one that its process could not remove is recognized as left
 * behind. Runs on the reader thread.
 */
#pragma once

#include "core/sys/file.h"
#include "recording/process/path.h"

struct yarn_dump_file {
    char path[YARN_PATH_MAX];
    int fd;                     /* owned, of the created file until a writer takes it; -1 */
    uint32_t number;            /* appended to its name because the others existed; 0: none */
    struct yarn_file_info made; /* the file, once it is created */
};

/* Expands the pattern, makes the folders and finds out whether a
 * file could be created there. On failure `path` holds what was tried. */
YARN_MUST_CHECK int yarn_dump_file_prepare(struct yarn_dump_file *file, const char *pattern,
                                           const struct yarn_facts *facts, char *const envp[]);

/* Of another process of the same pattern, which has gone and left it empty. False where there is
 * more to do: it still may have a use for the file, or the caller has given up the rights for now.
 */
bool yarn_dump_file_remove_left(const char *pattern, const struct yarn_facts *facts,
                                char *const envp[], uint32_t number);

/* A descriptor of the new file, in `fd` too; `path` then names it. Its owner may read and write it,
 * whatever the umask; unless the call for that is not to be made (a system call filter). */
YARN_MUST_CHECK int yarn_dump_file_create(struct yarn_dump_file *file, bool may_change_mode);
