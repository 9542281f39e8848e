/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A file that gets its name when it is whole: it is written beside, then renamed. What breaks off,
 * by a failure or by Ctrl-C, leaves nothing, and a file of that name stays as it was.
 * Standard output, devices and pipes are written to directly, or at once at the end where the
 * writer must go back in the file.
 *
 * What a lying dump asks to be written has a bound: see yarn_new_file_allow. Not so on a terminal,
 * where somebody sees it; what is written back and forth, or by a descriptor, has it from its
 * writer.
 *
 * Threads: one; one file at a time. Signals: SIGINT, SIGTERM and SIGHUP are taken while one is
 * open.
 */
#pragma once

#include <stdio.h>

#include "core/base/base.h"

struct yarn_new_file {
    FILE *file;                        /* to write to; NULL: not open */
    struct yarn_new_file_bound *bound; /* owned; NULL: `file` is not bounded */
    bool is_text;                      /* lines: what is too much is cut, and a line says so */
    FILE *stream; /* where `file` goes at the end; NULL: it is renamed, or it is the stream */
    char *name;   /* owned; NULL: a stream */
    char *beside; /* owned; the name until then; NULL: none */
};

/* So many bytes of dumps are read: what is written may be larger by a multiple of them. */
void yarn_new_file_allow(uint64_t input_bytes);

/* So large may it be: who writes what has no bound here keeps to it. */
uint64_t yarn_new_file_allowed(void);

/* It is read from: no new file takes its place. Up to a thousand are kept. */
void yarn_new_file_keep(const char *path);
/* What an error of the functions below says, for people. */
const char *yarn_new_file_why(int err);

/* True where `path` is standard output (NULL or "-") and that is a terminal. */
bool yarn_new_file_is_terminal(const char *path);

/* The bound in words. */
#define YARN_NEW_FILE_MOST "256 MiB and 4 KiB per byte of the recording"

enum yarn_new_file_kind {
    YARN_NEW_FILE_BOUNDED,
    YARN_NEW_FILE_PLAIN,    /* has a descriptor, and no bound */
    YARN_NEW_FILE_SEEKABLE, /* can be gone back in, and has the name `beside`; no bound */
};

/* `path` NULL or "-": standard output. -EEXIST: it is one of those that are kept. */
YARN_MUST_CHECK int yarn_new_file_open(struct yarn_new_file *file, const char *path,
                                       enum yarn_new_file_kind kind);

/* Closes it and gives it its name; where that fails, as abandon. -EFBIG: it would have become
 * larger than its bound; text is there all the same, and says so. */
YARN_MUST_CHECK int yarn_new_file_commit(struct yarn_new_file *file);
/* Idempotent. */
void yarn_new_file_abandon(struct yarn_new_file *file);
