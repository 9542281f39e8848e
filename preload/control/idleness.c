/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/control/idleness.h"

/* Of CPU time: what the kernel does for a thread that sleeps is no work. */
#define LEAST_NS (YARN_NS_PER_MS / 20)

static bool has_moved(const struct yarn_idleness *idleness, struct yarn_cpu_bounds cpu)
{
    return cpu.least_ns > idleness->cpu_ns + LEAST_NS;
}

uint64_t yarn_idleness_pause_ns(struct yarn_idleness *idleness, struct yarn_cpu_bounds cpu,
                                bool has_records, uint64_t now_ns, uint64_t interval_ns)
{
    if (has_records || has_moved(idleness, cpu)) {
        *idleness = (struct yarn_idleness){.cpu_ns = cpu.most_ns};
        return interval_ns;
    }
    if (!idleness->since_ns)
        idleness->since_ns = now_ns;
    return yarn_u64_max(interval_ns, now_ns - idleness->since_ns);
}

bool yarn_idleness_is_over(struct yarn_idleness *idleness, struct yarn_cpu_bounds cpu)
{
    if (!idleness->since_ns || !has_moved(idleness, cpu))
        return !idleness->since_ns;
    *idleness = (struct yarn_idleness){.cpu_ns = cpu.most_ns};
    return true;
}
