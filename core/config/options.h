/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The options: what the user asked of the profiler, by the variables of the environment, as values.
 * The table of them all is options.def. Knows names, defaults and bounds; does not know what an
 * event or a ring is, so the text of `events` is only kept (core/event parses it).
 *
 * Immutable once made. Every text is a copy in the arena: the host may change its environment.
 * A variable that is set to nothing counts as not set.
 *
 * Threads: any number of readers. Signals: reading is safe.
 */
#pragma once

#include "core/base/arena.h"
#include "core/base/callgraph.h"
#include "core/base/choices.h"
#include "core/base/sched.h"
#include "core/base/span.h"
#include "core/base/text.h"

enum yarn_option {
#define YARN_OPTION(id, name, short_name, type, field, ...) id,
#include "core/config/options.def"
#undef YARN_OPTION
    YARN_OPTION_COUNT,
};

#define YARN_OPTION_WARNINGS_MAX 16

struct yarn_options {
#define YARN_OPTION(id, name, short_name, type, field, ...) type field;
#include "core/config/options.def"
#undef YARN_OPTION
    const char *texts[YARN_OPTION_COUNT]; /* the values in words; the default's where not set */
    bool in_compact[YARN_OPTION_COUNT];   /* the words come from the variable YARN */
    /* Sentences for the dump, such as "YARN_COLOUR is not a variable that yarn knows". */
    const char *warnings[YARN_OPTION_WARNINGS_MAX];
    size_t nr_warnings;
    size_t nr_warnings_dropped;
};

/* The room that the texts of any environment can need at most is this, with long ones refused. */
#define YARN_OPTIONS_ARENA_BYTES YARN_KIB(128)
#define YARN_OPTION_TEXT_MAX 8191

/* A value that cannot be used. The word lies in the environment, not in a copy. */
struct yarn_option_fault {
    enum yarn_option option; /* YARN_OPTION_COUNT: the form of YARN itself */
    bool in_compact;
    struct yarn_span word; /* borrowed; empty where something is missing */
    size_t at;             /* offset of the word in the option's value (in YARN's, if COUNT) */
    const char *why;       /* static; a phrase such as "not a number" */
    const char *right;     /* static; "… would be right" */
};

/* -EINVAL with *ret_fault filled; then the process is not to be profiled. -ENOMEM: the arena. */
YARN_MUST_CHECK int yarn_options_from_env(struct yarn_options *ret_options,
                                          struct yarn_arena *arena, char *const envp[],
                                          struct yarn_option_fault *ret_fault);

/* All defaults, nothing warned. */
void yarn_options_default(struct yarn_options *ret_options);

/* Gives one option the value that `text` says, as its variable would. */
YARN_MUST_CHECK int yarn_options_set(struct yarn_options *options, struct yarn_arena *arena,
                                     enum yarn_option option, const char *text,
                                     struct yarn_option_fault *ret_fault);

/* The same kind of fault for a value that a higher layer could not use, such as `events`. */
struct yarn_option_fault yarn_option_fault_in(const struct yarn_options *options,
                                              enum yarn_option option,
                                              const struct yarn_parse_error *error);

/* One line without its newline: yarn: YARN_FREQUENCY: "fast": not a number; … would be right */
void yarn_option_fault_describe(const struct yarn_option_fault *fault, struct yarn_text *text);

/* The first option from `from` on whose words differ from the default; COUNT where there is none.
 */
enum yarn_option yarn_options_next_changed(const struct yarn_options *options,
                                           enum yarn_option from);

/* A row of the table, for help and command lines. */
struct yarn_option_row {
    const char *name; /* long option of the command line, without -- */
    char short_name;  /* 0: none */
    const char *default_text;
    const char *value;
    const char *help;
    const char *right;
};

const struct yarn_option_row *yarn_option_row(enum yarn_option option);

/* YARN_LOG_FILE for log-file. */
void yarn_option_variable(enum yarn_option option, struct yarn_text *text);
