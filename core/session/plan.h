/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Arithmetic of an attachment, without a kernel: how large a ring must be, how long it takes to
 * fill, what to try next when the kernel refuses the memory. Pure functions.
 */
#pragma once

#include "core/session/request.h"

enum {
    YARN_PLAN_RECORD_OVERHEAD = 1024, /* header, registers and fields of a sample, generously */
    YARN_PLAN_RING_MIN = 512 * 1024,  /* of an automatic size */
    YARN_PLAN_RING_MAX = 16 * 1024 * 1024,
    YARN_PLAN_RING_RECORDS =
        8, /* fewer full records than this and a ring can jam (LOST no longer fits) */
};

struct yarn_plan {
    size_t ring_bytes;      /* a core, a power of two */
    uint32_t stack_bytes;   /* of copy; 0 without */
    uint64_t rate_max_hz;   /* records a second and ring cannot be more; 0: the requested rate */
    uint32_t rate_permille; /* of the rate for all events: locked memory is short; 0: as asked */
};

/* Samples a second and core that the events ask for, as far as it is known beforehand. */
uint64_t yarn_plan_rate(const struct yarn_session_request *request);

/* The first thing to try, of a ring of a thread's own. */
struct yarn_plan yarn_plan_first(const struct yarn_session_request *request);

/* The costs of the two strategies of perf, and which to take. */
struct yarn_plan_estimate {
    bool is_per_thread;       /* the one to take */
    bool is_asked;            /* because the user set it */
    uint64_t core_birth_ns;   /* CPU time of a thread's start and end: inherited events */
    uint64_t thread_birth_ns; /* events and a ring of its own, of the reader's time */
    uint64_t core_ring_bytes; /* of all cores, at the least that the stack copy allows */
};
struct yarn_plan_estimate yarn_plan_strategy(const struct yarn_session_request *request,
                                             size_t nr_cores);

/* Of an event without a rate, each of whose occurrences may be a sample. */
bool yarn_plan_may_burst(const struct yarn_event_spec *event);

/* Of a core's ring: one that holds 100 ms, or the largest where an event may come in bursts;
 * automatic sizes are halved while all of them together are too large. */
struct yarn_plan yarn_plan_of_core(const struct yarn_session_request *request, size_t nr_cores);

/* The plan that a session begins with: small, since many processes are short, and no larger than
 * what comes in 100 ms. The same where more than the rates say may come at once. */
struct yarn_plan yarn_plan_to_begin(const struct yarn_session_request *request, size_t nr_cores);

/* Of one more thread's ring, where `nr_threads` have `ring_bytes` together. Automatic sizes become
 * smaller the more there are. False where all of them together would be too large. */
bool yarn_plan_of_thread(const struct yarn_session_request *request, const struct yarn_plan *first,
                         size_t nr_threads, size_t ring_bytes, struct yarn_plan *ret_plan);

/* For the timer sampler: a ring is a thread's, and takes at most one record a tick. A record is
 * only as long as its stack: copies are as deep as may be from the first on. */
struct yarn_plan yarn_plan_for_timer(const struct yarn_session_request *request, uint64_t tick_ns);

/* The next smaller one: the ring is halved down to its minimum, then the stack copy goes to 16, 8,
 * 4 KiB and the ring along. False where there is none left. */
bool yarn_plan_smaller(struct yarn_plan *plan);

/* The deepest copies that a record can hold, and rings twice as large while those of all cores are
 * not too large. False where the user set a size, or memory did not suffice before, or other events
 * must not take the place of those that are open: one of them counts each occurrence, or since the
 * sample before. */
bool yarn_plan_deeper(const struct yarn_session_request *request, size_t nr_cores,
                      struct yarn_plan *plan);

/* Whether the clock's period may be varied: nobody asked for this very one. */
bool yarn_plan_may_vary(const struct yarn_event_spec *event);

/* Whether the event is to have an alternate (alternates.h): for another period, for deeper copies.
 */
bool yarn_plan_wants_alternate(const struct yarn_session_request *request,
                               const struct yarn_event_spec *event);

/* Whether so many alternates are worth what they cost each new thread, beside the other events. */
bool yarn_plan_can_alternate(const struct yarn_session_request *request, size_t nr_cores,
                             size_t nr_alternates);

/* Of alternates, where the events have `got` and rings will have `ring_bytes`: copies as deep as a
 * record can hold, or as that ring holds 8 of, where no size was set, at a rate that it holds. */
struct yarn_plan yarn_plan_of_alternate(const struct yarn_session_request *request, size_t nr_cores,
                                        const struct yarn_plan *got, size_t ring_bytes);

/* Where the kernel gave a smaller ring than there should be (yarn_plan_smaller): so few samples
 * that the reader may come 10 ms late once `watermark` has woken it. An event keeps a rate of its
 * own. */
void yarn_plan_slow_down(const struct yarn_session_request *request, size_t nr_cores,
                         size_t watermark, struct yarn_plan *plan);

/* The event's rate as the plan has it. */
void yarn_plan_rate_event(const struct yarn_plan *plan, struct yarn_event_spec *event);

/* Bytes of one sample's record. */
size_t yarn_plan_record_bytes(const struct yarn_plan *plan);

/* How full a ring has to be for the reader to be woken. */
size_t yarn_plan_watermark(const struct yarn_plan *plan);

/* How long the asked rate needs to fill a ring. */
uint64_t yarn_plan_fill_ns(const struct yarn_session_request *request,
                           const struct yarn_plan *plan);

/* The longest pause between two drains, so that no ring is more than half full; a quarter of one
 * that is small: the first ones, until they grow. */
uint64_t yarn_plan_timed_ns(const struct yarn_session_request *request,
                            const struct yarn_plan *plan);
