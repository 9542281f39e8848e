/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A step where no call frame information covers the ip: assembly, code of a JIT, programs built
 * without tables. For code in a file, an analysis of the instructions finds the return address
 * (code_x86_64.h); JIT-compiled code is assumed to have frame pointers unless the stack contradicts
 * that. Without a conclusive result the walk ends: no frame is guessed, none is skipped.
 * Does not know libunwind.
 *
 * Threads: one owner of the cache at a time. Signals: not safe.
 */
#pragma once

#include "unwind/rule_cache.h"

/* END: the frame is the process's first. `is_exact`: the frame was interrupted at its ip (the leaf,
 * and below a signal frame); on OK, whether the caller was. UNKNOWN: no way to find the caller. */
enum yarn_step yarn_fallback_step(struct yarn_rule_cache *cache,
                                  const struct yarn_stack_copy *stack, bool *is_exact,
                                  struct yarn_registers *registers);

/* Whether the word can be a return address: it points to code, after a call instruction if the code
 * can be read, or to where an interpreter goes on. */
bool yarn_fallback_is_return(const struct yarn_rule_cache *cache, uint64_t address);

/* Whether the call before it leads to the address itself: it is no return address. */
bool yarn_fallback_is_own_address(const struct yarn_rule_cache *cache, uint64_t address);
