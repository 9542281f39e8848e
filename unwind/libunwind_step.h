/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * One step from a frame to its caller by libunwind's remote interface: the cross-check, and the
 * method for rows that no rule expresses. Each step begins a new cursor whose ip is the lookup ip:
 * libunwind keys its cache by ip alone, so a leaf at a return address would otherwise get the row
 * of the instruction before it, and a cursor's own "0: no caller" also means that it gave up.
 * Finding the FDE is ours (cfi); instructions, expressions and registers are libunwind's.
 *
 * Threads: one owner at a time, and one thread at a time for all of them together (libunwind's
 * pools are shared, and have no locks: libunwind_host). Signals: not safe.
 */
#pragma once

#include "unwind/module_map.h"
#include "unwind/rule.h"

struct yarn_libunwind;

/* `cache_entries`: rows that libunwind keeps, some 184 bytes each. */
YARN_MUST_CHECK int yarn_libunwind_new(struct yarn_libunwind **ret_libunwind,
                                       const struct yarn_unwind_machine *machine,
                                       size_t cache_entries);
void yarn_libunwind_free(struct yarn_libunwind *libunwind);

/* The modules have changed: nothing that was learnt about an address holds. */
void yarn_libunwind_flush_cache(struct yarn_libunwind *libunwind);

/* `module` has an image with call frame information for the lookup ip. On OK *registers are the
 * caller's; untouched otherwise. `is_signal`: of the frame's FDE. */
enum yarn_step yarn_libunwind_step(struct yarn_libunwind *libunwind,
                                   const struct yarn_module *module, uint64_t lookup_ip,
                                   bool is_signal, const struct yarn_stack_copy *stack,
                                   struct yarn_registers *registers);
