/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/outside/processes.h"

static size_t place_of(const struct yarn_tree_process *process)
{
    return (size_t)process->target.pid % YARN_PROCESSES_BUCKETS;
}

struct yarn_tree_process *yarn_processes_find(const struct yarn_processes *processes, uint32_t pid)
{
    struct yarn_tree_process *process = processes->buckets[pid % YARN_PROCESSES_BUCKETS];
    while (process && process->target.pid != (pid_t)pid)
        process = process->next;
    return process;
}

void yarn_processes_add(struct yarn_processes *processes, struct yarn_tree_process *process)
{
    struct yarn_tree_process **bucket = &processes->buckets[place_of(process)];
    process->next = *bucket;
    *bucket = process;
    processes->count++;
}

void yarn_processes_remove(struct yarn_processes *processes,
                           const struct yarn_tree_process *process)
{
    struct yarn_tree_process **at = &processes->buckets[place_of(process)];
    while (*at != process)
        at = &(*at)->next;
    *at = process->next;
    processes->count--;
}

struct yarn_tree_process *yarn_processes_next(const struct yarn_processes *processes,
                                              const struct yarn_tree_process *process)
{
    if (process && process->next)
        return process->next;
    for (size_t i = process ? place_of(process) + 1 : 0; i < YARN_PROCESSES_BUCKETS; i++)
        if (processes->buckets[i])
            return processes->buckets[i];
    return NULL;
}
