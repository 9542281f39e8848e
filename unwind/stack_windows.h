/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The stack of a thread that is blocked: pages of it, read through the kernel when
 * the walk needs a word of them. Not a copy of a fixed size: a frame may hold a megabyte that
 * nobody looks at. Does not know whether the thread is still blocked (who looks does).
 *
 * Threads: one owner at a time. Signals: safe.
 */
#pragma once

#include "core/sys/target.h"

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
