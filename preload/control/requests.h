/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What host threads want of the reader, as bits of one word, and the rounds in which it does that.
 * Nothing is held by who asks: a thread that never comes back (cancelled, ended, jumped away out of
 * a signal handler) keeps nobody waiting, nor does a handler find something taken by the thread
 * that it interrupts. Does not know what the bits mean.
 *
 * Threads: any puts, the reader takes. Signals: safe.
 */
#pragma once

#include <stdatomic.h>

#include "core/base/base.h"

struct yarn_requests {
    _Atomic uint32_t wanted; /* bits; woken when one is put */
    _Atomic uint32_t begun;  /* how many rounds */
    _Atomic uint32_t done;   /* of them, how many have ended; woken at each */
};

/* What one thread waits for. */
struct yarn_request {
    uint32_t bits;
    uint32_t begun_before;
};

/* Takes `instead`, which the new ones are to replace, out of what is wanted. Wakes nobody: where
 * system calls are forbidden, the reader looks by itself. */
struct yarn_request yarn_requests_put(struct yarn_requests *requests, uint32_t bits,
                                      uint32_t instead);

/* It was done, or others have been wanted instead. */
bool yarn_requests_has_done(struct yarn_requests *requests, const struct yarn_request *request);

/* Everything that is wanted, which is to be done; 0: nothing, and no round has begun. */
uint32_t yarn_requests_take(struct yarn_requests *requests);
void yarn_requests_finish(struct yarn_requests *requests);

/* In a child after fork. */
void yarn_requests_forget(struct yarn_requests *requests);
