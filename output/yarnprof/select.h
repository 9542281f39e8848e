/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The dumps and the part of them that a command line names, and the profile that they make.
 * Threads: one.
 */
#pragma once

#include "output/analysis/load.h"
#include "output/yarnprof/arguments.h"

struct yarn_select {
    struct yarn_filter filter;
    struct yarn_time_range time;
    char regex_fault[160]; /* why the regular expression is none */
};

#define YARN_SELECT_EMPTY ((struct yarn_select){.time = YARN_TIME_RANGE_ALL})

#define YARN_SELECT_ARGUMENTS                                                                      \
    {"event", 0, "LIST", "these events (names, shell patterns)", YARN_ARGUMENT_EVENT},             \
        {"thread", 0, "LIST", "these threads (names or tids)", YARN_ARGUMENT_THREAD},              \
        {"process", 0, "LIST", "these processes (names or pids)", YARN_ARGUMENT_PROCESS},          \
        {"comm", 0, "LIST", "threads of these names", YARN_ARGUMENT_COMM},                         \
        {"module", 0, "LIST", "these modules (paths or file names)", YARN_ARGUMENT_MODULE},        \
        {"function", 0, "REGEX", "functions whose name matches", YARN_ARGUMENT_FUNCTION},          \
    {                                                                                              \
        "time", 0, "A..B", "from A to B after the start (2s..500ms), or @clock..@clock",           \
            YARN_ARGUMENT_TIME                                                                     \
    }

/* As take of yarn_command; -ENOENT: the option is not one of these. */
YARN_MUST_CHECK int yarn_select_take(struct yarn_select *select, int id, const char *value,
                                     const char **ret_right);
void yarn_select_fini(struct yarn_select *select);

/* The dumps that `paths` (NULL ends it) name, in order of their starts; the same result. */
YARN_MUST_CHECK int yarn_select_sources(const char *verb, char *const *paths,
                                        struct yarn_sources *sources);

/* Reads the dumps that `paths` (NULL ends it) name. Complains itself; an exit status, or -1
 * for success. */
YARN_MUST_CHECK int yarn_select_load(const char *verb, char *const *paths,
                                     const struct yarn_load_options *options,
                                     struct yarn_profile *ret_profile);

/* Damage is no failure: what is readable is shown, and this says on standard error what is not. */
void yarn_select_tell_damage(const char *verb, const struct yarn_profile *profile);
