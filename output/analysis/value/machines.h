/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The machines that dumps were recorded on, each of which has a monotonic clock of its own, from
 * its boot. These are aligned by real time, as exactly as the machines' real-time clocks agree,
 * which no dump records. Times of processes of one boot are not shifted against each other.
 * Threads: one owner at a time.
 */
#pragma once

#include "output/dump/types.h"

struct yarn_machine {
    char name[128];
    int64_t ahead_ns;          /* real time - monotonic time, of its first process */
    int64_t least_ns, most_ns; /* of all */
};

struct yarn_machines {
    struct yarn_machine *list; /* owned array */
    size_t count, capacity;
};

/* Its boot and its host, for yarn_machine_is_same. */
void yarn_machine_name(const struct yarn_dump_process *process, char ret_name[128]);
/* The same boot, whatever the host is called in there; the same host where a boot is unknown. */
bool yarn_machine_is_same(const char *name, const char *other);

/* The machine of that name; it is added where it is new, of 4,096; what is beyond is taken for the
 * first. NULL where there is no memory. */
const struct yarn_machine *yarn_machines_note(struct yarn_machines *machines, const char *name,
                                              int64_t ahead_ns);
/* What to add to its times. All are those of the machine that was booted first among `nr_known`, so
 * that none is before 0. */
int64_t yarn_machines_shift_ns(const struct yarn_machines *machines,
                               const struct yarn_machine *machine, size_t nr_known);
/* The largest drift of a real-time clock against the monotonic one. */
uint64_t yarn_machines_moved_ns(const struct yarn_machines *machines);
void yarn_machines_fini(struct yarn_machines *machines);
