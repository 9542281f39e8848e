/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The two views with depth. Top-down: from the outermost function to those that it calls. Bottom-up
 * (callers): from a function to those that call it, and so on outwards. Nodes of one function below
 * one node are one.
 * Stacks whose outer part is missing are below the pseudo-function that says why.
 *
 * Threads: one owner at a time.
 */
#pragma once

#include "output/fold/fold.h"

struct yarn_tree_node {
    uint64_t self; /* in the event's unit */
    uint64_t
        total; /* bottom-up: the part of the first function's weight with this path of callers */
    uint64_t samples, total_samples;
    uint32_t function; /* YARN_DUMP_NONE: the root of an event */
    uint32_t event;
    uint32_t parent;
    uint32_t depth;                     /* 0: the root of an event */
    uint32_t first_child, next_sibling; /* YARN_DUMP_NONE: none; the greatest total first */
};

struct yarn_tree {
    struct yarn_tree_node *nodes; /* owned array; the first root is 0; follow the links */
    size_t count;
    size_t capacity;
};

/* Nodes below `min_percent` of the event's total are left out. */
YARN_MUST_CHECK int yarn_tree_build(const struct yarn_choice *choice, double min_percent,
                                    struct yarn_tree *ret_tree);

struct yarn_callers_options {
    /* A byte a function, 1: start from it, wherever it is on a stack. NULL: from each function that
     * has samples of its own. */
    const uint8_t *starts;
    double min_percent; /* of the event's total: what is below is not followed */
};

YARN_MUST_CHECK int yarn_callers_build(const struct yarn_choice *choice,
                                       const struct yarn_callers_options *options,
                                       struct yarn_tree *ret_tree);
void yarn_tree_fini(struct yarn_tree *tree);

/* The next node in reading order (a node, then what is below it); YARN_DUMP_NONE at the end. */
uint32_t yarn_tree_next(const struct yarn_tree *tree, uint32_t node);
