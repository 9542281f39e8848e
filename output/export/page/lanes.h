/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Which threads of a profile a page shows as one: each alone, or, where memory allows no more,
 * those of one name together, and at last all. Joins what was joined before and never parts it
 * again. Knows threads and their filter; does not know samples. Threads: one owner at a time.
 */
#pragma once

#include "output/analysis/profile/filter.h"

enum yarn_lanes_kind { YARN_LANES_THREADS, YARN_LANES_NAMES, YARN_LANES_ALL };

struct yarn_lanes {
    const struct yarn_filter *filter; /* borrowed; NULL: every thread passes */
    enum yarn_lanes_kind kind;
    uint32_t *firsts; /* owned array: of each thread the one that stands for its lane */
    size_t count, capacity;
    struct yarn_table names; /* of lanes, to their first threads */
};

#define YARN_LANES_EMPTY ((struct yarn_lanes){.names = YARN_TABLE_CLOSED})

/* Joins the threads that the profile has by now as `kind` says, by what they are called now. Where
 * threads are filtered, those of the last dump stay alone unless the profile `is_whole`: their
 * names can still change. Those that fail go. */
YARN_MUST_CHECK int yarn_lanes_join(struct yarn_lanes *lanes, const struct yarn_profile *profile,
                                    enum yarn_lanes_kind kind, bool is_whole);
/* Joins threads that came since. */
YARN_MUST_CHECK int yarn_lanes_add(struct yarn_lanes *lanes, const struct yarn_profile *profile);
void yarn_lanes_fini(struct yarn_lanes *lanes);

/* The thread that stands for the lane; YARN_DUMP_NONE: the filter leaves it out. */
static inline uint32_t yarn_lanes_first(const struct yarn_lanes *lanes, uint32_t thread)
{
    return thread < lanes->count ? lanes->firsts[thread] : thread;
}
