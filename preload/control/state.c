/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/control/state.h"

#include "core/sys/futex.h"

#define LOW UINT32_C(0xff) /* phase and cause */
#define EXEC_ONE (UINT32_C(1) << 16)
#define EXEC_MOST (UINT32_C(0xffff) << 16)

/* Keeps the bits of `kept`, puts `bits` beside them; the word before. */
static uint32_t replace(struct yarn_state *state, uint32_t kept, uint32_t bits)
{
    uint32_t before = atomic_load(&state->word);
    while (!atomic_compare_exchange_weak(&state->word, &before, (before & kept) | bits))
        ;
    return before;
}

bool yarn_state_set(struct yarn_state *state, enum yarn_state_flag flag, bool is_on)
{
    uint32_t before = atomic_load(&state->word);
    if ((before & flag) !=
        (is_on ? (uint32_t)flag : 0)) /* seldom: it is looked at far more often than changed */
        before = replace(state, ~(uint32_t)flag, is_on ? (uint32_t)flag : 0);
    return before & flag;
}

void yarn_state_become(struct yarn_state *state, enum yarn_phase phase, uint32_t cause)
{
    replace(state, ~LOW, cause << 4 | phase);
    yarn_futex_wake(&state->word);
}

bool yarn_state_move(struct yarn_state *state, enum yarn_phase from, enum yarn_phase to)
{
    uint32_t before = atomic_load(&state->word);
    do
        if (yarn_phase_of(before) != from)
            return false;
    while (!atomic_compare_exchange_weak(&state->word, &before, (before & ~LOW) | to));
    yarn_futex_wake(&state->word);
    return true;
}

void yarn_state_reset(struct yarn_state *state, enum yarn_phase phase)
{
    replace(state, YARN_STATE_LEFT, phase);
}

int yarn_state_wait(struct yarn_state *state, enum yarn_phase least, uint64_t timeout_ns)
{
    uint32_t word = atomic_load(&state->word);
    if (yarn_phase_of(word) >= least)
        return 0;
    int err = yarn_futex_wait(&state->word, word, timeout_ns);
    return err ? err : -EAGAIN;
}

void yarn_state_enter_exec(struct yarn_state *state)
{
    uint32_t before = atomic_load(&state->word);
    while (before < EXEC_MOST &&
           !atomic_compare_exchange_weak(&state->word, &before, before + EXEC_ONE))
        ;
}

uint32_t yarn_state_leave_exec(struct yarn_state *state)
{
    uint32_t before = atomic_load(&state->word);
    while (before >= EXEC_ONE &&
           !atomic_compare_exchange_weak(&state->word, &before, before - EXEC_ONE))
        ;
    return before >= EXEC_ONE ? (before >> 16) - 1 : 0;
}

void yarn_state_clear_execs(struct yarn_state *state)
{
    replace(state, ~EXEC_MOST, 0);
}
