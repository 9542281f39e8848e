/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every record of a profile in time order: samples one by one, the rest as lines of text.
 * Threads: one owner at a time.
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
    uint16_t event;
    uint16_t cpu; /* UINT16_MAX: none */
    uint8_t stack_end;
};

struct yarn_timeline {
    struct yarn_timeline_entry *entries; /* owned array */
    size_t count;
    size_t capacity;
};

YARN_MUST_CHECK int yarn_timeline_add(struct yarn_timeline *timeline,
                                      const struct yarn_timeline_entry *entry);
/* Entries of equal time keep their order. */
YARN_MUST_CHECK int yarn_timeline_sort(struct yarn_timeline *timeline);
void yarn_timeline_fini(struct yarn_timeline *timeline);
