/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The state of a recorder, in one word that host threads and the reader share: each change is one
 * atomic step, and who waits for another phase sleeps on the word.
 *
 *     31           16 15    12 11      8 7        4 3       0
 *     ┌──────────────┬────────┬─────────┬──────────┬─────────┐
 *     │ nr in exec   │   0    │ flags   │ cause    │ phase   │
 *     └──────────────┴────────┴─────────┴──────────┴─────────┘
 *                                         of PAUSED
 *
 *     YARN_START=off without a socket ──> WAITING ── yarn_start ──> STARTING
 *
 *     fork's child ── inherit ──┐
 *     constructor ── start ─────┴──> DEFERRED <──> LEAVING (exec)
 *         │                             │ due        │
 *         │ each moment counts          v            v
 *         └───────────────────────> STARTING       ENDED
 *                                 │ │
 *                      FAILED <───┘ └──> RUNNING <──> PAUSED
 *                                           │            │
 *                                           v            v
 *                                         ENDED <────────┘
 *
 * Threads, signals: safe anywhere.
 */
#pragma once

#include <stdatomic.h>

#include "core/base/base.h"

enum yarn_phase {
    YARN_PHASE_DEFERRED,
    YARN_PHASE_LEAVING,
    YARN_PHASE_STARTING,
    YARN_PHASE_RUNNING,
    YARN_PHASE_PAUSED,
    YARN_PHASE_ENDED, /* from here on nothing is recorded */
    YARN_PHASE_FAILED,
    YARN_PHASE_WAITING, /* for a call of the program's; there is no reader */
};

enum yarn_state_flag {
    YARN_STATE_LEFT = 1 << 8,          /* a host thread has ended the reader, may start another */
    YARN_STATE_BEHIND_FILTER = 1 << 9, /* host threads make no call for us any more */
    YARN_STATE_POLLING = 1 << 10,      /* the reader sleeps in poll: only a signal wakes it */
    YARN_STATE_DROPS_BOUNDS = 1 << 11, /* the host dropped a capability from its bounding set */
};

struct yarn_state {
    _Atomic uint32_t word;
};

/* Of a value of the word. */
static inline enum yarn_phase yarn_phase_of(uint32_t word)
{
    return (enum yarn_phase)(word & 15);
}

static inline enum yarn_phase yarn_state_phase(const struct yarn_state *state)
{
    return yarn_phase_of(atomic_load(&state->word));
}

static inline bool yarn_state_is_recording(const struct yarn_state *state)
{
    return yarn_state_phase(state) < YARN_PHASE_ENDED;
}

/* enum yarn_dump_coverage_cause; only where it is PAUSED. */
static inline uint32_t yarn_state_cause(const struct yarn_state *state)
{
    return atomic_load(&state->word) >> 4 & 15;
}

static inline bool yarn_state_has(const struct yarn_state *state, enum yarn_state_flag flag)
{
    return atomic_load(&state->word) & flag;
}

static inline uint32_t yarn_state_nr_in_exec(const struct yarn_state *state)
{
    return atomic_load(&state->word) >> 16;
}

/* Returns whether it was set before. Wakes no waiter. */
bool yarn_state_set(struct yarn_state *state, enum yarn_state_flag flag, bool is_on);

/* Wakes waiters. The second changes only from the given phase: false where the phase was another.
 */
void yarn_state_become(struct yarn_state *state, enum yarn_phase phase, uint32_t cause);
bool yarn_state_move(struct yarn_state *state, enum yarn_phase from, enum yarn_phase to);

/* For another reader: keeps only LEFT. Wakes no waiter. */
void yarn_state_reset(struct yarn_state *state, enum yarn_phase phase);

/* 0 where the phase is `least` or a later one. Otherwise sleeps until the word changes, and has to
 * be read again, or the time is over (-ETIMEDOUT). */
int yarn_state_wait(struct yarn_state *state, enum yarn_phase least, uint64_t timeout_ns);

/* A thread begins an exec, or its exec failed: how many are still in one. Those that never
 * return are not counted; their failure has no effect then. */
void yarn_state_enter_exec(struct yarn_state *state);
uint32_t yarn_state_leave_exec(struct yarn_state *state);
void yarn_state_clear_execs(struct yarn_state *state);
