/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * One record of a timeline, and which of two comes first. Threads: safe anywhere.
 */
#pragma once

#include "core/base/base.h"

struct yarn_timeline_entry {
    uint64_t time_ns;
    uint64_t weight;
    uint32_t stack;  /* of the profile; YARN_DUMP_NONE: none */
    uint32_t thread; /* of the profile; YARN_DUMP_NONE: none */
    uint32_t comm;   /* the thread's at that time */
    uint32_t text;   /* 0: a sample; else the line */
    uint32_t dump;
    uint32_t detail; /* 1 + its place among the profile's; 0: none */
    uint16_t event;
    uint16_t cpu; /* UINT16_MAX: none */
    uint8_t stack_end;
    uint8_t change; /* enum yarn_timeline_switch, of a line of text */
};

/* What a line says of its thread and core. */
enum yarn_timeline_switch {
    YARN_TIMELINE_NO_SWITCH,
    YARN_TIMELINE_SWITCH_IN,
    YARN_TIMELINE_SWITCH_OUT,
    YARN_TIMELINE_SWITCH_PREEMPTED,
};

enum yarn_timeline_order {
    YARN_TIMELINE_BY_TIME,
    YARN_TIMELINE_BY_TRACK, /* by thread, its events, and time within each */
};

static inline bool yarn_timeline_is_before(enum yarn_timeline_order order,
                                           const struct yarn_timeline_entry *one,
                                           const struct yarn_timeline_entry *other)
{
    if (order == YARN_TIMELINE_BY_TRACK) {
        if (one->thread != other->thread)
            return one->thread < other->thread;
        if (one->event != other->event)
            return one->event < other->event;
    }
    return one->time_ns < other->time_ns;
}
