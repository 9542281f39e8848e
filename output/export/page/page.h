/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A profile, or the difference of two, as one HTML page that needs nothing else: no network, no
 * other file. Names are text of the document; numbers are packed and read by the page's script.
 * The assets that never change (page.html, style.css, *.js) are built in.
 *
 * Threads: one.
 */
#pragma once

#include <stdio.h>

#include "output/export/page/entries.h"
#include "output/export/page/graph.h"

struct yarn_page {
    struct yarn_page_side sides[2]; /* before (its profile NULL: there is none), after */
    const char *title;              /* borrowed; NULL: the command that was recorded */
    /* Of the profile after, where its side has `sched`. */
    const struct yarn_page_stream *streams; /* borrowed */
    size_t nr_streams;
    uint64_t nr_unread; /* of their events, at least, where they are too many to be read */
    const char *tables; /* borrowed: JSON, arrays of rows; NULL: none */
};

/* -ENOMEM; what goes wrong with the file is the file's. */
YARN_MUST_CHECK int yarn_page_write(const struct yarn_page *page, FILE *file);
