/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Events as the kernel's tracing buffers hold them: pages of a core one behind the other, each with
 * the time of its first event, and before each event the time since the one before. Their number is
 * found by putting all events once, before the file's places are known, and once more after.
 * Knows pages; does not know what an event's bytes mean nor where the pages lie in the file.
 *
 * Threads: one owner at a time.
 */
#pragma once

#include <stdio.h>

#include "core/base/span.h"

enum {
    YARN_TRACE_PAGE = 4096,
    YARN_TRACE_PAGE_DATA = YARN_TRACE_PAGE - 16,
    YARN_TRACE_EVENT_MAX = YARN_TRACE_PAGE_DATA - 8, /* of an event's own bytes */
};

struct yarn_trace_core {
    uint8_t *page;     /* owned; the page that is being filled */
    size_t used;       /* of its data; 0: nothing is in it */
    uint64_t last_ns;  /* of the last event in it */
    uint64_t nr_pages; /* filled before it */
    uint64_t at;       /* where the first lies in the file */
};

struct yarn_trace_pages {
    FILE *file;                    /* borrowed; NULL: pages are only counted */
    struct yarn_trace_core *cores; /* owned, by number */
    size_t nr_cores;
};

YARN_MUST_CHECK int yarn_trace_pages_init(struct yarn_trace_pages *pages, size_t nr_cores);
/* Idempotent. */
void yarn_trace_pages_fini(struct yarn_trace_pages *pages);

/* Behind the events of that core that were put before; not earlier than they are. -EFBIG: it is
 * larger than a page. */
YARN_MUST_CHECK int yarn_trace_pages_put(struct yarn_trace_pages *pages, uint32_t core,
                                         uint64_t time_ns, struct yarn_span event);

/* Pages that are begun are filled up. `nr_pages` of each core says then how many there are. */
YARN_MUST_CHECK int yarn_trace_pages_end(struct yarn_trace_pages *pages);

/* From here on the same events are put again and written: each core has its `at`. */
void yarn_trace_pages_restart(struct yarn_trace_pages *pages, FILE *file);
