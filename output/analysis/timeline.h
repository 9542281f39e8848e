/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every record of a profile in time order: samples one by one, the rest as lines of text. All of
 * them in memory, or at most so many: then what does not fit lies, in order, in a file without a
 * name, and is merged when it is taken.
 * Threads: one owner at a time.
 */
#pragma once

#include "core/base/base.h"

struct yarn_timeline_entry {
    uint64_t time_ns;
    uint64_t weight;
    uint32_t stack;  /* of the profile; YARN_DUMP_NONE: none */
    uint32_t thread; /* of the profile; YARN_DUMP_NONE: none */
    uint32_t comm;   /* the thread's at that time */
    uint32_t text;   /* 0: a sample; else the line */
    uint32_t dump;
    uint16_t event;
    uint16_t cpu; /* UINT16_MAX: none */
    uint8_t stack_end;
};

struct yarn_runs;

struct yarn_timeline {
    struct yarn_timeline_entry *entries; /* owned array */
    size_t count;
    size_t capacity;
    size_t most;            /* entries in memory; 0: all are */
    struct yarn_runs *runs; /* owned; NULL while nothing had to leave memory */
    size_t at;              /* of yarn_timeline_next */
    uint64_t nr_added;
};

/* Where `most` is reached: also a negative errno of the file that they go into. */
YARN_MUST_CHECK int yarn_timeline_add(struct yarn_timeline *timeline,
                                      const struct yarn_timeline_entry *entry);
/* After the last is added. Entries of equal time keep their order. */
YARN_MUST_CHECK int yarn_timeline_sort(struct yarn_timeline *timeline);
/* In order of time, once sorted: 1, 0 at the end, or a negative errno. Their `comm` is as it was
 * when they were added, where `most` is set: yarn_profile_comm_at knows better. */
YARN_MUST_CHECK int yarn_timeline_next(struct yarn_timeline *timeline,
                                       struct yarn_timeline_entry *ret_entry);
void yarn_timeline_fini(struct yarn_timeline *timeline);
