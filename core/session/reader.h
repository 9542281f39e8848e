/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * When to drain the rings. `poll`: poll(2) over the leaders and the wake descriptor, so a ring
 * is drained at its watermark. `timed`: asleep on the command word, awake often enough that no ring
 * gets more than half full. Both end a wait at once on a command, and on a visitor: a descriptor of
 * the caller's that is polled beside the rings.
 *
 * Knows waiting; does not drain, and does not know what the commands mean.
 * Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include <stdatomic.h>

#include "core/session/session.h"

struct yarn_ring_reader;
struct pollfd;

/* Places in the list of descriptors. */
enum {
    YARN_READER_VISITORS_MAX = 8,
    YARN_READER_FIRST_VISITOR = 1,
    YARN_READER_FIRST_LEADER = YARN_READER_FIRST_VISITOR + YARN_READER_VISITORS_MAX,
};

struct yarn_reader_kind {
    const char *name;
    YARN_MUST_CHECK int (*open)(struct yarn_ring_reader *reader);
    void (*wait)(struct yarn_ring_reader *reader, uint64_t timeout_ns);
    void (*close)(struct yarn_ring_reader *reader);
};

extern const struct yarn_reader_kind yarn_reader_poll;
extern const struct yarn_reader_kind yarn_reader_timed;

struct yarn_ring_reader {
    const struct yarn_reader_kind *kind;
    const struct yarn_session *session; /* borrowed */
    _Atomic uint32_t *command;          /* borrowed; 0: none pending */
    uint64_t pause_ns; /* poll: the least, timed: the longest time between two drains */
    uint64_t nr_births_seen, births_ns; /* of threads, up to the last wait; when that began */
    struct pollfd *fds; /* owned by arena: the wake descriptor, visitors, leaders; NULL: none */
    size_t nr_fds, nr_visitors;
    uint32_t generation; /* of the session's descriptors that are in fds */
    bool is_by_time;     /* there are too many to poll */
    int wake_fd;         /* owned; -1: the session's spec has one, or only the command word wakes */
    bool has_visitor;    /* the last wait ended for one */
    bool is_woken;       /* it ended because the wake descriptor is readable */
    bool woke_early;     /* the last wait ended before its time and not by a command */
    struct yarn_arena arena;
};

YARN_MUST_CHECK int yarn_reader_open(struct yarn_ring_reader *reader,
                                     const struct yarn_reader_kind *kind,
                                     const struct yarn_session *session, _Atomic uint32_t *command);

/* The wake descriptor and room for so many leaders and any visitors. A kind without sleeps on the
 * command word alone, until there is a visitor; where none can be had, visitors wait for its time.
 */
YARN_MUST_CHECK int yarn_reader_open_fds(struct yarn_ring_reader *reader, size_t nr_leaders);

/* What the next wait is to watch beside the rings, at most YARN_READER_VISITORS_MAX. */
void yarn_reader_watch(struct yarn_ring_reader *reader, const struct pollfd *visitors,
                       size_t count);

/* Asleep until a command or a visitor comes. */
void yarn_reader_sleep(struct yarn_ring_reader *reader, uint64_t timeout_ns);

/* The same, or until a leader has something; true for that, and then the time that it took. */
bool yarn_reader_await(struct yarn_ring_reader *reader, uint64_t timeout_ns,
                       uint64_t *ret_taken_ns);

/* Returns when there may be something to drain, when *command is not 0, or after timeout_ns. */
void yarn_reader_wait(struct yarn_ring_reader *reader, uint64_t timeout_ns);

/* Idempotent. */
void yarn_reader_close(struct yarn_ring_reader *reader);
