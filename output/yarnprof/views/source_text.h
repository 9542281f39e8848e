/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A source file's lines, found where the debug information says or below a folder that the user
 * names. Threads: one.
 */
#pragma once

#include <time.h>

#include "core/base/base.h"

struct yarn_source_text {
    char *path;   /* owned; where it was found; NULL: not found */
    char *bytes;  /* owned; each line ends with a NUL */
    char **lines; /* owned array */
    size_t nr_lines;
    struct timespec modified;
};

/* `root` NULL: at `path` only; else below `root`, at the longest end of `path` that is there, and
 * then at `path`. -ENOENT, or why it cannot be read. */
YARN_MUST_CHECK int yarn_source_text_open(struct yarn_source_text *text, const char *path,
                                          const char *root);
/* Idempotent. */
void yarn_source_text_close(struct yarn_source_text *text);

/* Counted from 1; NULL: the file has no such line. */
const char *yarn_source_text_line(const struct yarn_source_text *text, size_t line);
