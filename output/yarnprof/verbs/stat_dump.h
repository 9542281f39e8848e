/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What YARN_COUNTERS has left in dumps: the sum of each process at each interval, and what each
 * thread's samples of the slow clock tell of it. Threads: one.
 */
#pragma once

#include "output/analysis/profile/profile.h"
#include "output/yarnprof/views/stat.h"

struct yarn_stat_dump {
    struct yarn_profile profile; /* that all is of */
    bool is_loaded;
    uint32_t *row_of; /* owned; by event of the profile */
    struct yarn_stat_row *rows, *threads;
    size_t nr_rows, nr_threads, rows_capacity, threads_capacity;
    struct yarn_stat *intervals; /* of one process alone */
    size_t nr_intervals, intervals_capacity;
};

/* Whether a path is a dump or a folder, and no command. */
bool yarn_stat_dump_is(const char *path);

/* An exit status, of which it complains itself; -1: all is well. */
YARN_MUST_CHECK int yarn_stat_dump_load(struct yarn_stat_dump *dump, char *const *paths);

/* Rows of threads, and of what they lack of the sums. -ENOMEM. */
YARN_MUST_CHECK int yarn_stat_dump_by_thread(struct yarn_stat_dump *dump,
                                             struct yarn_stat *ret_stat);

/* Idempotent. */
void yarn_stat_dump_fini(struct yarn_stat_dump *dump);
