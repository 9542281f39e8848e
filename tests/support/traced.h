/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A program that is stopped again and again, to take of its first thread what the kernel's sampler
 * would: the registers and the top of the stack. By ptrace, so that the same sample can be walked
 * more than once. Keeps a module map of it. Knows nothing of unwinding.
 *
 * Threads: all calls from the one that started it (ptrace). Signals: not safe.
 */
#pragma once

#include <sys/types.h>

#include "unwind/unwinder.h"

struct traced {
    pid_t pid;
    struct yarn_target target;   /* borrowed by the map */
    struct yarn_module_map *map; /* owned */
    uint64_t maps_hash;
};

/* Starts the command, its output away, and stops it at its first instruction. */
YARN_MUST_CHECK int traced_start(struct traced *traced, char **command);

/* Lets it run for a while and stops it; false where it has ended. */
YARN_MUST_CHECK bool traced_run_on(const struct traced *traced, unsigned pause_us);

/* Of the stopped program; the stack's bytes go to `bytes`, which the copy then borrows. */
YARN_MUST_CHECK int traced_take(struct traced *traced, struct yarn_registers *ret_registers,
                                struct yarn_stack_copy *ret_stack, uint8_t *bytes, size_t max);

/* Kills it, if need be. */
void traced_end(struct traced *traced);
