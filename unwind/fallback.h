/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A step where no call frame information covers the ip: code from a JIT, assembly, programs built
 * without tables. By the frame pointer, or for a leaf that has pushed nothing by the word at sp;
 * each guess must be borne out: the return address follows a call instruction where the code can
 * be read, and the frame pointers form a chain where it cannot.
 * Does not know rules or libunwind.
 *
 * Threads: one owner of the map at a time. Signals: not safe.
 */
#pragma once

#include "unwind/rule.h"

/* END: the frame is the process's first. `is_exact`: the frame was interrupted at its ip (the leaf,
 * and below a signal frame). UNKNOWN: nothing says how to go on. */
enum yarn_step yarn_fallback_step(struct yarn_module_map *map, const struct yarn_machine *machine,
                                  const struct yarn_stack_copy *stack, bool is_exact,
                                  struct yarn_registers *registers);
