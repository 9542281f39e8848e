/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A kernel behind core/sys/perf.h that a test makes: other PMUs, few counters, refusals. Stands in
 * for core/sys/perf.c where a test is linked with it; the code above is the real one.
 */
#pragma once

#include "core/sys/perf.h"

struct fake_perf_event {
    struct perf_event_attr attr;
    pid_t tid;
    int cpu, group; /* group: the leader's descriptor; -1: none */
    uint64_t id;
    bool is_open, is_enabled;
    const char *filter;
    int program;                       /* 0: none */
    struct perf_event_mmap_page *page; /* NULL: it is not mapped */
};

/* Set by the test; NULL: the default. A negative errno refuses; 0 opens. */
extern int (*fake_perf_judge)(const struct fake_perf_event *event);
/* What read(2) says: -ENODATA from it is the end of the file. */
extern struct yarn_perf_count (*fake_perf_count)(const struct fake_perf_event *event);

/* Closes all, and resets what the test has set. */
void fake_perf_reset(void);

/* The kernel writes a record: into one of the rings, which are read together. False: none is
 * mapped, or it is full. */
bool fake_perf_write(const void *record, size_t size);

/* The next open event behind `event`, or the first where it is NULL; NULL: no more. Dummies, which
 * have the rings, are left out. */
const struct fake_perf_event *fake_perf_next(const struct fake_perf_event *event);
