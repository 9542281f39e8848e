/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The samples of an export by thread and event, in time order within each. Only for formats that
 * ask for YARN_EXPORT_TRACKS. Threads: one owner at a time.
 */
#pragma once

#include "output/export/samples.h"

struct yarn_track {
    uint32_t thread;
    uint32_t event;
    uint32_t comm;   /* the thread's last name */
    size_t first;    /* entry of the timeline */
    size_t count;    /* of samples */
    uint64_t weight; /* of all of them */
};

struct yarn_tracks {
    struct yarn_track *list; /* owned array; by thread, then event */
    size_t count;
    size_t capacity;
};

YARN_MUST_CHECK int yarn_tracks_init(struct yarn_tracks *tracks, const struct yarn_export *export);
/* Idempotent. */
void yarn_tracks_fini(struct yarn_tracks *tracks);

/* Goes over the samples of one track. */
struct yarn_track_walk {
    struct yarn_export_samples samples;
    size_t left;
};

static inline struct yarn_track_walk yarn_track_begin(const struct yarn_track *track,
                                                      const struct yarn_export *export)
{
    return (struct yarn_track_walk){{export, track->first}, track->count};
}

/* False at the end. */
static inline bool yarn_track_next(struct yarn_track_walk *walk,
                                   struct yarn_export_sample *ret_sample)
{
    if (!walk->left)
        return false;
    walk->left--;
    return yarn_export_next(&walk->samples, ret_sample);
}

/* "NAME TID", of several processes "NAME TID of PROCESS PID", and, where the profile has several
 * events, its name; in `ret_text`. */
void yarn_track_name(const struct yarn_track *track, const struct yarn_export *export,
                     char *ret_text, size_t size);
