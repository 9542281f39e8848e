/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The dumps of a recording as one file, where the user named one: they are written into a folder
 * beside it, and merged when all have ended. A folder that is left behind has them as they were.
 * Threads: one.
 */
#pragma once

#include "core/base/base.h"

struct yarn_one_file {
    char path[4096];   /* empty: dumps go where the pattern says */
    char folder[4096]; /* of the parts */
};

/* The pattern is a file's name, with nothing in it that differs from process to process, and is no
 * folder: YARN_OUTPUT is the folder from now on. A negative errno. */
YARN_MUST_CHECK int yarn_one_file_begin(struct yarn_one_file *file, const char *pattern);

/* Makes the file, under a name that is free, and removes the folder; YARN_OUTPUT is the file.
 * An exit status: complains itself. */
YARN_MUST_CHECK int yarn_one_file_end(struct yarn_one_file *file);
