/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the session keeps of turns (alternates.h) and of periods that vary (period_jitter.h).
 *
 * Private to core/session. Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/base/base.h"

enum { YARN_TURNS_KEPT = 4 }; /* a drain lies between any two pairs */

/* NONE: of an event that has no turns. */
enum yarn_side { YARN_SIDE_FIRST, YARN_SIDE_ALTERNATES, YARN_SIDE_NONE };

/* See period_jitter.h. */
struct yarn_period_jitter {
    uint64_t at_ns;
    uint32_t part, former; /* of the period since then and before; 0: never varied */
    uint32_t nr_samples;   /* since then */
    uint32_t step;
};

/* See alternates.h. */
struct yarn_turns {
    bool may_vary;       /* so turns are taken */
    bool can_begin;      /* both sides write into a ring */
    bool is_unconfirmed; /* the latest */
    bool is_deep_wanted; /* the side with the deeper copies, from now on */
    enum yarn_side side; /* whose turn it is */
    unsigned count;
    struct yarn_turn {
        uint64_t from_ns, at_ns, to_ns; /* both sides ran in between */
        enum yarn_side side;            /* who came */
    } latest[YARN_TURNS_KEPT];
    uint64_t deep_ns;                    /* since when it stays; 0 */
    uint64_t next_ns;                    /* of the next turn */
    uint64_t nr_samples;                 /* at the latest */
    struct yarn_period_jitter jitter[2]; /* periods of each side */
};
