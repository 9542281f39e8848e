/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What markers of the Firefox Profiler's stand for: marks of the user's and what the profiler had
 * to say, each on the first track of the thread that said it, else on the first of its dump.
 * Threads: one owner at a time.
 */
#pragma once

#include "output/export/tracks.h"

struct yarn_firefox_note {
    uint32_t track, dump;
    const struct yarn_dump_message *message; /* borrowed from the profile */
};

struct yarn_firefox_notes {
    struct yarn_firefox_note *list; /* owned array; by track, and then as they came */
    size_t count, capacity;
    size_t nr_taken;
};

YARN_MUST_CHECK int yarn_firefox_notes_init(struct yarn_firefox_notes *notes,
                                            const struct yarn_profile *profile,
                                            const struct yarn_tracks *tracks);
/* Those of a track; tracks come in their order. */
struct yarn_firefox_note *yarn_firefox_notes_take(struct yarn_firefox_notes *notes, uint32_t track,
                                                  size_t *ret_count);
/* Idempotent. */
void yarn_firefox_notes_fini(struct yarn_firefox_notes *notes);
