/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every record of a profile in time order, of all threads or of each: samples one by one, the rest
 * as lines of text.
 * Threads: one owner at a time.
 */
#pragma once

#include "core/base/base.h"
#include "output/store/sorter.h"

/* One record. */
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

struct yarn_timeline {
    struct yarn_sorter rows; /* store/sorter.h: for all that is no adding */
    enum yarn_timeline_order order;
};

YARN_MUST_CHECK int yarn_timeline_add(struct yarn_timeline *timeline,
                                      const struct yarn_timeline_entry *entry);
/* After the last is added. Equal entries keep their order. Their `comm` is as it was when they were
 * added, where `most` is set: yarn_profile_comm_at knows better. */
YARN_MUST_CHECK int yarn_timeline_sort(struct yarn_timeline *timeline);
/* The i-th of those that were gathered. Who takes them in order keeps few of them in memory. */
const struct yarn_timeline_entry *yarn_timeline_at(const struct yarn_timeline *timeline, size_t i);
