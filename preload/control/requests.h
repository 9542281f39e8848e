/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Requests of host threads to the reader, as bits of one word, and the rounds in which it handles
 * them. A requester holds no lock: a thread that never continues (cancelled, ended, left by a jump
 * out of a signal handler) blocks nobody, and a handler never waits for the thread that it
 * interrupts. Does not know what the bits mean.
 *
 * Threads: any puts, the reader takes. Signals: safe.
 */
#pragma once

#include <stdatomic.h>

#include "core/base/base.h"

struct yarn_requests {
    _Atomic uint32_t wanted; /* bits; a futex, woken when one is set */
    _Atomic uint32_t begun;  /* number of rounds */
    _Atomic uint32_t done;   /* number of rounds that have ended; a futex, woken at each */
};

/* The request that one thread waits for. */
struct yarn_request {
    uint32_t bits;
    uint32_t begun_before;
};

/* Replaces the pending requests `instead` by the new ones. Does not wake the reader: where system
 * calls are forbidden, it polls. */
struct yarn_request yarn_requests_put(struct yarn_requests *requests, uint32_t bits,
                                      uint32_t instead);

/* It was done, or replaced by another request. */
bool yarn_requests_has_done(struct yarn_requests *requests, const struct yarn_request *request);

/* Takes all pending requests and begins a round; 0: there are none, and no round has begun. */
uint32_t yarn_requests_take(struct yarn_requests *requests);
void yarn_requests_finish(struct yarn_requests *requests);

/* In a child after fork. */
void yarn_requests_after_fork(struct yarn_requests *requests);
