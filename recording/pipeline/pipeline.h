/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * From one followed process's records to its dump: a sample is unwound while its record is
 * in the ring, is queued, gets its names and its stack's number, and is stored; modules,
 * threads and losses are stored as they arrive.
 *
 *     record ──> walks ──> queue ──> frame names ──> stacks ──> dump
 *                                                       └─────> account
 *
 * An object of one process, which is given at its opening: several may be open at once, and none
 * depends on the calling process. Knows what is done with each record; does not know rings,
 * commands or when to flush.
 *
 * Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/record/edges.h"
#include "core/record/record.h"
#include "recording/account/account.h"
#include "recording/dump/process_dump.h"
#include "recording/pipeline/frame_names.h"
#include "recording/pipeline/off_cpu.h"
#include "recording/pipeline/queue.h"
#include "recording/pipeline/stacks.h"
#include "recording/pipeline/switch_runs.h"
#include "recording/pipeline/walks.h"

struct yarn_pipeline {
    struct yarn_process_dump *dump; /* borrowed: of the process, with its account and session */
    uint32_t pid, reader_tid;       /* a thread of it that is not followed; 0: none */
    struct yarn_module_map *map;
    struct yarn_unwinder *unwinder;
    struct yarn_frame_names names;
    struct yarn_walks walks;
    struct yarn_queue queue;
    struct yarn_stack_store stacks;
    struct yarn_edges edges;             /* branches that are not stored yet */
    struct yarn_off_cpu off_cpu;         /* open where off-cpu is recorded */
    struct yarn_switch_runs *runs;       /* NULL: switches are not recorded */
    struct yarn_pipeline_shared *shared; /* borrowed; NULL */
    bool saw_thread_end;                 /* since the last check of the host's threads */
    bool is_in_sample;                   /* that is stored at once: many more will come */
};

/* Closed on failure. `shared`: with other processes (borrowed); NULL: nothing. */
YARN_MUST_CHECK int yarn_pipeline_open(struct yarn_pipeline *pipeline,
                                       struct yarn_process_dump *dump,
                                       struct yarn_pipeline_shared *shared);

/* Receives every record of the process; must not outlive `pipeline`. */
struct yarn_record_listener yarn_pipeline_listener(struct yarn_pipeline *pipeline);

/* Records of switches may be missing up to then. */
void yarn_pipeline_lose(struct yarn_pipeline *pipeline, uint64_t time_ns);

/* Names and stores the samples that are queued, until the queue is empty or the clock reaches
 * `until_ns`. True where it is empty. */
bool yarn_pipeline_store_queued(struct yarn_pipeline *pipeline, uint64_t until_ns);

/* Stores everything that is queued. `is_last`: the process waits for it. */
void yarn_pipeline_flush(struct yarn_pipeline *pipeline, bool is_last);

/* Opens the file of each module while it is reachable. */
void yarn_pipeline_load_modules(struct yarn_pipeline *pipeline);

/* Idempotent. */
void yarn_pipeline_close(struct yarn_pipeline *pipeline);
