/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The status of an event of the profile: what became of what was asked for, over all processes that
 * were to record it. Threads: one owner at a time.
 */
#pragma once

#include "core/event/status.h"
#include "output/analysis/profile/profile.h"

/* The kernel updates the two times a moment apart: what runs that much ran all the time. */
#define YARN_EVENT_RUNNING_WHOLE 99.95

struct yarn_profile_status {
    uint32_t bits;               /* enum yarn_event_status_bit */
    const char *reason;          /* a sentence; "" */
    const char *asked;           /* as the first process was asked for it */
    size_t nr_dumps, nr_of_them; /* that have it, and of these: those with any of the bits */
    uint64_t nr_children;        /* that are missing */
};

/* Of one process's event, by its number in the dump. */
struct yarn_profile_status yarn_dump_event_status(const struct yarn_profile_dump *dump,
                                                  size_t number);
struct yarn_profile_status yarn_profile_event_status(const struct yarn_profile *profile,
                                                     uint32_t event);

/* It is one that a user asked for. */
bool yarn_profile_event_was_asked(const struct yarn_profile *profile, uint32_t event);

/* "cycles: refused: this machine has no such counter (in 1 of 3 processes)". */
void yarn_profile_status_describe(const struct yarn_profile *profile, uint32_t event,
                                  const struct yarn_profile_status *status, struct yarn_text *text);

/* How much of the time that it was enabled it ran; 100 of what no PMU counts. */
double yarn_profile_running_percent(const struct yarn_profile *profile, uint32_t event);
