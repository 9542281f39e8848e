/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The share that one process has of a session that follows a tree: what its account and its dump
 * ask of a session of their own. It has the session's events as they were got, and neither rings
 * nor counts: the kernel counts for the tree as a whole.
 *
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "core/session/session.h"

struct yarn_session_share {
    struct yarn_session_request request;
    struct yarn_session session; /* not to be opened or closed */
};

/* `tree` and `target` are borrowed; outlive it. The process had so many threads until now. */
void yarn_session_share_open(struct yarn_session_share *share, const struct yarn_session *tree,
                             const struct yarn_target *target, size_t nr_threads);

/* The session takes its samples in another way from now on: `nr_changes`. */
void yarn_session_share_update(struct yarn_session_share *share, const struct yarn_session *tree);
