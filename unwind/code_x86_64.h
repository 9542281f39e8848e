/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The rule of a place in code that no table covers, read out of the code itself: what the machine
 * would do from there until the function returns says where the return address and the saved
 * registers are. All ways out that are found have to agree. What cannot be followed gives no rule:
 * stacks that are changed by what only a register knows, jumps through tables, and a way out that
 * may be the next function's, behind a call that does not return.
 * Assumes what the ABI says of calls: that they leave the stack pointer and kept registers alone.
 *
 * Threads: as image.h. Signals: not safe.
 */
#pragma once

#include "unwind/rule.h"

/* `image`: NULL for code in the process's memory. `vaddr`: of the next instruction. `is_called`:
 * the one before it is a call that has not returned. Kind NONE where nothing is proven. */
struct yarn_rule yarn_code_rule_x86_64(const struct yarn_image *image, uint64_t vaddr,
                                       bool is_called);
