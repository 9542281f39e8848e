/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What functions spent themselves by line of the source, where the profile's frames have lines: of
 * the whole recording. Threads: one.
 */
#pragma once

#include "output/export/page/order.h"
#include "output/export/page/packed.h"

/* One event, function and line. */
struct yarn_page_place {
    uint32_t function; /* where it stands in the order */
    uint32_t event;    /* of the page */
    uint32_t file;     /* text of the profile */
    uint32_t line;
    uint64_t weight;
};

struct yarn_page_places {
    const struct yarn_profile *profile; /* borrowed */
    struct yarn_page_place *list;       /* owned; by file, function, event, line */
    size_t count, capacity;
};

/* Of the side after. -ENOMEM. */
YARN_MUST_CHECK int yarn_page_places_build(const struct yarn_page_graph *graph,
                                           const struct yarn_page_order *order,
                                           struct yarn_page_places *ret_places);
void yarn_page_places_fini(struct yarn_page_places *places);

/* <li> elements, of the files in the order in which they first occur. */
void yarn_page_places_put_files(const struct yarn_page_places *places, FILE *file);
/* How many; of each function, event, 1 where the next file begins, line,
 * weight. */
void yarn_page_places_write(const struct yarn_page_places *places, struct yarn_packed *packed);
