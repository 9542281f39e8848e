/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Runs a command and counts its events from outside: from its exec on, with all its threads and
 * children. Knows the counters; does not know how they are shown. Threads: one.
 */
#pragma once

#include <sys/types.h>

#include "core/base/arena.h"
#include "core/counters/counter_set.h"
#include "core/record/ring.h"
#include "output/yarnprof/views/stat.h"

#define YARN_STAT_EVENTS_MAX 512

/* Events of several lists. What was typed once is one row: `key` is its own. */
struct yarn_stat_events {
    struct yarn_event_spec specs[YARN_STAT_EVENTS_MAX];
    uint32_t keys[YARN_STAT_EVENTS_MAX];
    size_t count;
    uint32_t nr_keys;
};

/* As one more list; *ret_key is the key of its first. False: there are too many. */
YARN_MUST_CHECK bool yarn_stat_add_events(struct yarn_stat_events *events,
                                          const struct yarn_event_spec *specs, size_t count,
                                          uint32_t *ret_key);

/* What formulas may ask for beside the events. */
struct yarn_stat_stretch {
    double seconds;
    double nr_threads; /* that were alive in it; NAN: unknown */
};

struct yarn_stat_run {
    const struct yarn_stat_events *events;
    uint64_t interval_ns; /* UINT64_MAX: none */
    bool follows_threads; /* how many there are is to be known */
    /* `rows` of the stretch, with a key each; good for the call. */
    void (*on_interval)(void *self, const struct yarn_stat_row *rows, const uint32_t *keys,
                        size_t count, const struct yarn_stat_stretch *stretch, double at_seconds);
    void *self;
    /* What came out; texts of the rows are those of the set, which fini closes. */
    struct yarn_counter_set set;
    struct yarn_stat_row rows[YARN_STAT_EVENTS_MAX];
    uint32_t row_keys[YARN_STAT_EVENTS_MAX];
    size_t nr_rows;
    int status; /* of the command */
    double wall_seconds, user_seconds, system_seconds;
    double nr_threads; /* that ever were; NAN: unknown */
};

/* 0, or a negative errno where the command could not be run; -ENOMEM. */
YARN_MUST_CHECK int yarn_stat_run(struct yarn_stat_run *run, char *const argv[]);
void yarn_stat_run_fini(struct yarn_stat_run *run);
