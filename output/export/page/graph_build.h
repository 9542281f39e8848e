/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Makes the graph of a page from one profile, or from two that are compared.
 * Threads: one owner at a time.
 */
#pragma once

#include "output/export/page/graph.h"

/* `sides[0].profile` NULL: one profile is shown. Makes the slices of both sides equally wide. */
YARN_MUST_CHECK int yarn_page_graph_build(const struct yarn_page_side sides[2],
                                          struct yarn_page_graph *ret_graph);
void yarn_page_graph_fini(struct yarn_page_graph *graph);
