/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Stacks as paths of names: those that differ only in addresses, or in the module of functions of
 * one name, are one. In the order of their names, outermost first, so that equal profiles give
 * equal files. Threads: one owner at a time.
 */
#pragma once

#include "output/export/export.h"

struct yarn_path {
    uint32_t parent; /* YARN_DUMP_NONE: outermost */
    uint32_t name;   /* text of the profile */
    uint32_t rank;   /* place in the order, from 1 */
};

struct yarn_paths {
    struct yarn_path *paths; /* owned array */
    size_t count;
    size_t capacity;
    uint32_t *of_stack; /* owned; a path for each stack */
};

YARN_MUST_CHECK int yarn_paths_init(struct yarn_paths *paths, const struct yarn_profile *profile);
/* Idempotent. */
void yarn_paths_fini(struct yarn_paths *paths);
