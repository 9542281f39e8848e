/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The recorder of a tree: the session with its rings, and the processes that its records are about.
 * Does not know whom it follows (a command, or processes that run already).
 *
 * Threads: one; one recorder at a time.
 */
#pragma once

#include "output/yarnprof/outside/drain.h"
#include "output/yarnprof/outside/tree.h"

struct yarn_recorder_outside {
    const struct yarn_job *job; /* borrowed */
    struct yarn_target target;
    struct yarn_session_request request;
    struct yarn_session session;
    struct yarn_drain drain;
    struct yarn_process_tree tree;
    uint64_t stopped_ns; /* UINT64_MAX: it goes on */
    bool is_over;        /* nothing is recorded any more */
    unsigned nr_repeats; /* of the latest start or stop, that are to come */
    uint64_t repeat_at_ns, repeat_step_ns;
};

/* The request is of the target in it, which is set. A failure is complained about. */
YARN_MUST_CHECK int yarn_recorder_outside_open(struct yarn_recorder_outside *recorder,
                                               const struct yarn_job *job);

/* Events of whole cores are on from now on; others are where their thread was attached to, or once
 * it executes. */
void yarn_recorder_outside_begin(struct yarn_recorder_outside *recorder);

/* The longest pause between two passes over the records now. */
uint64_t yarn_recorder_outside_pause_ns(const struct yarn_recorder_outside *recorder);

/* Sleeps until there may be something to be drained, or one of the others is readable, at most that
 * long. */
void yarn_recorder_outside_wait(const struct yarn_recorder_outside *recorder,
                                const struct pollfd *others, size_t nr_others, uint64_t most_ns);

/* The records in the rings go to the processes and are stored. */
void yarn_recorder_outside_drain(struct yarn_recorder_outside *recorder);

/* Nothing is sampled meanwhile, but the tree is followed. Once it returns, what was sampled until
 * then is in the dumps. No effect where it is so already. */
void yarn_recorder_outside_pause(struct yarn_recorder_outside *recorder,
                                 enum yarn_dump_coverage_cause cause);
void yarn_recorder_outside_resume(struct yarn_recorder_outside *recorder,
                                  enum yarn_dump_coverage_cause cause);

/* All up to now is read. */
void yarn_recorder_outside_catch_up(struct yarn_recorder_outside *recorder);

/* All up to now is in the dumps. */
void yarn_recorder_outside_flush(struct yarn_recorder_outside *recorder);

/* Samples that the kernel has lost. */
uint64_t yarn_recorder_outside_lost(const struct yarn_recorder_outside *recorder);

/* The events are off from now on, and what they left is drained. Idempotent. */
void yarn_recorder_outside_stop(struct yarn_recorder_outside *recorder);

/* Ends every dump, the first process's with that status; complains about what could not be stored.
 * *ret_dumps: all that were written, to be freed by yarn_own_dumps_fini. */
void yarn_recorder_outside_end(struct yarn_recorder_outside *recorder, int status,
                               struct yarn_own_dumps *ret_dumps);

/* Idempotent. */
void yarn_recorder_outside_close(struct yarn_recorder_outside *recorder);
