/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * From an unwound sample to the number of its stack in the dump: names new frames and interns
 * frames and stacks. Knows names and writer; does not know records, the unwinder or files.
 *
 * Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/base/table.h"
#include "output/dump/writer.h"
#include "recording/pipeline/frame_names.h"
#include "recording/pipeline/queue.h"

/* The stack of a thread's latest sample, outermost frame first. The next one mostly has the same
 * outer frames, and comparing is several times cheaper than looking up each frame in tables that
 * are no longer cached. */
struct yarn_recent_frame {
    uint64_t lookup_ip;
    uint32_t module; /* number; frames outside files are never reused */
    uint32_t stack;  /* up to and with this frame */
    bool is_unnamed;
};

struct yarn_recent_stack {
    uint32_t tid;
    unsigned count;
    struct yarn_recent_frame frame[YARN_FRAMES_MAX];
};

enum { YARN_RECENT_STACKS = 16 }; /* threads that take turns */

/* Three of four new frames are in known functions: their symbol's number is found here with one
 * cache line, where the full look-up takes ten. */
struct yarn_known_function {
    uint64_t key;      /* of module and function; 0: free */
    uint32_t from, to; /* relative to the function's start; addresses between have this symbol */
    uint32_t symbol;   /* the dump's number */
    bool is_unnamed;
    bool is_late; /* its name has not been asked for yet; never of what is kept */
};

struct yarn_stack_store {
    struct yarn_module_map *map;     /* borrowed */
    struct yarn_frame_names *names;  /* borrowed */
    const struct yarn_queue *queue;  /* borrowed; where the rest of what is stored waits, or NULL */
    const struct yarn_queued *first; /* of that */
    struct yarn_dump_writer *writer; /* borrowed; of the latest call */
    uint64_t nr_frames_added;        /* each cost a look-up of its name */
    struct yarn_table numbers;       /* of frames: address, module and flags -> number */
    uint32_t epoch;                  /* of the writer, that `numbers` belong to */
    struct yarn_recent_stack *recent[YARN_RECENT_STACKS]; /* owned: by tid; NULL: not needed yet */
    struct yarn_known_function *known; /* owned: an array, by key, of 2^known_log2 */
    unsigned known_log2;
    struct yarn_table written; /* numbers of the modules that the dump has */
};

YARN_MUST_CHECK int yarn_stacks_open(struct yarn_stack_store *stacks, struct yarn_module_map *map,
                                     struct yarn_frame_names *names);

/* Gives the sample its stack. `queue`: what is stored next, whose names are asked for together with
 * those of this one; NULL: the names that are not known follow later. True where the innermost
 * frame has no name, as far as was asked. */
bool yarn_stacks_intern(struct yarn_stack_store *stacks, struct yarn_dump_writer *writer,
                        const struct yarn_queue *queue, struct yarn_queued *queued);

/* The number of the frame at an address, as it is mapped now; YARN_DUMP_NONE: none. It is of the
 * writer's epoch. */
uint32_t yarn_stacks_frame_at(struct yarn_stack_store *stacks, struct yarn_dump_writer *writer,
                              uint64_t address, uint64_t time_ns);

/* Keeps what names that came late for their frames say of their functions: for other frames. */
void yarn_stacks_learn(struct yarn_stack_store *stacks, struct yarn_dump_writer *writer);

/* Stores the modules that no frame refers to: the others are stored with their first frame, because
 * only then their file has been opened. */
void yarn_stacks_write_modules(struct yarn_stack_store *stacks, struct yarn_dump_writer *writer);

/* Idempotent. */
void yarn_stacks_close(struct yarn_stack_store *stacks);
