/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A step where no call frame information covers the ip: assembly, code of a JIT, programs built
 * without tables. Where the code is in a file, it proves by itself where the return address is
 * (code_x86_64.h); code that a compiler made in memory is believed to have frame pointers where
 * nothing in the stack speaks against it. Where nothing is proven the walk ends: no frame is
 * guessed, none is skipped.
 * Does not know libunwind.
 *
 * Threads: one owner of the cache at a time. Signals: not safe.
 */
#pragma once

#include "unwind/rule_cache.h"

/* END: the frame is the process's first. `is_exact`: the frame was interrupted at its ip (the leaf,
 * and below a signal frame); on OK, whether the caller was. UNKNOWN: nothing says how to go on. */
enum yarn_step yarn_fallback_step(struct yarn_rule_cache *cache,
                                  const struct yarn_stack_copy *stack, bool *is_exact,
                                  struct yarn_registers *registers);

/* Whether the word can be a return address: code is there, with a call before it where it can be
 * read. */
bool yarn_fallback_is_return(const struct yarn_rule_cache *cache, uint64_t address);
