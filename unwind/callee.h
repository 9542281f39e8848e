/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Where the call before a return address leads, as far as that can be proven: by the instruction
 * itself, or by the slot that it, or the stub that it calls, jumps through. The code is read from
 * its file, the slot from the process through the kernel.
 *
 * Threads: one owner of the cache at a time. Signals: not safe.
 */
#pragma once

#include "unwind/rule_cache.h"

/* Code of a file at that address, perhaps fewer bytes; empty where none is. */
struct yarn_span yarn_callee_code(const struct yarn_module *module, uint64_t address);

/* False where it is no return address, or its call proves nothing. */
bool yarn_callee_find(struct yarn_rule_cache *cache, uint64_t return_address, uint64_t *ret_callee);

/* False where the call provably leads to code that is not those bytes, and from which no direct
 * jump leads into them: neither a tail call nor a part of the function that lies elsewhere. */
bool yarn_callee_may_be(struct yarn_rule_cache *cache, uint64_t return_address, uint64_t start,
                        uint32_t size);
