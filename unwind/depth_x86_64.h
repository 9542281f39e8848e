/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * How deep a function's stack is at one of its instructions, by the instructions from its begin to
 * there: for a function whose table counts from the frame pointer, which may be unknown. There is
 * no answer where two ways differ, where a way cannot be followed (a jump through a table), or
 * where the stack grows by what only a register knows. What is reached only by an exception is not.
 * Assumes the ABI for calls: they preserve the stack pointer and the frame pointer.
 *
 * Threads, signals: pure functions over values; safe anywhere.
 */
#pragma once

#include "unwind/rule.h"

/* `code`: the whole function, at whose begin the CFA is a word above the stack pointer. */
bool yarn_code_depth_x86_64(struct yarn_span code, uint32_t at, struct yarn_code_depth *ret_depth);

/* Whether some instruction may move the stack pointer by what only a register knows: one after the
 * other, come to or not. */
bool yarn_code_allocates_x86_64(struct yarn_span code);
