/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/outside/cpu_clock.h"

void yarn_cpu_clock_enter(struct yarn_cpu_clock *clock, uint32_t cpu, uint32_t pid, uint32_t tid,
                          uint64_t time_ns)
{
    if (cpu >= YARN_CPU_CLOCK_CPUS || yarn_cpu_clock_has(clock, cpu, tid))
        return;
    clock->on[cpu] = (struct yarn_cpu_occupant){pid, tid, time_ns};
    clock->nr_cpus = yarn_size_max(clock->nr_cpus, (size_t)cpu + 1);
}

struct yarn_cpu_slice yarn_cpu_clock_divide(struct yarn_cpu_clock *clock, uint32_t cpu,
                                            uint64_t time_ns)
{
    struct yarn_cpu_slice none = {0};
    if (cpu >= YARN_CPU_CLOCK_CPUS || !clock->on[cpu].tid)
        return none;
    struct yarn_cpu_occupant *occupant = &clock->on[cpu];
    struct yarn_cpu_slice slice = {occupant->pid, yarn_u64_minus(time_ns, occupant->since_ns)};
    occupant->since_ns = yarn_u64_max(time_ns, occupant->since_ns);
    return slice;
}

struct yarn_cpu_slice yarn_cpu_clock_leave(struct yarn_cpu_clock *clock, uint32_t cpu, uint32_t tid,
                                           uint64_t time_ns)
{
    struct yarn_cpu_slice slice = {0};
    if (!yarn_cpu_clock_has(clock, cpu, tid))
        return slice;
    slice = yarn_cpu_clock_divide(clock, cpu, time_ns);
    clock->on[cpu].tid = 0;
    return slice;
}

void yarn_cpu_clock_lose(struct yarn_cpu_clock *clock, uint32_t cpu)
{
    if (cpu < YARN_CPU_CLOCK_CPUS)
        clock->on[cpu].tid = 0;
}
