/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Which thread of a tree is on which core, and since when, by the kernel's switch records in time
 * order: so much CPU time each process has used, however short it was. Knows threads and times;
 * does not know processes (tree).
 *
 * Threads: one. Signals: not safe.
 */
#pragma once

#include "core/base/base.h"

enum { YARN_CPU_CLOCK_CPUS = 1024 };

/* A stretch of CPU time, and whose it is; 0 ns: of nobody. */
struct yarn_cpu_slice {
    uint32_t pid;
    uint64_t ns;
};

struct yarn_cpu_clock {
    size_t nr_cpus; /* that were seen */
    struct yarn_cpu_occupant {
        uint32_t pid, tid; /* tid 0: nobody of the tree, or it is not known */
        uint64_t since_ns;
    } on[YARN_CPU_CLOCK_CPUS];
};

/* The thread is on the core since then. Nothing where it is known to be there. */
void yarn_cpu_clock_enter(struct yarn_cpu_clock *clock, uint32_t cpu, uint32_t pid, uint32_t tid,
                          uint64_t time_ns);

static inline bool yarn_cpu_clock_has(const struct yarn_cpu_clock *clock, uint32_t cpu,
                                      uint32_t tid)
{
    return cpu < YARN_CPU_CLOCK_CPUS && clock->on[cpu].tid == tid;
}

/* The thread leaves the core, or ends. */
struct yarn_cpu_slice yarn_cpu_clock_leave(struct yarn_cpu_clock *clock, uint32_t cpu, uint32_t tid,
                                           uint64_t time_ns);

/* Whoever is on the core goes on. */
struct yarn_cpu_slice yarn_cpu_clock_divide(struct yarn_cpu_clock *clock, uint32_t cpu,
                                            uint64_t time_ns);

/* Records of the core are missing: nothing is known of it. */
void yarn_cpu_clock_lose(struct yarn_cpu_clock *clock, uint32_t cpu);
