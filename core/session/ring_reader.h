/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The wait until the rings are to be drained. `poll`: poll(2) over the leaders and the wake
 * descriptor, so a ring is drained at its watermark. `timed`: asleep on the command word, awake
 * often enough that no ring gets more than half full; only while the host sleeps and blocked
 * threads are looked at it polls, too. Both end a wait at once on a command, and on a visitor: a
 * descriptor of the caller's that is polled beside the rings.
 *
 * While the host sleeps so does the reader, until a thread of the host uses CPU time:
 *   by poll  a timer of the process's CPU time makes the wake descriptor readable, at the next of
 *            the kernel's ticks that a thread meets;
 *   by word  the timer sampler's handler wakes the command word, where no descriptor would show
 *            the end of the host's only thread.
 * Where neither is to be had the caller waits by time as ever.
 *
 * The end of the host's last thread ends a wait, too: by the hang-up of an event that the first
 * thread has and the others inherit or, of the timer sampler, a pidfd; or by the first thread's own
 * word.
 *
 * Knows waiting; does not drain, and does not know what the commands mean.
 * Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include <stdatomic.h>

#include "core/session/session.h"

struct pollfd;

/* Places in the list of descriptors. */
enum {
    YARN_READER_VISITORS_MAX = 8,
    YARN_READER_FIRST_VISITOR = 1,
    YARN_READER_SENTINEL = YARN_READER_FIRST_VISITOR + YARN_READER_VISITORS_MAX,
    YARN_READER_FIRST_LEADER,
};

enum yarn_reader_rest {
    YARN_READER_AWAKE,
    YARN_READER_UNTIL_WORK, /* asleep until the host uses CPU time */
    YARN_READER_UNTIL_CALL, /* or only until somebody calls: nothing is recorded */
};

struct yarn_ring_reader {
    struct yarn_session *session;       /* borrowed; NULL while closed */
    _Atomic uint32_t *command;          /* borrowed; 0: none pending */
    bool is_poll;                       /* else timed */
    uint64_t pause_ns;                  /* poll: the least time between two drains */
    uint64_t nr_births_seen, births_ns; /* of threads, up to the last wait; when that began */
    struct pollfd *fds; /* owned by arena: wake descriptor, visitors, sentinel, leaders; NULL */
    size_t nr_fds, nr_visitors;
    size_t nr_sentinels_gone;     /* of the session's */
    uint32_t sentinel_generation; /* of its descriptors */
    int alarm;                    /* owned: YARN_TIMER_NONE */
    int alarm_refusal;            /* a negative errno: it is not tried again */
    enum yarn_reader_rest rest;
    bool polls;    /* the next wait: only a signal wakes it */
    bool sees_end; /* the same: the end of the host's last thread ends it */
    bool is_leader_gone, is_word_useless;
    uint32_t generation; /* of the session's descriptors that are in fds */
    bool is_by_time;     /* there are too many to poll */
    int wake_fd;      /* owned; -1: the session's request has one, or only the command word wakes */
    bool has_visitor; /* the last wait ended for one */
    bool is_woken;    /* it ended because the wake descriptor is readable */
    bool woke_early;  /* the last wait ended before its time and not by a command */
    bool has_end;     /* it ended because the last thread may have ended */
    struct yarn_arena arena;
};

YARN_MUST_CHECK int yarn_reader_open(struct yarn_ring_reader *reader, bool is_poll,
                                     struct yarn_session *session, _Atomic uint32_t *command);

/* Descriptors that the next wait is to watch beside the rings, at most YARN_READER_VISITORS_MAX. */
void yarn_reader_watch(struct yarn_ring_reader *reader, const struct pollfd *visitors,
                       size_t count);

/* After that, whether the next wait may last as long as the host sleeps; false where nothing would
 * show its work, and the rings need the reader in time. */
bool yarn_reader_rest(struct yarn_ring_reader *reader, enum yarn_reader_rest wanted);

/* Returns when there may be something to drain, when *command is not 0, or after timeout_ns. */
void yarn_reader_wait(struct yarn_ring_reader *reader, uint64_t timeout_ns);

/* Idempotent. */
void yarn_reader_close(struct yarn_ring_reader *reader);
