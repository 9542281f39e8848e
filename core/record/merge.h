/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The records of all cores' rings as one stream in time order, read in place. A ring is in order by
 * itself but for rare inversions of a few microseconds, which pass through as they are.
 *
 * What is younger than a reading of the clock taken before the pass stays in the rings until the
 * next one, so an idle core holds nothing up. A record gets its time before it is visible in its
 * ring (the stack copy lies between), hence the margin.
 *
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "core/record/record.h"

/* By how much a record may become visible after its time. A copy of 64 KiB takes about 10 us. */
enum { YARN_MERGE_MARGIN_NS = 250000 };

struct yarn_merge_source {
    struct yarn_ring *ring; /* borrowed */
    /* The next record, looked at and not yet taken; valid while `is_ready`. */
    struct perf_event_header header;
    struct yarn_wrapped bytes;
    uint64_t time_ns;
    bool is_ready;
};

struct yarn_merge {
    struct yarn_merge_source *sources; /* borrowed */
    size_t count;
    struct yarn_record_decoder decoder;
    bool was_full; /* a ring had no room at the begin of a pass; for the caller to reset */
};

/* Hands the listener every record up to `until_ns` and gives the space back to the kernel after
 * each. The number of records; *ret_has_news says whether any but samples stay behind: those are
 * about threads and mappings, and are worth another pass soon. */
size_t yarn_merge_pass(struct yarn_merge *merge, uint64_t until_ns,
                       const struct yarn_record_listener *listener, bool *ret_has_news);
