/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Fills the tree of a page's graph, its leaves, threads and cells from the stacks of both sides.
 * Stacks that differ only in addresses are one path. Threads: one owner at a time.
 */
#pragma once

#include "output/export/page/graph.h"

/* Events and functions must be there. */
YARN_MUST_CHECK int yarn_page_paths_add(struct yarn_page_graph *graph);
