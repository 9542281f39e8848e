/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What `sched --save` writes and `sched --load` reads: which streams are looked at, of which
 * couplebreak is on, and what of them. A saved view is untrusted: what is wrong in it is named.
 * Threads: one.
 */
#pragma once

#include "core/base/base.h"
#include "output/yarnprof/options/select.h"
#include "output/yarnprof/views/stream_list.h"

/* Filters that are saved: those before. */
enum { YARN_SAVED_FILTERS = YARN_FILTER_MODULE };

struct yarn_saved_stream {
    const char *path;
    uint32_t pid;
    uint64_t start_ns;
    bool has_couplebreak;
};

/* Texts are the tree's. */
struct yarn_saved_view {
    void *tree;                        /* owned */
    struct yarn_saved_stream *streams; /* owned */
    size_t count;
    const char *filters[YARN_SAVED_FILTERS]; /* NULL: none */
    const char *time;
};

/* Complains itself: an exit status, or -1. */
YARN_MUST_CHECK int yarn_saved_view_load(struct yarn_saved_view *view, const char *verb,
                                         const char *path);
/* Loads, and selects what was saved, where the command line says nothing else; it names no files
 * (`operands`, NULL ends them). *ret_paths, each once, is the caller's to free. As load. */
YARN_MUST_CHECK int yarn_saved_view_open(struct yarn_saved_view *view, const char *verb,
                                         const char *path, char *const *operands, bool has_time,
                                         struct yarn_select *select, char ***ret_paths);
/* Couplebreak as it was; a stream that is another one now is refused. As load. */
YARN_MUST_CHECK int yarn_saved_view_apply(const struct yarn_saved_view *view, const char *verb,
                                          const char *path, struct yarn_stream_list *streams);
/* As load. */
YARN_MUST_CHECK int yarn_saved_view_save(const char *verb, const char *path,
                                         const struct yarn_stream_list *streams,
                                         const char *const filters[YARN_SAVED_FILTERS],
                                         const char *time);
/* Idempotent. */
void yarn_saved_view_fini(struct yarn_saved_view *view);
/* What the parser says of any bytes; for tests. -EINVAL with `why`. */
YARN_MUST_CHECK int yarn_saved_view_parse(struct yarn_saved_view *view, const char *text, char *why,
                                          size_t why_bytes);
