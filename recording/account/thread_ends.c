/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/account/thread_ends.h"

#include <stdatomic.h>

#include "core/base/base.h"

/* The thread and its time are one word, so that they are whole or not there: which thread of those
 * that share the slot, and its CPU time. Thread numbers end below 2^22 (PID_MAX_LIMIT), so which is
 * below 2^9. */
enum { SLOTS = YARN_THREAD_ENDS_MAX, CPU_BITS = 53 };

#define CPU_MAX ((UINT64_C(1) << CPU_BITS) - 1) /* 104 days */
#define WRITING UINT64_C(1)                     /* no thread's mark: being written */

struct note {
    _Atomic uint64_t who; /* 0: none */
    _Atomic uint64_t time_ns;
};

static struct note notes[SLOTS];
static YARN_IN_DATA _Atomic size_t nr_notes;
static YARN_IN_DATA _Atomic uint64_t nr_unnoted, unnoted_ns;

static uint64_t mark_of(uint32_t tid)
{
    return ((uint64_t)tid / SLOTS + 1) << CPU_BITS;
}

void yarn_thread_ends_note(const struct yarn_dump_thread_end *end)
{
    struct note *note = &notes[(size_t)end->tid % SLOTS];
    uint64_t none = 0;
    atomic_fetch_add_explicit(&nr_notes, 1, memory_order_relaxed);
    if (!atomic_compare_exchange_strong(&note->who, &none, WRITING)) {
        atomic_fetch_sub_explicit(&nr_notes, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&nr_unnoted, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&unnoted_ns, end->cpu_ns, memory_order_relaxed);
        return;
    }
    atomic_store_explicit(&note->time_ns, end->time_ns, memory_order_relaxed);
    atomic_store_explicit(&note->who, mark_of(end->tid) | yarn_u64_min(end->cpu_ns, CPU_MAX),
                          memory_order_release);
}

static struct yarn_dump_thread_end read_note(const struct note *note, uint64_t who)
{
    return (struct yarn_dump_thread_end){
        .tid = (uint32_t)(((who >> CPU_BITS) - 1) * SLOTS + (uint64_t)(note - notes)),
        .time_ns = atomic_load_explicit(&note->time_ns, memory_order_relaxed),
        .cpu_ns = who & CPU_MAX,
    };
}

bool yarn_thread_ends_take(pid_t tid, uint64_t until_ns, struct yarn_dump_thread_end *ret_end)
{
    struct note *note = &notes[(size_t)tid % SLOTS];
    uint64_t who = atomic_load_explicit(&note->who, memory_order_acquire);
    if ((who & ~CPU_MAX) != mark_of((uint32_t)tid))
        return false;
    if (atomic_load_explicit(&note->time_ns, memory_order_relaxed) > until_ns)
        return false;
    *ret_end = read_note(note, who);
    atomic_store_explicit(&note->who, 0, memory_order_release);
    atomic_fetch_sub_explicit(&nr_notes, 1, memory_order_relaxed);
    return true;
}

bool yarn_thread_ends_next(size_t *cursor, uint64_t until_ns, struct yarn_dump_thread_end *ret_end)
{
    if (!yarn_thread_ends_count())
        return false;
    while (*cursor < SLOTS) {
        const struct note *note = &notes[(*cursor)++];
        uint64_t who = atomic_load_explicit(&note->who, memory_order_acquire);
        bool is_whole = who > CPU_MAX;
        if (!is_whole || atomic_load_explicit(&note->time_ns, memory_order_relaxed) >= until_ns)
            continue;
        *ret_end = read_note(note, who);
        return true;
    }
    return false;
}

size_t yarn_thread_ends_count(void)
{
    return atomic_load_explicit(&nr_notes, memory_order_relaxed);
}

uint64_t yarn_thread_ends_take_unnoted(uint64_t *cpu_ns)
{
    *cpu_ns += atomic_exchange(&unnoted_ns, 0);
    return atomic_exchange(&nr_unnoted, 0);
}

void yarn_thread_ends_after_fork(void)
{
    uint64_t cpu_ns = 0;
    /* A write here makes a copy of the page. */
    if (atomic_load_explicit(&nr_unnoted, memory_order_relaxed))
        yarn_thread_ends_take_unnoted(&cpu_ns);
    if (!yarn_thread_ends_count())
        return;
    for (size_t i = 0; i < SLOTS; i++)
        if (atomic_load_explicit(&notes[i].who, memory_order_relaxed))
            atomic_store_explicit(&notes[i].who, 0, memory_order_relaxed);
    atomic_store(&nr_notes, 0);
}
