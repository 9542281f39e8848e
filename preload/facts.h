/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What is known of the host when it starts: taken by the constructor on the host's thread, read by
 * the reader thread. Copies only: the host may change its arguments and environment later.
 */
#pragma once

#include <sys/types.h>

#include "core/base/arena.h"
#include "core/sys/process.h"

struct yarn_facts {
    pid_t pid, parent_pid;
    uint64_t start_ns, start_realtime_ns;
    uint64_t boottime_offset_ns;
    int64_t monotonic_raw_offset_ns;
    const char *exe;          /* path of the executable */
    struct yarn_span cmdline; /* arguments, each with its NUL */
    struct yarn_system_names system;
};

YARN_MUST_CHECK int yarn_facts_take(struct yarn_facts *ret_facts, struct yarn_arena *arena,
                                    int argc, char *const argv[]);
