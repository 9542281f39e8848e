/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Names of generated code: those that compilers in this process write to
 * /tmp/perf-PID.map and to a jit-PID.dump that they map, looked for when there is code to name and
 * followed while they grow.
 * Knows where those files are and how often to look; does not know their formats (perf_map,
 * jitdump) nor who asks.
 *
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "unwind/module_map.h"
#include "unwind/symbol/code_names.h"

struct yarn_jit_names;

/* `pid`: as the process sees itself, which is what its files are called by. `start_realtime_ns`: of
 * the process; files that are older are of another one that had the pid. `map` is borrowed. */
YARN_MUST_CHECK int yarn_jit_names_new(struct yarn_jit_names **ret_names,
                                       const struct yarn_module_map *map, uint32_t pid,
                                       uint64_t start_realtime_ns);
/* NULL is allowed. */
void yarn_jit_names_free(struct yarn_jit_names *names);

/* The number of the name that was at the address at `time_ns`, which is the sample's on
 * CLOCK_MONOTONIC, or YARN_CODE_NAME_NONE: also where other code may still have been there. Looks
 * into the files where that was not done since. Equal numbers are equal names; code that replaces
 * other code has another number. */
uint32_t yarn_jit_names_find(struct yarn_jit_names *names, uint64_t address, uint64_t time_ns);

/* By what was read so far, where there has never been other code. */
uint32_t yarn_jit_names_find_late(struct yarn_jit_names *names, uint64_t address);

/* What a number stands for; it must come from the latest look-up. */
struct yarn_code_name yarn_jit_names_at(const struct yarn_jit_names *names, uint32_t number);

/* Reads what is in the files now and was not read yet, of each no more than that. */
void yarn_jit_names_refresh(struct yarn_jit_names *names, uint64_t most_bytes);

/* Grows with each new name. */
uint64_t yarn_jit_names_generation(const struct yarn_jit_names *names);
