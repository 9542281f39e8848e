/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * pthread_create: the new thread takes a value of a key, whose destructor the C library calls when
 * the thread ends by whatever way, and jumps to the host's function, so that no frame of
 * ours is on its stack. Threads of raw clone and of the C library itself do not pass here.
 */
#include "preload/interpose_threads.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "core/sys/clock.h"
#include "core/sys/process.h"
#include "core/sys/timer.h"
#include "preload/exported.h"
#include "preload/lifecycle.h"
#include "preload/originals.h"
#include "preload/thread_ends.h"

typedef void *(*start_fn)(void *argument);
typedef int (*create_fn)(pthread_t *thread, const pthread_attr_t *attributes, start_fn start,
                         void *argument);

enum {
    WORD_BITS = 64,
    WORDS = 32, /* this many words' bits of threads may be made and not have begun */
};

struct start {
    start_fn run;
    void *argument;
};

static struct start starts[WORDS * WORD_BITS];
static _Atomic uint64_t taken[WORDS];
static pthread_key_t key;
static bool has_key;
static const char alive, ending; /* the key's values */

/* NULL where all are taken. */
static struct start *take_start(void)
{
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

/* The destructor. Why the second time: what other keys' destructors use is the thread's, too. */
static void note_end(void *value)
{
    struct yarn_thread_end end;
    if (value == &alive) {
        pthread_setspecific(key, &ending);
        return;
    }
    if (!yarn_lifecycle_may_call())
        return;
    end.tid = yarn_process_tid();
    end.time_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    if (!yarn_timer_own_cpu_ns(&end.cpu_ns))
        yarn_thread_ends_note(&end);
}

static void *begin_thread(void *argument)
{
    struct start *given = argument;
    struct start start = *given;
    give_back(given);
    pthread_setspecific(key, &alive); /* no room for it: the end is not noted */
    return start.run(start.argument);
}

YARN_EXPORTED int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, start_fn run,
                                 void *argument)
{
    create_fn next;
    if (!yarn_original_find(YARN_ORIGINAL_pthread_create, &next, sizeof next))
        return ENOSYS;
    struct start *start = has_key && yarn_lifecycle_may_call() ? take_start() : NULL;
    if (!start)
        return next(thread, attributes, run, argument);
    *start = (struct start){run, argument};
    int err = next(thread, attributes, begin_thread, start);
    if (err)
        give_back(start);
    return err;
}

void yarn_interpose_threads_begin(void)
{
    has_key = !pthread_key_create(&key, note_end);
    if (has_key)
        pthread_setspecific(key, &alive); /* the first thread may leave by pthread_exit */
}
