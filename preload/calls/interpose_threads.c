/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * pthread_create, thrd_create: the new thread takes a value of a key, whose destructor the C
 * library calls when the thread ends by whatever way, and jumps to the host's function, so that no
 * frame of ours is on its stack. Threads of raw clone and of the C library itself do not pass here.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <threads.h>

#include "core/base/base.h"
#include "core/sys/clock.h"
#include "core/sys/process.h"
#include "core/sys/timer.h"
#include "preload/calls/interpose.h"
#include "preload/control/lifecycle.h"
#include "recording/account/thread_ends.h"

/* In glibc before 2.34 they are in libpthread, which not every host has. */
#pragma weak pthread_key_create
#pragma weak pthread_setspecific

typedef void *(*start_fn)(void *argument);

enum {
    WORD_BITS = 64,
    WORDS = 32, /* this many words' bits of threads may be made and not have begun */
    ROUNDS = PTHREAD_DESTRUCTOR_ITERATIONS,
    KEYS_OF_EACH_THREAD = 32, /* glibc allocates the places of values of further keys */
};

struct start {
    start_fn run;
    void *argument;
};

static struct start starts[WORDS * WORD_BITS];
static _Atomic uint64_t taken[WORDS];
static YARN_IN_DATA pthread_key_t key;
static YARN_IN_DATA bool has_key;
static const char rounds[ROUNDS]; /* the key's value points to one: how often it was destroyed */

/* NULL where all are taken, or the thread's end will not be noted. */
static struct start *take_start(void)
{
    if (!has_key || !yarn_lifecycle_notes_threads())
        return NULL;
    for (size_t i = 0; i < WORDS; i++) {
        uint64_t bits = atomic_load_explicit(&taken[i], memory_order_relaxed);
        while (~bits) {
            unsigned bit = (unsigned)__builtin_ctzll(~bits);
            if (atomic_compare_exchange_weak(&taken[i], &bits, bits | UINT64_C(1) << bit))
                return &starts[i * WORD_BITS + bit];
        }
    }
    return NULL;
}

static void give_back(const struct start *start)
{
    size_t at = (size_t)(start - starts);
    atomic_fetch_and(&taken[at / WORD_BITS], ~(UINT64_C(1) << at % WORD_BITS));
}

/* The destructor. Why only the last time that the C library calls it for a thread: what other keys'
 * destructors use is the thread's, too, and they may give values to their keys again. */
static void note_end(void *value)
{
    struct yarn_dump_thread_end end;
    const char *round = value;
    if (round != &rounds[ROUNDS - 1]) {
        pthread_setspecific(key, round + 1);
        return;
    }
    if (!yarn_lifecycle_notes_threads())
        return;
    end.tid = (uint32_t)yarn_process_tid();
    end.time_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    if (yarn_timer_own_cpu_ns(&end.cpu_ns))
        return;
    if (!end.cpu_ns) /* is unknown; a virtual core that was away all the while counted none */
        end.cpu_ns = 1;
    yarn_thread_ends_note(&end);
}

static void *begin_thread(void *argument)
{
    struct start start = *(const struct start *)argument;
    give_back(argument);
    pthread_setspecific(key, rounds);
    return start.run(start.argument);
}

YARN_EXPORTED int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, start_fn run,
                                 void *argument)
{
    __typeof__(&pthread_create) next = YARN_ORIGINAL(pthread_create);
    if (!next)
        return ENOSYS;
    yarn_lifecycle_expect_thread();
    struct start *start = take_start();
    if (start)
        *start = (struct start){.run = run, .argument = argument};
    int err = next(thread, attributes, start ? begin_thread : run, start ? start : argument);
    if (err && start)
        give_back(start);
    yarn_lifecycle_note_thread();
    return err;
}

/* The C library takes the integer that such a thread returns from where others return an address.
 */
YARN_EXPORTED int thrd_create(thrd_t *thread, thrd_start_t run, void *argument)
{
    start_fn like_others;
    memcpy(&like_others, &run, sizeof run);
    int err = pthread_create(thread, NULL, like_others, argument);
    return !err ? thrd_success : err == ENOMEM ? thrd_nomem : thrd_error;
}

void yarn_interpose_threads_begin(void)
{
    if (!pthread_key_create || !pthread_setspecific)
        return;
    has_key = !pthread_key_create(&key, note_end) && key < KEYS_OF_EACH_THREAD;
    if (has_key)
        pthread_setspecific(key, rounds); /* the first thread may leave by pthread_exit */
}
