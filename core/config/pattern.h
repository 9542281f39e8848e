/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The path pattern of YARN_OUTPUT and YARN_CONTROL: %e executable, %p pid, %h host, %t start in ns,
 * %n sequence, %r rank of MPI or Slurm, %{NAME} a variable of the environment, %% a percent sign.
 * Knows the letters; does not know the file system: the caller says whether a path is a folder.
 *
 * Threads, signals: pure functions; safe anywhere.
 */
#pragma once

#include "core/base/arena.h"
#include "core/base/text.h"

/* The values for the letters. Only %r and %{NAME} read envp. */
struct yarn_pattern_facts {
    const char *exe; /* path or name; %e is what follows the last / */
    const char *host;
    uint64_t pid;
    uint64_t start_ns;
    uint64_t sequence;
    char *const *envp;     /* NULL: empty */
    bool is_folder;        /* what the pattern names is a folder: `in_folder` goes into it */
    const char *folder;    /* where a relative path begins; NULL: nowhere */
    const char *in_folder; /* the pattern within a folder; NULL: the dump's default */
};

#define YARN_PATTERN_DEFAULT "yarn.%e.%p.dump"
#define YARN_PATTERN_CONTROL "yarn.%e.%p.sock"

/* The rank that the launcher of MPI or Slurm gave this process; NULL: there is none. */
const char *yarn_pattern_rank(char *const envp[]);

/* -EINVAL with the error at an unknown letter, a missing brace or a missing name. */
YARN_MUST_CHECK int yarn_pattern_check(const char *pattern, size_t size,
                                       struct yarn_parse_error *ret_error);

/* Copies of the entries of envp that the pattern reads, in a block as envp is: a host may change
 * its environment later. NULL where the arena has no room. */
char *const *yarn_pattern_environment(const char *pattern, char *const envp[],
                                      struct yarn_arena *arena);

/* Appends the path to *text. A path that ends in a slash gets the pattern for folders behind it.
 * -EINVAL as above, -ENAMETOOLONG where the text is cut. An unset %{NAME} is nothing. */
YARN_MUST_CHECK int yarn_pattern_expand(const char *pattern, const struct yarn_pattern_facts *facts,
                                        struct yarn_text *text, struct yarn_parse_error *ret_error);
