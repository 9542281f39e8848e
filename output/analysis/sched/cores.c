/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/sched/cores.h"

#include <stdlib.h>

#include "output/base/array.h"

int yarn_sched_cores_add(struct yarn_sched_cores *cores, const struct yarn_sched_arrival *arrival)
{
    return YARN_ARRAY_PUT(&cores->list, &cores->count, &cores->capacity, arrival);
}

static int in_order(const void *a, const void *b)
{
    const struct yarn_sched_arrival *one = a, *other = b;
    if (one->cpu != other->cpu)
        return one->cpu < other->cpu ? -1 : 1;
    if (one->time_ns != other->time_ns)
        return one->time_ns < other->time_ns ? -1 : 1;
    return 0;
}

void yarn_sched_cores_sort(struct yarn_sched_cores *cores)
{
    if (cores->count)
        qsort(cores->list, cores->count, sizeof *cores->list, in_order);
}

/* The first that is later, or of a later core. */
static size_t first_after(const struct yarn_sched_cores *cores, uint32_t cpu, uint64_t time_ns)
{
    const struct yarn_sched_arrival moment = {.time_ns = time_ns, .cpu = cpu};
    size_t low = 0, high = cores->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (in_order(&cores->list[middle], &moment) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void yarn_sched_cores_between(const struct yarn_sched_cores *cores, uint32_t cpu, uint64_t from_ns,
                              uint64_t to_ns,
                              void (*visit)(void *self, struct yarn_sched_comer who, uint64_t ns),
                              void *self)
{
    size_t next = first_after(cores, cpu, from_ns);
    struct yarn_sched_comer who = next && cores->list[next - 1].cpu == cpu
                                      ? cores->list[next - 1].who
                                      : YARN_SCHED_NOBODY_KNOWN;
    while (from_ns < to_ns) {
        bool is_last = next == cores->count || cores->list[next].cpu != cpu ||
                       cores->list[next].time_ns >= to_ns;
        uint64_t until_ns = is_last ? to_ns : cores->list[next].time_ns;
        if (from_ns < until_ns)
            visit(self, who, until_ns - from_ns);
        from_ns = until_ns;
        if (!is_last)
            who = cores->list[next++].who;
    }
}

void yarn_sched_cores_fini(struct yarn_sched_cores *cores)
{
    free(cores->list);
    *cores = (struct yarn_sched_cores){.list = NULL};
}
