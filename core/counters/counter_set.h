/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Events that are only read: each spec opened on threads or cpus, without rings. A group is opened
 * whole or refused whole. Knows what the kernel refused and why; does not know who wants the
 * numbers, nor which threads there are.
 *
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "core/base/arena.h"
#include "core/event/event.h"
#include "core/event/spec.h"

#define YARN_COUNTER_SENTENCE_MAX 320

struct yarn_counter {
    struct yarn_event_spec spec;            /* as got */
    int error;                              /* negative errno of the refusal; 0 where it counts */
    bool is_kernel_refused;                 /* the user's part alone is counted */
    char reason[YARN_COUNTER_SENTENCE_MAX]; /* of the refusal */
    struct yarn_event *events;              /* one a target that was there */
    size_t nr_events;
    size_t nr_led; /* of the counters from this one on that its events lead; 0 and 1: alone */
    bool is_led;   /* it starts, stops and is read with its leader */
};

struct yarn_counter_set {
    struct yarn_counter *counters;
    size_t count;
    bool starts_at_exec;
    struct yarn_arena arena;
};

#define YARN_COUNTER_SET_CLOSED ((struct yarn_counter_set){.counters = NULL})

enum yarn_counter_reach {
    YARN_COUNTER_OF_THREAD,  /* the targets alone */
    YARN_COUNTER_OF_PROCESS, /* and threads that they make, but no other process or image */
    YARN_COUNTER_OF_TREE,    /* and all that come after them */
};

struct yarn_counter_plan {
    const pid_t *tids; /* 0: the calling thread; borrowed for the call */
    size_t nr_tids;
    enum yarn_counter_reach reach;
    bool starts_at_exec; /* of the targets, else with yarn_counter_set_enable */
};

/* Opens stopped. 0 whatever the kernel refuses: that stands in the counters. -ENOMEM. A thread that
 * has gone is passed over. */
YARN_MUST_CHECK int yarn_counter_set_open(struct yarn_counter_set *set,
                                          const struct yarn_event_spec *specs, size_t count,
                                          const struct yarn_counter_plan *plan);

/* The first starts the counters that do not start at exec, the second stops all. */
void yarn_counter_set_enable(struct yarn_counter_set *set);
void yarn_counter_set_disable(struct yarn_counter_set *set);

/* The counters from `index` on that are read together, by one system call a target: how many. Each
 * has its result in ret_errors, as of yarn_counter_set_read. */
size_t yarn_counter_set_read_group(const struct yarn_counter_set *set, size_t index,
                                   struct yarn_perf_count ret_counts[YARN_PERF_GROUP_MAX],
                                   int ret_errors[YARN_PERF_GROUP_MAX]);

/* The sum over targets and over what they have made. The refusal's errno; -ENODATA: a pinned event
 * that found no counter free. */
YARN_MUST_CHECK int yarn_counter_set_read(const struct yarn_counter_set *set, size_t index,
                                          struct yarn_perf_count *ret_count);

/* Idempotent. */
void yarn_counter_set_close(struct yarn_counter_set *set);
