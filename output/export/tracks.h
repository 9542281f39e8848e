/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The samples of an export by thread and event, in time order within each. Only for formats that
 * take samples one by one. Threads: one owner at a time.
 */
#pragma once

#include "output/export/samples.h"

struct yarn_track {
    uint32_t thread;
    uint32_t event;
    uint32_t comm;   /* the thread's last name */
    size_t first;    /* in the order */
    size_t count;    /* of samples */
    uint64_t weight; /* of all of them */
};

struct yarn_tracks {
    struct yarn_track *list; /* owned array; by thread, then event */
    size_t count;
    size_t capacity;
    uint32_t *order; /* owned; entries of the timeline */
};

YARN_MUST_CHECK int yarn_tracks_init(struct yarn_tracks *tracks, const struct yarn_export *export);
/* Idempotent. */
void yarn_tracks_fini(struct yarn_tracks *tracks);

/* The n-th of the track. */
struct yarn_export_sample yarn_track_sample(const struct yarn_tracks *tracks,
                                            const struct yarn_track *track,
                                            const struct yarn_export *export, size_t n);

/* "NAME PID/TID" and, where the profile has several events, its name; in `ret_text`. */
void yarn_track_name(const struct yarn_track *track, const struct yarn_export *export,
                     char *ret_text, size_t size);
