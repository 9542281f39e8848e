/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The name of a frame: a function of a file, of code that was generated in the process, or of
 * the kernel. Generated code may get its name after its frames were stored without one, and may
 * be replaced by other code: such frames are looked up each time. The names of the kernel's
 * functions are read in parts, in proportion to the host's CPU time. Frames without a name are
 * remembered (64 Ki of them) until they have one. Knows where names come from; does not know
 * stacks.
 *
 * Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/sys/kernel_names.h"
#include "recording/pipeline/file_names.h"
#include "unwind/symbol/jit_names.h"

struct yarn_frame_names {
    struct yarn_file_names files;
    struct yarn_jit_names *jit; /* owned */
    struct yarn_kernel_names kernel;
    bool wants_kernel;           /* a frame in the kernel was seen */
    struct yarn_arena unnamed;   /* an array: frames that await their names */
    uint64_t unnamed_generation; /* of `jit`, when they were last looked up */
    bool kernel_was_read;        /* at that time */
};

/* `map` and `facts` are borrowed, as is what is shared with other processes; NULL: nothing. */
YARN_MUST_CHECK int yarn_frame_names_open(struct yarn_frame_names *names,
                                          struct yarn_module_map *map,
                                          const struct yarn_facts *facts,
                                          struct yarn_pipeline_shared *shared);
/* Code that was generated in the process: not in a file that can be read. */
static inline bool yarn_frame_is_generated(const struct yarn_unwind_frame *frame)
{
    return !frame->module || frame->module->kind == YARN_MODULE_ANONYMOUS;
}

/* Idempotent. */
void yarn_frame_names_close(struct yarn_frame_names *names);

/* Which code is at the frame's address at this moment, as far as names show it: a number that
 * distinguishes what the frame is called at different times. */
uint32_t yarn_frame_names_code(struct yarn_frame_names *names,
                               const struct yarn_unwind_frame *frame, uint32_t flags,
                               uint64_t time_ns);

/* Of generated code and the kernel: those of files are in `files`. `address` is the linked look-up
 * address; `code` is the result of yarn_frame_names_code. An empty name where there is none, or not
 * yet. */
struct yarn_symbol yarn_frame_names_of(struct yarn_frame_names *names,
                                       const struct yarn_unwind_frame *frame, uint32_t flags,
                                       uint64_t address, uint32_t code);

/* Writes the names that have become known for frames that had none. `cpu_ns` of the host so far
 * decide whether the kernel's are worth reading, a part at each call, and so is a large file of
 * generated code's; more of that where it is the last. */
void yarn_frame_names_write_late(struct yarn_frame_names *names, struct yarn_dump_writer *writer,
                                 uint64_t cpu_ns, bool is_last);
