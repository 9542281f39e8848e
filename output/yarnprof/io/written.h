/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Which dumps a recording left: the files in the folder of the output pattern that are dumps and
 * have been written since. Threads: one.
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
