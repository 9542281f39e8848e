/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Which dumps a recording left: the files in the folder of the output pattern that are dumps and
 * have been written since, or those that this process has written itself. Threads: one.
 */
#pragma once

#include "output/analysis/load/sources.h"

struct yarn_written_folder {
    char path[4096];
    unsigned depth; /* so many folders below it may have names of their own */
};

/* The folder of the pattern, as far as it is the same for all. */
void yarn_written_folder(const char *pattern, struct yarn_written_folder *ret_folder);

/* To be freed by yarn_sources_fini. */
void yarn_written_find(const struct yarn_written_folder *folder, uint64_t since_ns,
                       struct yarn_sources *ret_sources);

struct yarn_written {
    size_t nr_dumps, nr_failed; /* whose recording failed before the end */
    uint64_t samples, lost, bytes;
    uint64_t cpu_ns;       /* of the recorded processes, with our own part and what was stopped */
    uint64_t nr_processes; /* as far as they are known: with children that had no dump */
    bool is_unread;        /* they could not be read back: their number is all that is known */
    char path[4096];       /* of the one dump, else the folder; empty: this one */
    char events[2048];     /* those that were not had as asked, and why; empty: none */
    char fault[1024];      /* why a recording failed or has no sample; empty: nothing is known */
};

/* What a run left. `since_ns` on CLOCK_REALTIME. */
struct yarn_written yarn_written_read(const struct yarn_written_folder *folder, uint64_t since_ns,
                                      const char *run);

/* A dump that this process has written itself. */
struct yarn_own_dump {
    char *path;             /* owned */
    uint64_t samples, lost; /* as it says */
    uint64_t cpu_ns;        /* with our own part and what was stopped */
    bool says_more;         /* why it failed or has no sample */
    bool lacks_names;
};

struct yarn_own_dumps {
    struct yarn_own_dump *list; /* owned; in the order of their ends */
    size_t count, capacity;
};

/* The same of these, as far as they are still there: only what says more is read back, and the
 * last, for the events. */
struct yarn_written yarn_written_know(const struct yarn_own_dumps *own,
                                      const struct yarn_written_folder *folder, const char *run);

/* Those whose functions lack names. To be freed by yarn_sources_fini. */
void yarn_written_nameless(const struct yarn_own_dumps *own, struct yarn_sources *ret_sources);

void yarn_own_dumps_fini(struct yarn_own_dumps *own);
