/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The recording of one image of one process of a tree, from its first sample to its end: its share
 * of the tree's session, its account, its pipeline and its dump. Does not know the other processes
 * (tree), nor where records come from.
 *
 * Threads: one. Signals: not safe.
 */
#pragma once

#include "core/session/share.h"
#include "output/yarnprof/io/written.h"
#include "recording/account/thread_times.h"
#include "recording/pipeline/pipeline.h"

struct yarn_followed {
    struct yarn_job job; /* the tree's, with the image's facts */
    char **environment;  /* owned: of the image; NULL: the tree's */
    struct yarn_session_share share;
    struct yarn_failure failure;
    uint64_t flushed_ns;
    uint64_t read_ns;  /* its records, up to then */
    bool has_switched; /* since the times of its threads were read */
    struct yarn_process_dump dump;
    struct yarn_pipeline pipeline;
    struct yarn_messages messages;
    struct yarn_account account;
    struct yarn_thread_times times;
};

/* All is borrowed. off-cpu is open where it is asked for, and not started. */
YARN_MUST_CHECK int yarn_followed_new(struct yarn_followed **ret_followed,
                                      const struct yarn_job *tree_job,
                                      const struct yarn_session *session,
                                      const struct yarn_target *target, size_t nr_threads,
                                      struct yarn_pipeline_shared *shared);

/* Once it is known what the image is: its dump begins. The texts of `facts` are borrowed, the
 * environment, which may be NULL, is taken over. On failure it is in `failure`, and nothing is
 * stored. */
YARN_MUST_CHECK int yarn_followed_begin(struct yarn_followed *followed,
                                        const struct yarn_facts *facts, char **environment);

/* The tree's session has changed how it takes samples, of which none was read yet. */
void yarn_followed_change(struct yarn_followed *followed, const struct yarn_session *session);

/* A record of the process. */
void yarn_followed_record(struct yarn_followed *followed, const struct yarn_typed_record *record);

/* The kernel's times of its threads, where there may be others. True where it was looked at. */
bool yarn_followed_read_times(struct yarn_followed *followed, uint64_t now_ns);

/* Once its dump has begun, each interval: names and stores what was recorded, and writes it to the
 * file. */
void yarn_followed_store(struct yarn_followed *followed, uint64_t now_ns);

/* Once its dump has begun: all of it is in the file. */
void yarn_followed_flush(struct yarn_followed *followed);

/* Its dump, if it has one, gets its end. Frees it. *ret_dump: that dump; its path is NULL where
 * there is none. */
void yarn_followed_end(struct yarn_followed *followed, enum yarn_dump_end_reason reason, int status,
                       struct yarn_own_dump *ret_dump);
