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

/* What was recorded, on standard error. False: nothing. `since_ns` on CLOCK_REALTIME. */
bool yarn_written_report(const struct yarn_written_folder *folder, uint64_t since_ns,
                         bool is_terminal);
