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

#include "core/base/table.h"
#include "core/sys/kernel_names.h"
#include "output/dump/writer.h"
#include "recording/pipeline/pipeline_shared.h"
#include "recording/process/facts.h"
#include "unwind/module_map.h"
#include "unwind/symbol/jit_names.h"
#include "unwind/symbol/symbols.h"
#include "unwind/unwinder.h"

/* The names of code in files, asked for many at a time: each module's in one pass over its tables,
 * as far as the time goes that naming may take. While the process lives that is a share of its CPU
 * time; at its end, when it waits, a little. What can not be named later comes first: of a file
 * that is deleted, or has no build id, or is in a mount namespace of the process's own. What is not
 * asked for in time stays a question, with a frame in the dump that has no name; its name follows
 * when it is known, or is found by the tool in a file of that build id. Knows what may be asked
 * when; does not know stacks, nor how names are found. */

struct yarn_file_name {
    const struct yarn_module *module;
    struct yarn_symbol_question question;
    bool is_stored; /* its frame is in the dump, without a name: who sets it counts it */
};

struct yarn_file_names {
    struct yarn_symbols *symbols;   /* owned, unless they are shared */
    struct yarn_known_names *known; /* borrowed, of those that share them; NULL: nobody else */
    struct yarn_module_map *map;    /* borrowed, as are the facts */
    const struct yarn_facts *facts;
    struct yarn_arena names;     /* an array of struct yarn_file_name */
    struct yarn_table by_place;  /* module and address -> place in that */
    struct yarn_arena texts;     /* of the answers */
    struct yarn_arena questions; /* those of one module */
    uint64_t nr_unnamed;         /* frames in the dump that still have no name */
    uint64_t spent_ns;           /* while the process lives */
    uint64_t until_ns;           /* at its end; 0: it lives */
    bool has_asked;              /* since this was last reset */
};

YARN_MUST_CHECK int yarn_file_names_open(struct yarn_file_names *names, struct yarn_module_map *map,
                                         const struct yarn_facts *facts,
                                         struct yarn_pipeline_shared *shared);

/* Idempotent. */
void yarn_file_names_close(struct yarn_file_names *names);

/* The process waits from now on, or lives on after all. */
void yarn_file_names_hurry(struct yarn_file_names *names, bool is_last);

/* Remembers the question, if there is room; `address` is the frame's, linked. The module must have
 * an image. */
void yarn_file_names_want(struct yarn_file_names *names, const struct yarn_unwind_frame *frame,
                          uint64_t address);

/* The answer, as far as it is known; NULL where it is no question. Valid until the next is
 * remembered. */
struct yarn_file_name *yarn_file_names_find(const struct yarn_file_names *names,
                                            const struct yarn_module *module, uint64_t address);

/* Asks as far as the time goes. Names that came too late for their frames are written. */
void yarn_file_names_ask(struct yarn_file_names *names, struct yarn_dump_writer *writer);

/* All names, with those that were answered since the last clear. */
struct yarn_file_name *yarn_file_names_all(const struct yarn_file_names *names, size_t *ret_count);

/* Drops the answers. */
void yarn_file_names_clear(struct yarn_file_names *names);

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
