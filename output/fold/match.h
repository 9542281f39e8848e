/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Which functions of two profiles are the same one, so that they can be compared although the
 * program was built again between them. By name, never by address:
 *  - name and file name of the module are equal, or
 *  - the name is equal and each profile has it once only (a library got another version in its
 *    file name; the code moved to another library).
 * Functions without a name are called by an address, which a rebuilt module changes: those of a
 * module are one function together, unless both profiles saw the same build of it.
 *
 * Threads: one owner at a time.
 */
#pragma once

#include "output/analysis/profile/profile.h"

struct yarn_match_function {
    const char *name;        /* borrowed from the profiles */
    const char *module;      /* path, as the later profile has it if it does */
    uint32_t functions[2];   /* of the profiles; YARN_DUMP_NONE: that one has none (both: unused) */
    bool is_pseudo, is_lump; /* lump: all nameless functions of a module */
};

struct yarn_match {
    struct yarn_match_function *functions; /* owned array */
    size_t count, capacity;
    uint32_t *numbers[2]; /* owned: of each function of a profile, its number here */
};

/* `before` NULL: every function of `after` is one of its own. */
YARN_MUST_CHECK int yarn_match_build(const struct yarn_profile *before,
                                     const struct yarn_profile *after,
                                     struct yarn_match *ret_match);
/* Adds a function of no module, which no function of a profile is. */
YARN_MUST_CHECK int yarn_match_add_pseudo(struct yarn_match *match, const char *name,
                                          uint32_t *ret_number);
void yarn_match_fini(struct yarn_match *match);
