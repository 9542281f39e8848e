/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Which part of a profile a view shows. Time is cut while the dumps are read (and events, which
 * stand for themselves): percentages are of what remains. Threads, processes, modules and functions
 * only hide: percentages stay those of the whole event.
 * Threads: one owner at a time.
 */
#pragma once

#include <regex.h>

#include "output/analysis/profile/profile.h"

/* Counted from the start of the recording, or absolute as `script` prints times (after @). */
struct yarn_time_range {
    uint64_t from_ns, to_ns; /* to: UINT64_MAX where open */
    bool from_is_absolute, to_is_absolute;
};

#define YARN_TIME_RANGE_ALL ((struct yarn_time_range){.to_ns = UINT64_MAX})

/* "A..B", either may be missing. -EINVAL. */
YARN_MUST_CHECK int yarn_time_range_parse(const char *text, struct yarn_time_range *ret_range);
/* As the records' clock has it: `start_ns` is where what is not absolute begins, and the clock that
 * was asked about has `offset_ns` more. What is open is 0 and UINT64_MAX. */
void yarn_time_range_on_clock(const struct yarn_time_range *range, uint64_t start_ns,
                              int64_t offset_ns, uint64_t *ret_from_ns, uint64_t *ret_to_ns);

/* What there is a filter by. */
enum yarn_filter_by {
    YARN_FILTER_EVENT,
    YARN_FILTER_THREAD,  /* names or tids */
    YARN_FILTER_PROCESS, /* names of executables or pids */
    YARN_FILTER_COMM,    /* names of threads */
    YARN_FILTER_MODULE,  /* paths or what follows their last slash */
    YARN_FILTER_FUNCTION,
};

extern const char *const yarn_filter_names[]; /* of the options */

/* Lists are separated by commas; names are shell patterns. NULL: all. */
struct yarn_filter {
    const char *lists[YARN_FILTER_FUNCTION];
    regex_t function;
    bool has_function;
};

/* -EINVAL; `ret_why` of `size` bytes says why. */
YARN_MUST_CHECK int yarn_filter_set_function(struct yarn_filter *filter, const char *regex,
                                             char *ret_why, size_t size);
void yarn_filter_fini(struct yarn_filter *filter);

/* A word of the list is the text, or a shell pattern that it matches. */
bool yarn_filter_list_has(const char *list, const char *text);
bool yarn_filter_has_event(const struct yarn_filter *filter, const struct yarn_profile *profile,
                           uint32_t event);
bool yarn_filter_has_thread(const struct yarn_filter *filter, const struct yarn_profile *profile,
                            uint32_t thread);
bool yarn_filter_has_function(const struct yarn_filter *filter, const struct yarn_profile *profile,
                              uint32_t function);
/* The same of a thread by its name and number, of the profile's dump; or of no process that was
 * recorded (YARN_DUMP_NONE), which is then one of its own. */
bool yarn_filter_has_task(const struct yarn_filter *filter, const struct yarn_profile *profile,
                          uint32_t dump, const char *comm, uint32_t tid);
/* False where every thread passes. */
bool yarn_filter_is_by_thread(const struct yarn_filter *filter);
/* False where every function passes. */
bool yarn_filter_is_by_function(const struct yarn_filter *filter);
