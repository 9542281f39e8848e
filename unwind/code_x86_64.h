/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The rule for an address that no table covers, derived from the instructions: following them until
 * the function returns shows where the return address and the saved registers are. All paths to a
 * return must agree. There is no rule where a path cannot be followed: the stack pointer changes by
 * a value in a register, a jump goes through a table, or a path may lead into the next function,
 * after a call that does not return. Assumes the ABI for calls: they preserve the stack pointer and
 * the callee-saved registers.
 *
 * Threads: as image.h. Signals: not safe.
 */
#pragma once

#include "unwind/rule.h"

/* `image`: NULL for code in the memory of `target`. `vaddr`: of the next instruction. `is_called`:
 * the one before it is a call that has not returned. *ret_near: the code that was read within 4 KiB
 * of it. Kind NONE where the analysis is not
 * conclusive. */
struct yarn_rule yarn_code_rule_x86_64(const struct yarn_image *image,
                                       const struct yarn_target *target, uint64_t vaddr,
                                       bool is_called, struct yarn_code_extent *ret_near);
