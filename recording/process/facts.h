/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The facts of the host at its start: collected by the constructor on the host's thread, read by
 * the reader thread. Copies only: the host may change its arguments and environment later.
 */
#pragma once

#include <sys/types.h>

#include "core/base/arena.h"
#include "core/sys/kernel_names.h"
#include "core/sys/process.h"
#include "core/sys/seccomp_probe.h"
#include "core/sys/thread_end.h"

/* Where the process comes from; pid 0 where unknown. */
struct yarn_lineage {
    pid_t forked_by; /* a process of ours */
    uint64_t forked_by_start_ns;
    pid_t predecessor; /* a recording of ours in this same process, before an exec or a restart */
    uint64_t predecessor_start_ns;
};

/* Of the machine. */
struct yarn_machine_facts {
    char boot_id[YARN_BOOT_ID_SIZE];
    uint32_t cpus_present, cpus_online;
};

struct yarn_facts {
    pid_t pid, parent_pid;
    struct yarn_lineage lineage;
    struct yarn_thread_end leader_end; /* of the first thread; its word may be unknown */
    uint64_t start_ns, start_realtime_ns;
    uint64_t reaped_ns; /* CPU time of the children that it had waited for until then */
    uint64_t boottime_offset_ns;
    int64_t monotonic_raw_offset_ns;
    const char *exe;          /* path of the executable */
    const char *name;         /* by which it was run: a program's, a link's, a script's */
    const char *folder;       /* working directory at the start; NULL where it has no path */
    struct yarn_span cmdline; /* arguments, each with its NUL */
    struct yarn_system_names system;
};

/* In a child after fork: the parent's facts become its own. */
void yarn_facts_inherit(struct yarn_facts *facts);

/* By the first thread, who alone can ask the kernel for its word; where that may be done. */
void yarn_facts_note_leader(struct yarn_facts *facts, const struct yarn_seccomp_probe *seccomp);

/* For another recording of the same process. */
void yarn_facts_renew(struct yarn_facts *facts);

void yarn_machine_facts_take(struct yarn_machine_facts *ret_facts);
/* What can change until the next boot. */
void yarn_machine_facts_renew(struct yarn_machine_facts *facts);

YARN_MUST_CHECK int yarn_facts_take(struct yarn_facts *ret_facts, struct yarn_arena *arena,
                                    int argc, char *const argv[]);
