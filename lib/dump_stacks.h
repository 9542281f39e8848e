/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the frames of a dump's samples are: the modules of the process, and the symbols, frames and
 * stacks of the epoch, by number. Knows no files and no samples.
 *
 * Numbers and texts are those of output/dump/reader.h, which hands a thing on before others name
 * it. Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "lib/dump_late_names.h"
#include "output/dump/types.h"

struct yarn_frame;

/* Begins empty: all zero. */
struct yarn_stack_tables {
    char **modules;                  /* owned, and so are the paths; NULL: unknown */
    struct yarn_symbol_row *symbols; /* owned */
    struct yarn_frame_row *frames;   /* owned */
    struct yarn_stack_row *stacks;   /* owned */
    struct yarn_late_names late_names;
    uint32_t process; /* from 0, of those of the file */
    bool has_process;
    size_t max_modules, max_symbols, max_frames, max_stacks;
};

/* Each: 0 or -ENOMEM. */
YARN_MUST_CHECK int yarn_stack_tables_add_module(struct yarn_stack_tables *tables,
                                                 const struct yarn_dump_module *module);
YARN_MUST_CHECK int yarn_stack_tables_add_symbol(struct yarn_stack_tables *tables,
                                                 const struct yarn_dump_symbol *symbol);
YARN_MUST_CHECK int yarn_stack_tables_add_frame(struct yarn_stack_tables *tables,
                                                const struct yarn_dump_frame *frame);
YARN_MUST_CHECK int yarn_stack_tables_add_stack(struct yarn_stack_tables *tables,
                                                const struct yarn_dump_stack *stack);

/* Of a stack that was added, or YARN_DUMP_NONE, which has none. */
size_t yarn_stack_tables_depth(const struct yarn_stack_tables *tables, uint32_t stack);
/* The caller's stack; YARN_DUMP_NONE: it has none. */
uint32_t yarn_stack_tables_parent(const struct yarn_stack_tables *tables, uint32_t stack);
/* Its innermost frame. */
void yarn_stack_tables_frame(const struct yarn_stack_tables *tables, uint32_t stack,
                             struct yarn_frame *ret_frame);

/* Another process begins: its modules are others. */
void yarn_stack_tables_begin_process(struct yarn_stack_tables *tables);
/* Idempotent. */
void yarn_stack_tables_close(struct yarn_stack_tables *tables);
