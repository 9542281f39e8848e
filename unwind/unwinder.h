/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * From the registers and the stack copy of one sample to its frames, and the reason why the walk
 * ended. Knows the order of methods (own rules, libunwind, frame pointers); does not know where
 * samples come from, names, or dumps. Frames beyond the copy are not shown.
 *
 * Threads: one owner at a time (the caches are inside). Signals: not safe. Allocates at creation
 * and through pages.h only.
 */
#pragma once

#include "core/base/choices.h"
#include "unwind/module_map.h"
#include "unwind/stack.h"

enum { YARN_FRAMES_MAX = 2048 };

struct yarn_unwind_frame {
    uint64_t ip;        /* as found in the register or on the stack */
    uint64_t lookup_ip; /* inside the calling instruction: ip - 1 for a return address */
    const struct yarn_module *module; /* borrowed; NULL: unknown */
    uint32_t in_function;             /* offset of lookup_ip in the code of its FDE */
    uint32_t function_size;           /* of that code; 0: both are unknown */
};

struct yarn_frames {
    unsigned count; /* leaf first */
    enum yarn_stack_end end;
    struct yarn_unwind_frame frame[YARN_FRAMES_MAX];
};

struct yarn_unwinder;

/* `map` is borrowed and must outlive the unwinder. */
YARN_MUST_CHECK int yarn_unwinder_new(struct yarn_unwinder **ret_unwinder,
                                      enum yarn_unwinder_choice choice,
                                      struct yarn_module_map *map);
void yarn_unwinder_free(struct yarn_unwinder *unwinder);

/* The leaf is always a frame, so count is at least 1. */
void yarn_unwinder_unwind(struct yarn_unwinder *unwinder, const struct yarn_registers *registers,
                          const struct yarn_stack_copy *stack, struct yarn_frames *ret_frames);

/* Of a thread that is blocked at `ip`, by its stack in place. Nothing is known of its other
 * registers: where a frame hangs on one it is searched (frame_search.h), or the walk ends as a cut
 * one. The thread may run on meanwhile: then the frames are of no use, which the caller has to find
 * out. */
void yarn_unwinder_unwind_blocked(struct yarn_unwinder *unwinder, uint64_t ip, uint64_t sp,
                                  struct yarn_stack_windows *windows,
                                  struct yarn_frames *ret_frames);

/* When yarn_unwinder_watch_code is to be called: some generated code is new, or changes;
 * UINT64_MAX: none. */
uint64_t yarn_unwinder_watch_ns(const struct yarn_unwinder *unwinder);
void yarn_unwinder_watch_code(struct yarn_unwinder *unwinder, uint64_t now_ns);
/* The program will generate code soon. */
void yarn_unwinder_expect_code(struct yarn_unwinder *unwinder);

/* True where the code at the address is marked as having no caller (_start, clone3):
 * then a chain of frame pointers that ended there is complete. */
bool yarn_unwinder_is_outermost(struct yarn_unwinder *unwinder, uint64_t lookup_ip);
