/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A file that gets its name when it is whole: it is written beside, then renamed. What breaks off,
 * by a failure or by Ctrl-C, leaves nothing, and a file of that name stays as it was.
 * Standard output, devices and pipes are written to directly, or at once at the end where the
 * writer must go back in the file.
 *
 * Threads: one; one file at a time. Signals: SIGINT, SIGTERM and SIGHUP are taken while one is
 * open.
 */
#pragma once

#include <stdio.h>

#include "core/base/base.h"

struct yarn_new_file {
    FILE *file;   /* to write to; NULL: not open */
    FILE *stream; /* where `file` goes at the end; NULL: it is renamed, or it is the stream */
    char *name;   /* owned; NULL: a stream */
    char *beside; /* owned; the name until then; NULL: none */
};

/* True where `path` is standard output (NULL or "-") and that is a terminal. */
bool yarn_new_file_is_terminal(const char *path);

/* `path` NULL or "-": standard output. `is_file`: one that can be gone back in, and that has the
 * name `beside`. */
YARN_MUST_CHECK int yarn_new_file_open(struct yarn_new_file *file, const char *path, bool is_file);

/* Closes it and gives it its name; where that fails, as abandon. */
YARN_MUST_CHECK int yarn_new_file_commit(struct yarn_new_file *file);
/* Idempotent. */
void yarn_new_file_abandon(struct yarn_new_file *file);
