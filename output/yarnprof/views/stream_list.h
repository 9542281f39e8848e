/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The streams of what a command line names, their events in time order, and with couplebreak the
 * targets among them. Threads: one.
 */
#pragma once

#include "output/analysis/profile/filter.h"
#include "output/store/stream.h"
#include "output/text/json.h"
#include "output/yarnprof/io/out.h"

/* The file begins as a trace.dat does. */
bool yarn_stream_path_is_trace(const char *path);

/* All of them, or none: else it is refused. An exit status, or -1. */
YARN_MUST_CHECK int yarn_stream_list_kind(const char *verb, char *const *paths, bool *ret_is_trace);

/* All streams of a file. Complains itself; an exit status, or -1. */
YARN_MUST_CHECK int yarn_stream_list_add(struct yarn_stream_list *streams, const char *verb,
                                         const char *path);
/* NULL: the process has none. */
struct yarn_stream *yarn_stream_list_of_dump(const struct yarn_stream_list *streams, uint32_t dump);
/* Couplebreak of these: pids, paths or file names, separated by commas; "" is all. As add. */
YARN_MUST_CHECK int yarn_stream_list_couplebreak(struct yarn_stream_list *streams, const char *verb,
                                                 const char *names);

struct yarn_stream_view {
    const struct yarn_profile *profile; /* of the dumps; NULL: of processes only pids are known */
    const struct yarn_filter *filter;   /* of events and threads */
    struct yarn_time_range time;
    size_t limit; /* 0: none */
};

/* Which entries of one stream pass: asked once an event, not once an entry. */
struct yarn_stream_choice {
    const struct yarn_stream_view *shown;
    uint64_t start_ns, from_ns, to_ns;
    const struct yarn_stream *stream;
    int last_id;
    bool has_last, last_passes;
    size_t nr_read;
};
struct yarn_stream_choice yarn_stream_choice_of(const struct yarn_stream_list *streams,
                                                const struct yarn_stream_view *shown,
                                                size_t stream);
bool yarn_stream_choice_passes(struct yarn_stream_choice *choice, const struct yarn_entry *entry);
/* Its thread does. Who is of another process is one of its own. */
bool yarn_stream_view_has_thread(const struct yarn_stream_view *shown,
                                 const struct yarn_stream *stream, const struct yarn_entry *entry);

/* Takes out of the filter each list that an event of the streams passes by itself: also targets,
 * and those of threads that are in no profile. */
void yarn_stream_list_narrow(const struct yarn_stream_list *streams,
                             const struct yarn_profile *profile, struct yarn_filter *filter);

/* Prints the entries that pass, in the form of `out`; `json` is that of YARN_OUT_JSON. */
void yarn_stream_list_print(const struct yarn_stream_list *streams,
                            const struct yarn_stream_view *shown, const struct yarn_out *out);
/* `streams` and `events`. */
void yarn_stream_list_json(const struct yarn_stream_list *streams,
                           const struct yarn_stream_view *shown, const struct yarn_out *out);
