/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The dumps that a user named: files, or folders, of which every file that is a dump counts.
 * Threads: one owner at a time.
 */
#pragma once

#include "core/base/base.h"

struct yarn_source {
    char *path;        /* owned */
    bool has_process;  /* the first record was found */
    uint32_t pid;      /* of it */
    uint64_t start_ns; /* of the recording */
    uint64_t start_realtime_ns;
    char machine[128]; /* as yarn_machine_name says */
    uint64_t bytes;
    uint16_t version_minor;
};

struct yarn_sources {
    struct yarn_source *list; /* owned array, in order of their start */
    size_t count;
    size_t capacity;
    size_t nr_empty; /* files of folders that hold nothing, not even a dump's header */
};

/* What cannot be read, for a message: "PATH: WHY". */
struct yarn_source_failure {
    char path[4096];
    char why[256];
};

/* -ENOEXEC: no dump; -ENODATA: the same, it ends before its header does; another negative errno:
 * could not be read; *ret_failure is filled. */
YARN_MUST_CHECK int yarn_sources_add(struct yarn_sources *sources, const char *path,
                                     struct yarn_source_failure *ret_failure);
uint64_t yarn_sources_bytes(const struct yarn_sources *sources);
/* Brings them into the order of their starts, by real time where they are of several machines. */
void yarn_sources_sort(struct yarn_sources *sources);
void yarn_sources_fini(struct yarn_sources *sources);
