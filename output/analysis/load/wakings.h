/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Who woke whom, and who came in on a core, of the sched_waking and sched_switch samples of dumps.
 * A sample has the numbers that threads have in the first pid namespace; who that is in the profile
 * is found by samples that have both numbers, or where those are equal, by the number alone.
 * Whoever is not found is of another process. Threads: one owner at a time.
 */
#pragma once

#include "output/analysis/profile/profile.h"
#include "output/analysis/sched/sched_log.h"
#include "output/store/trace_fields.h"

/* A thread, which may be of no process that was recorded. */
struct yarn_waking_side {
    uint32_t thread; /* of the profile; YARN_DUMP_NONE: of another process */
    uint32_t raw_pid;
};

struct yarn_waking {
    uint64_t time_ns;
    struct yarn_waking_side waker, woken;
    uint8_t flags; /* common_flags */
};

/* A time in which each waking on the machine was recorded. */
struct yarn_wakings_cover {
    uint64_t from_ns, to_ns;
};

/* A thread that came in on a core, as an event of the whole machine saw it. */
struct yarn_waking_arrival {
    uint64_t time_ns;
    struct yarn_waking_side who;
    uint32_t cpu;
};

struct yarn_wakings {
    struct yarn_waking *list; /* owned array */
    size_t count, capacity;
    struct yarn_waking_arrival *arrivals; /* owned array */
    size_t nr_arrivals, arrivals_capacity;
    struct yarn_wakings_cover *covers; /* owned array */
    size_t nr_covers, covers_capacity;
    struct yarn_table threads; /* raw pid to thread, as samples had both */
    bool has_other_numbers;    /* a thread has another number in its own namespace */
};

#define YARN_WAKINGS_EMPTY ((struct yarn_wakings){.threads = YARN_TABLE_CLOSED})

/* A sample of that event; `thread` it was taken of, or YARN_DUMP_NONE. Each: -ENOMEM. */
YARN_MUST_CHECK int yarn_wakings_add(struct yarn_wakings *wakings, struct yarn_profile *profile,
                                     const struct yarn_trace_fields *fields, uint32_t thread,
                                     const struct yarn_sample *sample);
/* The same of a sample of sched_switch on the whole machine. */
YARN_MUST_CHECK int yarn_wakings_add_arrival(struct yarn_wakings *wakings,
                                             const struct yarn_trace_fields *fields,
                                             const struct yarn_sample *sample);
/* Once all dumps are loaded: those of threads of the profile become wakings of the log, which is
 * not sorted yet; a waker of another process has its raw pid there. Arrivals become the log's. */
YARN_MUST_CHECK int yarn_wakings_add_to_log(struct yarn_wakings *wakings,
                                            const struct yarn_profile *profile,
                                            struct yarn_sched_log *sched);
/* Idempotent. */
void yarn_wakings_fini(struct yarn_wakings *wakings);
