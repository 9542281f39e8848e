/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The single events of a page: switches and tracepoints of its streams, each with the lane of the
 * thread whose it is, and behind switches and wakings their targets. Samples of other events are
 * not among them: they are in the graph. All of them or, beyond YARN_PAGE_ENTRIES_MAX, only how
 * many there are when: a target without its origin would be wrong. Threads: one owner at a time.
 */
#pragma once

#include "output/analysis/value/strings.h"
#include "output/export/page/density.h"
#include "output/export/page/graph.h"
#include "output/export/page/packed.h"
#include "output/store/stream.h"

enum { YARN_PAGE_ENTRIES_MAX = 100000 };

struct yarn_page_stream {
    struct yarn_stream *stream; /* borrowed; couplebreak is on */
    bool is_on;                 /* its targets are shown when the page opens */
};

struct yarn_page_kind {
    uint32_t name; /* of the texts */
    bool is_target;
};

struct yarn_page_entries {
    const struct yarn_page_graph *graph; /* borrowed */
    const struct yarn_page_stream *streams;
    size_t nr_streams;
    uint64_t nr_all;              /* without targets */
    bool has_more;                /* and there may be more than that */
    struct yarn_strings texts;    /* names of kinds, and what entries say */
    struct yarn_page_kind *kinds; /* owned */
    size_t nr_kinds, kinds_capacity;
    struct yarn_table kind_of; /* by name */
    uint32_t *infos;           /* owned: texts */
    size_t nr_infos, infos_capacity;
    struct yarn_table info_of;        /* by text */
    struct yarn_page_density density; /* where there are too many */
};

/* `nr_unread`: so many switches, at least, were not read as streams, and are counted as the graph
 * has them. -ENOMEM. */
YARN_MUST_CHECK int yarn_page_entries_build(const struct yarn_page_graph *graph,
                                            const struct yarn_page_stream *streams,
                                            size_t nr_streams, uint64_t nr_unread,
                                            struct yarn_page_entries *ret_entries);
void yarn_page_entries_fini(struct yarn_page_entries *entries);

/* <li> elements. */
void yarn_page_entries_put_streams(const struct yarn_page_entries *entries, FILE *file);
void yarn_page_entries_put_kinds(const struct yarn_page_entries *entries, FILE *file);
void yarn_page_entries_put_infos(const struct yarn_page_entries *entries, FILE *file);

/* How many there are without targets, and whether there may be more; where they are too many, when
 * they were (density.h); then of each stream how many are written, with targets, and of each: time
 * since the last one's (of the first since the page's first slice, signed), kind, lane
 * + 1 (0: of another thread), tid, core + 1 (0: unknown), text + 1 (0: none). -ENOMEM: nothing is
 * written. */
YARN_MUST_CHECK int yarn_page_entries_write(struct yarn_page_entries *entries,
                                            struct yarn_packed *packed);
