/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * When to look into the rings. `poll`: poll(2) over the leaders and the wake descriptor, so a ring
 * is drained at its watermark. `timed`: asleep on the command word, awake often enough that no ring
 * gets more than half full. Both end a wait at once when a command arrives.
 *
 * Knows waiting; does not drain, and does not know what the commands mean.
 * Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include <stdatomic.h>

#include "core/session/session.h"

struct yarn_reader;

struct yarn_reader_kind {
    const char *name;
    YARN_MUST_CHECK int (*open)(struct yarn_reader *reader);
    void (*wait)(struct yarn_reader *reader, uint64_t timeout_ns);
    void (*close)(struct yarn_reader *reader);
};

extern const struct yarn_reader_kind yarn_reader_poll;
extern const struct yarn_reader_kind yarn_reader_timed;

struct yarn_reader {
    const struct yarn_reader_kind *kind;
    const struct yarn_session *session; /* borrowed */
    _Atomic uint32_t *command;          /* borrowed; 0: none pending */
    uint64_t pause_ns; /* poll: the least, timed: the longest time between two drains */
    uint64_t nr_births_seen, births_ns; /* of threads, up to the last wait; when that began */
    struct pollfd *fds;                 /* owned by arena */
    size_t nr_fds;
    uint32_t generation; /* of the session's descriptors that are in fds */
    bool is_by_time;     /* there are too many to poll */
    int wake_fd;
    bool woke_early; /* the last wait ended before its time and not by a command */
    struct yarn_arena arena;
};

YARN_MUST_CHECK int yarn_reader_open(struct yarn_reader *reader,
                                     const struct yarn_reader_kind *kind,
                                     const struct yarn_session *session, _Atomic uint32_t *command);

/* Returns when there may be something to drain, when *command is not 0, or after timeout_ns. */
void yarn_reader_wait(struct yarn_reader *reader, uint64_t timeout_ns);

/* Idempotent. */
void yarn_reader_close(struct yarn_reader *reader);
