/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The dumps and the part of them that a command line names, and the profile that they make.
 * Threads: one.
 */
#pragma once

#include <limits.h>

#include "core/base/base.h"
#include "output/analysis/load/load.h"
#include "output/fold/choice.h"
#include "output/yarnprof/io/out.h"
#include "output/yarnprof/options/arguments.h"

/* Zero: the view's own choice. */
enum yarn_inlines { YARN_INLINES_AUTO, YARN_INLINES_ON, YARN_INLINES_OFF };

/* Reports which, or that there is none: false. */
bool yarn_newest_find(const char *verb, char ret_path[PATH_MAX]);

struct yarn_select {
    struct yarn_filter filter;
    struct yarn_time_range time;
    enum yarn_inlines inlines;
    char regex_fault[160];         /* why the regular expression is invalid */
    struct yarn_choice choices[2]; /* of the profiles that were read */
};

#define YARN_SELECT_EMPTY                                                                          \
    {                                                                                              \
        .time = {.to_ns = UINT64_MAX }                                                             \
    }

/* What every view of samples takes. */
#define YARN_SELECT_ARGUMENTS                                                                      \
    {"inlines", 0, NULL, "inlined functions are frames of their own", YARN_ARGUMENT_INLINES},      \
        {"no-inlines", 0, NULL, "inlined functions are part of those around them",                 \
         YARN_ARGUMENT_NO_INLINES},                                                                \
        {"", 0, NULL, "What is looked at (LIST: separated by commas):", 0},                        \
        {"event", 0, "LIST", "these events (names, shell patterns)", YARN_ARGUMENT_EVENT},         \
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
/* Not everything. Events, which stand for themselves, do not count. */
bool yarn_select_is_part(const struct yarn_select *select);
void yarn_select_fini(struct yarn_select *select);

/* The dumps that `paths` (NULL ends it) name, in order of their starts; the same result. */
YARN_MUST_CHECK int yarn_select_sources(const char *verb, char *const *paths,
                                        struct yarn_sources *sources);

/* Reads the dumps that `paths` (NULL ends it) name. Complains itself; an exit status, or -1
 * for success. */
YARN_MUST_CHECK int yarn_select_load(const char *verb, char *const *paths,
                                     const struct yarn_load_options *options,
                                     struct yarn_profile *ret_profile);

/* What a view shows besides functions, where the user leaves it alone. */
enum yarn_select_shown { YARN_SELECT_LINES = 1, YARN_SELECT_INLINES = 2 };

/* As yarn_select_load, of the part that was selected; `options` are the view's own, and get what
 * the selection says. Reports damage. */
YARN_MUST_CHECK int yarn_select_load_view(const char *verb, const struct yarn_select *select,
                                          unsigned shown, char *const *paths,
                                          struct yarn_load_options *options,
                                          struct yarn_profile *ret_profile);

/* Makes the choices of these profiles (two at most). Complains, also where an option lets nothing
 * of them pass; an exit status, or -1. */
YARN_MUST_CHECK int yarn_select_choose(const char *verb, struct yarn_select *select,
                                       const struct yarn_profile *const profiles[], size_t count);
/* The same where not only samples lie in the time; what the profile must know is `known`, a part of
 * the filter. */
YARN_MUST_CHECK int yarn_select_choose_records(const char *verb, struct yarn_select *select,
                                               const struct yarn_filter *known,
                                               const struct yarn_profile *profile);

/* Loads the one profile of a view, chooses of it, and shows it. An exit status. */
typedef int yarn_select_show_fn(void *self, struct yarn_profile *profile);
YARN_MUST_CHECK int yarn_select_show(const char *verb, struct yarn_select *select, unsigned shown,
                                     char *const *paths, struct yarn_load_options *options,
                                     yarn_select_show_fn *show, void *self);

/* Damage is no failure: what is readable is shown, and this says on standard error what is not. */
void yarn_select_report_damage(const char *verb, const struct yarn_profile *profile);

struct yarn_view {
    struct yarn_out out;
    struct yarn_select select;
    size_t limit;
    bool has_limit; /* the user gave one */
};

#define YARN_VIEW_EMPTY                                                                            \
    {                                                                                              \
        .select = YARN_SELECT_EMPTY                                                                \
    }

#define YARN_VIEW_LIMIT_ARGUMENT(help)                                                             \
    {                                                                                              \
        "limit", 0, "N", help, YARN_ARGUMENT_LIMIT                                                 \
    }

/* As take of yarn_command. */
YARN_MUST_CHECK int yarn_view_take(struct yarn_view *view, int id, const char *value,
                                   const char **ret_right);

/* How many rows are shown, 0 for all: where the user leaves it alone so many of text, else all. */
size_t yarn_view_limit(const struct yarn_view *view, size_t of_text);
