/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The functions and modules that a page names, in the order in which they stand in its document:
 * functions by what they spent themselves on the first event, the greatest first, then by name.
 * Threads: one owner at a time.
 */
#pragma once

#include "output/export/page/graph.h"

struct yarn_page_order {
    uint32_t *functions; /* owned: functions of the match, as they stand */
    size_t nr_functions;
    uint32_t *places;            /* owned: of each function of the match, where it stands */
    uint32_t *module_of;         /* owned: of each function that stands, a number of `modules` */
    struct yarn_strings modules; /* paths; number 0 is the empty one */
};

YARN_MUST_CHECK int yarn_page_order_build(const struct yarn_page_graph *graph,
                                          struct yarn_page_order *ret_order);
void yarn_page_order_fini(struct yarn_page_order *order);
