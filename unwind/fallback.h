/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A step where no call frame information covers the ip: code from a JIT, assembly, programs built
 * without tables. Where the return address is, is guessed: right above what the function has pushed
 * so far (nothing, for a leaf), or by the frame pointer, which is the function's own only if it has
 * set one up. A guess has to be borne out by what is known for sure: the instruction at the ip, the
 * calls in front of return addresses and where they lead, and the caller's own call frame
 * information, which has to lead to the frame that the frame pointer marks. Where nothing tells the
 * guesses apart the walk ends, and no frame is skipped.
 * Does not know libunwind.
 *
 * Threads: one owner of the cache at a time. Signals: not safe.
 */
#pragma once

#include "unwind/rule_cache.h"

/* END: the frame is the process's first. `is_exact`: the frame was interrupted at its ip (the leaf,
 * and below a signal frame). UNKNOWN: nothing says how to go on. */
enum yarn_step yarn_fallback_step(struct yarn_rule_cache *cache,
                                  const struct yarn_stack_copy *stack, bool is_exact,
                                  struct yarn_registers *registers);
