/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A sample of the timer sampler, taken by a signal handler on the sampled thread and written into
 * that thread's slot as the kernel would have written it: everything behind the ring is the same.
 *
 * The handler needs less than a page of stack beside the kernel's signal frame, calls nothing of
 * the C library, leaves errno alone (raw calls have none), touches no thread-local storage and
 * takes no lock. The stack is copied by a system call that ends where nothing is mapped instead of
 * faulting; without that call it goes to the end of the page that holds the stack pointer.
 *
 * Knows the layout of records; does not know when timers fire or which threads there are.
 */
#pragma once

#include <linux/perf_event.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "core/session/mappings.h"
#include "core/sys/signal.h"
#include "core/sys/timer.h"

/* One thread's place in the timer sampler: its timer, and a buffer that looks like a perf ring. The
 * writer is the thread's own signal handler, which cannot nest; the reader drains, and may take the
 * buffer away only in three phases, so that none is freed under a writer:
 *
 * 1. ON is reset: a handler that comes from now on returns at once;
 *   2. cancel_timer: none comes any more but for a signal already pending (before Linux 6.13),
 * which the handler, never uninstalled, ignores;
 *   3. wait until WRITING is reset: none is inside.
 *
 * One word of three bits carries this. A writer reads ON, sets WRITING, reads again, and resets
 * WRITING in any case. A slot belongs to one thread until that thread
 * is gone, or a late handler of the one could reset the bit of the other.
 *
 * Knows bytes and bits; does not know samples (timer_sample) or which threads there are
 * (timer_threads). */

enum yarn_timer_slot_bit {
    YARN_TIMER_SLOT_ON = 1,      /* the handler writes; the reader's */
    YARN_TIMER_SLOT_WRITING = 2, /* it is inside; the writer's */
    YARN_TIMER_SLOT_TIMED = 4,   /* there is a timer; the reader's */
};

struct yarn_timer_terms;

struct yarn_timer_slot {
    _Atomic uint32_t state; /* enum yarn_timer_slot_bit */
    pid_t tid;              /* 0: free */
    int timer;
    const struct yarn_timer_terms *terms; /* borrowed; how to sample */
    struct perf_event_mmap_page *page;    /* owned: head and tail; the data follows */
    uint8_t *data;
    size_t data_bytes;         /* a power of two */
    uint64_t nr_before;        /* periods that had passed unseen; the writer's once enabled */
    uint64_t nr_unreported;    /* the writer's: lost since it last wrote so into the ring */
    _Atomic uint64_t nr_lost;  /* of all */
    _Atomic uint32_t nr_ticks; /* signals that came, sampled or not */
};

/* For a free slot, or one of a thread that is gone. Writes are off. */
YARN_MUST_CHECK int yarn_timer_slot_set_up(struct yarn_timer_slot *slot, pid_t tid,
                                           const struct yarn_timer_terms *terms, size_t data_bytes);

/* Frees the buffer and the slot; after the three phases. Idempotent. */
void yarn_timer_slot_tear_down(struct yarn_timer_slot *slot);

static inline void yarn_timer_slot_set(struct yarn_timer_slot *slot, enum yarn_timer_slot_bit bit)
{
    atomic_fetch_or(&slot->state, bit);
}
static inline void yarn_timer_slot_reset(struct yarn_timer_slot *slot, enum yarn_timer_slot_bit bit)
{
    atomic_fetch_and(&slot->state, ~(uint32_t)bit);
}
static inline bool yarn_timer_slot_has(const struct yarn_timer_slot *slot,
                                       enum yarn_timer_slot_bit bit)
{
    return atomic_load(&slot->state) & bit;
}

/* False where the time was over and a write is still pending: its thread is stopped. */
YARN_MUST_CHECK bool yarn_timer_slot_wait_for_writes(struct yarn_timer_slot *slot,
                                                     uint64_t timeout_ns);

YARN_MUST_CHECK int yarn_timer_slot_set_timer(struct yarn_timer_slot *slot,
                                              const struct yarn_timer_rate *rate);
void yarn_timer_slot_cancel_timer(struct yarn_timer_slot *slot);

/* ---- the writer's: a record is reserved, put word by word, committed ---- */

struct yarn_timer_room {
    struct yarn_timer_slot *slot;
    uint64_t position; /* of the next word */
};

size_t yarn_timer_slot_available_bytes(const struct yarn_timer_slot *slot);

/* False where so many bytes are not free. */
bool yarn_timer_slot_reserve(struct yarn_timer_slot *slot, size_t bytes,
                             struct yarn_timer_room *ret_room);

void yarn_timer_room_put(struct yarn_timer_room *room, uint64_t word);

/* The memory of the next word, and how much there is before the buffer's end: the rest of a record
 * lies at its begin. */
uint8_t *yarn_timer_room_place(const struct yarn_timer_room *room, size_t *ret_bytes);

/* Everything before the room's position is readable from now on. */
static inline void yarn_timer_room_commit(const struct yarn_timer_room *room)
{
    __atomic_store_n(&room->slot->page->data_head, room->position, __ATOMIC_RELEASE);
}

/* The same for all slots of a process. Immutable while writes are enabled, but for the counts. */
struct yarn_timer_terms {
    pid_t pid;
    uint64_t id;             /* of the event, in its records */
    uint64_t period_ns;      /* of the timer; a sample weighs as many as have passed */
    uint64_t periods_max;    /* that pass between two ticks outside of system calls */
    uint64_t registers_mask; /* 0: neither registers nor stack */
    size_t stack_bytes;      /* of copy at most; a multiple of 8 */
    bool can_copy;           /* by yarn_target_copy_own */
    const struct yarn_stack_bounds *bounds;
    _Atomic(_Atomic uint32_t *) called; /* woken at each tick: the reader sleeps on it; NULL */
    _Atomic uint32_t nr_unbounded;      /* stack pointers of which the bounds knew nothing */
    _Atomic uint32_t nr_let_in;         /* ticks that had waited while the thread blocked them */
    _Atomic uint64_t nr_withheld;       /* periods for which such ticks stood */
};

/* The slots, which are never freed: a signal on its way may name one at any time. */
enum { YARN_TIMER_SLOTS_MAX = 1024 };
extern struct yarn_timer_slot yarn_timer_slots[YARN_TIMER_SLOTS_MAX];

/* The handler. Its signal's value is the slot; a signal that says anything else is not ours, and
 * has the effect that it would have had without us. */
void yarn_timer_sample_on_signal(int number, siginfo_t *info, void *context);

/* Bytes of a record without its stack copy. */
size_t yarn_timer_sample_fixed_bytes(const struct yarn_timer_terms *terms);
