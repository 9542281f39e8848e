/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What threads did when, for the lanes of a page: of each slice the shares of running, runnable,
 * blocked and unknown time, a byte each (255: all of it). Threads: one.
 */
#pragma once

#include "output/export/page/graph.h"
#include "output/export/page/packed.h"

/* log2 of how many slices of the page one of these is; then of each of the graph's threads how many
 * stretches of equal slices; of each how many slices, whether anybody lived in them, and, if so,
 * the four shares. -ENOMEM: nothing is written. */
YARN_MUST_CHECK int yarn_page_states_write(const struct yarn_page_graph *graph,
                                           struct yarn_packed *packed);
