/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Stacks as paths from the outside in, by a key that each function has: stacks that it does not
 * tell apart are one path. A parent has a smaller number than its children. Threads: one owner at a
 * time.
 */
#pragma once

#include "output/analysis/profile/profile.h"

struct yarn_path {
    uint32_t parent; /* YARN_DUMP_NONE: outermost */
    uint32_t key;
};

struct yarn_paths {
    struct yarn_path *list; /* owned array */
    size_t count, capacity;
    struct yarn_table index; /* (parent, key) to path */
};

#define YARN_PATHS_EMPTY ((struct yarn_paths){.index = YARN_TABLE_CLOSED})

/* Finds or adds the path. -ENOMEM. */
YARN_MUST_CHECK int yarn_paths_below(struct yarn_paths *paths, uint32_t parent, uint32_t key,
                                     uint32_t *ret_path);

struct yarn_paths_stacks {
    const struct yarn_profile *profile;
    const uint32_t *keys;  /* of each function; NULL: its number */
    const uint8_t *chosen; /* of each stack, and with it those that call it; NULL: all */
    uint8_t bit;           /* of those bytes */
    uint32_t top;          /* the path that they are below; YARN_DUMP_NONE: none */
};

/* The path of each chosen stack, into an array with one item a stack. -ENOMEM. */
YARN_MUST_CHECK int yarn_paths_place(struct yarn_paths *paths,
                                     const struct yarn_paths_stacks *stacks, uint32_t *places);
/* Idempotent. */
void yarn_paths_fini(struct yarn_paths *paths);
