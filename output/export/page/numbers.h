/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * All numbers of a page, packed, in the order in which data.js takes them:
 *
 *   slice shift; number of slices; ns from the start to the first (signed); 1 where there is a
 *     before; runs before and after, by whose spread changes are judged (0: by the samples); by how
 *     many runs what was spent before and after is divided
 *   functions: how many; flags of each (1 pseudo, 2 kernel, 4 nameless, 8 inlined);
 *     module of each
 *   nodes behind the root: how many; number - parent of each; function of each
 *   leaves: how many; of each node (difference from the one before, signed)
 *   groups, one an event and thread: how many; of each event, thread, cells, period (0: weights
 *     are given), then of its cells: leaf (difference); slice (difference if the leaf is the same);
 *     samples - 1; and weight if given
 *
 * Threads: one.
 */
#pragma once

#include <stdio.h>

#include "output/export/page/order.h"

/* How many slices are shown, and when the first begins, on the profile's clock. */
uint32_t yarn_page_numbers_slices(const struct yarn_page_graph *graph);
uint64_t yarn_page_numbers_first_ns(const struct yarn_page_graph *graph);

void yarn_page_numbers_write(const struct yarn_page_graph *graph,
                             const struct yarn_page_order *order, FILE *file);
