/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The input of a walk: the registers and stack copy of a sample, or the stack of a blocked thread.
 * Does not know how they are used (rule, unwinder).
 *
 * Threads, signals: pure functions over values; safe anywhere.
 */
#pragma once

#include "core/base/span.h"
#include "core/sys/target.h"

/* The stack of a thread that is blocked: pages of it, read through the kernel when
 * the walk needs a word of them. Not a copy of a fixed size: a frame may hold a megabyte that
 * nobody looks at. Does not know whether the thread is still blocked (who looks does). */

enum { YARN_STACK_WINDOWS = 8, YARN_STACK_WINDOW_BYTES = 4096 };

struct yarn_stack_windows {
    const struct yarn_target *target;  /* borrowed: whose thread it is */
    uint64_t page[YARN_STACK_WINDOWS]; /* address | 1; 0: empty */
    uint8_t bytes[YARN_STACK_WINDOWS][YARN_STACK_WINDOW_BYTES];
};

/* Before another stack, or the same one later. */
void yarn_stack_windows_clear(struct yarn_stack_windows *windows, const struct yarn_target *target);

/* A little-endian word; false where nothing is mapped. */
bool yarn_stack_windows_read(struct yarn_stack_windows *windows, uint64_t address,
                             uint64_t *ret_word);

/* Registers in the order of the machine's DWARF numbers: x86-64 0..15 and [16] = ip. */
enum { YARN_REGISTERS_MAX = 33 };

struct yarn_registers {
    uint64_t value[YARN_REGISTERS_MAX];
    uint64_t valid; /* bit n: value[n] is known */
    uint64_t ip, sp;
};

/* The copied stack, or (`windows`) that of a blocked thread in place. Addresses [start, start +
 * first.size + second.size). It lies in a ring in place and may wrap there: hence two pieces. */
struct yarn_stack_copy {
    uint64_t start;
    struct yarn_span first, second;
    struct yarn_stack_windows *windows; /* borrowed: no copy, both are empty; else NULL */
    uint64_t time_ns;                   /* of the copy; 0: the thread still stands there */
    pid_t tid;                          /* of the thread; 0: not known */
};

/* A little-endian word; false where any byte of it lies outside the copy. */
static inline bool yarn_stack_copy_read(const struct yarn_stack_copy *stack, uint64_t address,
                                        uint64_t *ret_word)
{
    uint64_t at = address - stack->start;
    if (yarn_span_read(stack->first, at, ret_word, sizeof *ret_word))
        return true;
    if (stack->windows)
        return yarn_stack_windows_read(stack->windows, address, ret_word);
    if (at >= stack->first.size)
        return yarn_span_read(stack->second, at - stack->first.size, ret_word, sizeof *ret_word);
    size_t head = stack->first.size - (size_t)at;
    uint8_t bytes[sizeof *ret_word];
    if (head >= sizeof bytes || !yarn_span_read(stack->first, at, bytes, head) ||
        !yarn_span_read(stack->second, 0, bytes + head, sizeof bytes - head))
        return false;
    memcpy(ret_word, bytes, sizeof bytes);
    return true;
}
