/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Calls beside their cost: for each function that a probe or a breakpoint of calls is put on how
 * often it was called, exactly, and how much of the sampled time passed in it and below it. The
 * probes' own time, which the kernel takes at each hit, is recognized by the kernel's functions on
 * the stack; where those are not sampled it is not known, and in nobody's time.
 * Threads: one owner at a time.
 */
#pragma once

#include "output/fold/choice.h"

struct yarn_call_row {
    uint32_t event;    /* the probe */
    uint32_t function; /* in which its samples are */
    uint64_t calls;    /* by the event's own count; less where the dump has no end */
    uint64_t total_ns; /* of the clock, with what was called, without the probes' own */
    uint64_t samples;  /* that make it up */
};

struct yarn_calls {
    struct yarn_call_row *rows; /* owned array; by time, the most first */
    size_t count, capacity;
    uint32_t clock;      /* the event that measures time; YARN_DUMP_NONE: there is none */
    uint64_t probe_ns;   /* of all probes, as far as sampled */
    uint64_t nr_hits;    /* of all */
    bool knows_probe_ns; /* the kernel is sampled */
};

/* The cost of a hit, the mean of all; 0 where it is not known. */
static inline uint64_t yarn_calls_probe_ns(const struct yarn_calls *calls)
{
    return calls->knows_probe_ns && calls->nr_hits ? calls->probe_ns / calls->nr_hits : 0;
}

YARN_MUST_CHECK int yarn_calls_build(const struct yarn_choice *choice,
                                     struct yarn_calls *ret_calls);
/* Idempotent. */
void yarn_calls_fini(struct yarn_calls *calls);
