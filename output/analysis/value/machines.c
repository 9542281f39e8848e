/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/value/machines.h"

#include <stdio.h>
#include <stdlib.h>

#include "output/base/array.h"

enum { MACHINES_MAX = 4096 };

void yarn_machine_name(const struct yarn_dump_process *process, char ret_name[128])
{
    const struct yarn_span boot = process->boot_id, host = process->host;
    (void)snprintf(ret_name, 128, "%.*s|%.*s", (int)yarn_size_min(boot.size, 50),
                   boot.size ? (const char *)boot.data : "", (int)yarn_size_min(host.size, 70),
                   host.size ? (const char *)host.data : "");
}

bool yarn_machine_is_same(const char *name, const char *other)
{
    size_t boot = strcspn(name, "|"), other_boot = strcspn(other, "|");
    if (!boot || !other_boot)
        return strcmp(name + boot, other + other_boot) == 0;
    return boot == other_boot && memcmp(name, other, boot) == 0;
}

const struct yarn_machine *yarn_machines_note(struct yarn_machines *machines, const char *name,
                                              int64_t ahead_ns)
{
    for (size_t i = 0; i < machines->count; i++) {
        struct yarn_machine *machine = &machines->list[i];
        if (!yarn_machine_is_same(machine->name, name))
            continue;
        if (ahead_ns < machine->least_ns)
            machine->least_ns = ahead_ns;
        if (ahead_ns > machine->most_ns)
            machine->most_ns = ahead_ns;
        return machine;
    }
    if (YARN_ARRAY_RESERVE(&machines->list, &machines->capacity, machines->count + 1))
        return NULL;
    struct yarn_machine *machine = &machines->list[machines->count++];
    *machine =
        (struct yarn_machine){.ahead_ns = ahead_ns, .least_ns = ahead_ns, .most_ns = ahead_ns};
    (void)snprintf(machine->name, sizeof machine->name, "%s", name);
    return machine;
}

int64_t yarn_machines_shift_ns(const struct yarn_machines *machines,
                               const struct yarn_machine *machine, size_t nr_known)
{
    int64_t first_ns = nr_known ? machines->list[0].ahead_ns : machine->ahead_ns;
    for (size_t i = 1; i < nr_known; i++)
        if (machines->list[i].ahead_ns < first_ns)
            first_ns = machines->list[i].ahead_ns;
    /* Why unsigned: a damaged dump may say anything. */
    return (int64_t)((uint64_t)machine->ahead_ns - (uint64_t)first_ns);
}

uint64_t yarn_machines_moved_ns(const struct yarn_machines *machines)
{
    uint64_t moved_ns = 0;
    for (size_t i = 0; i < machines->count; i++) {
        const struct yarn_machine *machine = &machines->list[i];
        uint64_t span_ns = (uint64_t)machine->most_ns - (uint64_t)machine->least_ns;
        moved_ns = yarn_u64_max(moved_ns, span_ns);
    }
    return moved_ns;
}

void yarn_machines_fini(struct yarn_machines *machines)
{
    free(machines->list);
    *machines = (struct yarn_machines){0};
}
