/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The names of code in files, asked for many at a time: each module's in one pass over its tables,
 * as far as the time goes that naming may take. While the process lives that is a share of its CPU
 * time; at its end, when it waits, a little. What can not be named later comes first: of a file
 * that is deleted, or has no build id, or is in a mount namespace of the process's own. What is not
 * asked for in time stays a question, with a frame in the dump that has no name; its name follows
 * when it is known, or is found by the tool in a file of that build id. Knows what may be asked
 * when; does not know stacks, nor how names are found.
 *
 * Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/base/table.h"
#include "output/dump/writer.h"
#include "recording/pipeline/shared.h"
#include "recording/process/facts.h"
#include "unwind/module_map.h"
#include "unwind/symbol/symbols.h"
#include "unwind/unwinder.h"

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

/* What is known of it; NULL where it is no question. Valid until the next is remembered. */
struct yarn_file_name *yarn_file_names_find(const struct yarn_file_names *names,
                                            const struct yarn_module *module, uint64_t address);

/* Asks as far as the time goes. Names that came too late for their frames are written. */
void yarn_file_names_ask(struct yarn_file_names *names, struct yarn_dump_writer *writer);

/* Those that were answered since the last clear among them. */
struct yarn_file_name *yarn_file_names_all(const struct yarn_file_names *names, size_t *ret_count);

/* Drops the answers. */
void yarn_file_names_clear(struct yarn_file_names *names);
