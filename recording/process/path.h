/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The path of a file that we create, from a pattern of the user, and the folders on its path. Knows
 * patterns and folders; does not know what the file is. Relative patterns start at the directory in
 * which the program was started, even if it has changed since; only if that has no path (facts.h),
 * at the current one.
 *
 * Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/config/pattern.h"
#include "recording/process/facts.h"

enum { YARN_PATH_MAX = 4096 };

/* The facts of this process that a pattern may ask for; `envp` is borrowed. */
struct yarn_pattern_facts yarn_path_facts(const struct yarn_facts *facts, char *const envp[]);

/* -ENAMETOOLONG, or -EINVAL where it is no pattern. */
YARN_MUST_CHECK int yarn_path_expand(char ret_path[YARN_PATH_MAX], const char *pattern,
                                     const struct yarn_pattern_facts *facts);

/* The same, and where that is a folder, the pattern for folders in it: facts->is_folder says so
 * afterwards. */
YARN_MUST_CHECK int yarn_path_find(char ret_path[YARN_PATH_MAX], const char *pattern,
                                   struct yarn_pattern_facts *facts);

/* Creates each folder on the path of the file, as mkdir -p does. Restores `path`. */
YARN_MUST_CHECK int yarn_path_make_folders(char *path);

/* The folder that the file lies in, in ret_folder or a literal. */
const char *yarn_path_folder(const char *path, char ret_folder[YARN_PATH_MAX]);
