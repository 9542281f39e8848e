/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The life of a thread from its birth to its end, as pieces without a hole between them: what it
 * was doing, as far as switches and wakings tell. What was cut out, lost or stopped is unknown.
 * Threads: any number of readers once all is sorted.
 */
#pragma once

#include "output/analysis/sched/sched_log.h"

enum yarn_sched_state {
    YARN_SCHED_RUNNING,
    YARN_SCHED_RUNNABLE, /* known to wait for a core */
    YARN_SCHED_BLOCKED,  /* or runnable, where wakings are not known */
    YARN_SCHED_UNKNOWN,
    YARN_SCHED_STATES,
};

/* Each may be NULL. */
struct yarn_sched_visitor {
    /* In order; never empty. */
    void (*piece)(void *self, enum yarn_sched_state state, uint64_t from_ns, uint64_t to_ns);
    /* It left a core, at the end of the span. */
    void (*left)(void *self, const struct yarn_sched_span *span, uint64_t at_ns);
    /* It came onto a core again, last having been on `cpu_before`; after a block it was woken. */
    void (*came)(void *self, const struct yarn_sched_span *span, uint32_t cpu_before,
                 bool was_blocked, uint64_t at_ns);
    /* A wait for a core that is known from its begin to its end; `waking`: what began it, or NULL.
     */
    void (*wait)(void *self, uint64_t from_ns, uint64_t to_ns,
                 const struct yarn_sched_waking *waking);
    /* A span that contradicts the one before, or lies outside of the life: it is left out. */
    void (*refused)(void *self, const struct yarn_sched_span *span);
};

/* Pieces are cut at the window; of the rest only what happened in it is reported. */
void yarn_sched_walk(const struct yarn_sched_log *sched, const struct yarn_sched_life *life,
                     uint64_t from_ns, uint64_t to_ns, const struct yarn_sched_visitor *visitor,
                     void *self);
