/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/timer_slot.h"

#include "core/base/pages.h"
#include "core/sys/clock.h"
#include "core/sys/futex.h"
#include "core/sys/signal.h"

enum { WORD = 8 };

int yarn_timer_slot_set_up(struct yarn_timer_slot *slot, pid_t tid,
                           const struct yarn_timer_terms *terms, size_t data_bytes)
{
    uint8_t *memory = yarn_pages_reserve(sizeof *slot->page + data_bytes);
    if (!memory)
        return -ENOMEM;
    slot->tid = tid;
    slot->timer = YARN_TIMER_NONE;
    slot->terms = terms;
    slot->page = (struct perf_event_mmap_page *)memory;
    slot->data = memory + sizeof *slot->page;
    slot->data_bytes = data_bytes;
    slot->nr_before = 0;
    slot->nr_unreported = 0;
    atomic_store(&slot->nr_lost, 0);
    atomic_store(&slot->state, 0);
    return 0;
}

void yarn_timer_slot_tear_down(struct yarn_timer_slot *slot)
{
    if (!slot->tid)
        return;
    if (slot->page)
        yarn_pages_release(slot->page, sizeof *slot->page + slot->data_bytes);
    slot->page = NULL;
    slot->data = NULL;
    slot->tid = 0;
    atomic_store(&slot->state, 0);
}

bool yarn_timer_slot_wait_for_writes(struct yarn_timer_slot *slot, uint64_t timeout_ns)
{
    uint64_t end_ns = yarn_clock_ns(YARN_TIME_MONOTONIC) + timeout_ns;
    for (;;) {
        uint32_t state = atomic_load(&slot->state);
        if (!(state & YARN_TIMER_SLOT_WRITING))
            return true;
        if (yarn_clock_ns(YARN_TIME_MONOTONIC) >= end_ns)
            return false;
        /* Nobody wakes it: a handler must not make more calls than it has to. */
        yarn_futex_wait(&slot->state, state, YARN_NS_PER_MS / 4);
    }
}

int yarn_timer_slot_set_timer(struct yarn_timer_slot *slot, const struct yarn_timer_rate *rate)
{
    int timer = YARN_TIMER_NONE;
    int err = yarn_timer_open(slot->tid, YARN_SIGNAL_TICK, slot, &timer);
    if (err)
        return err;
    slot->timer = timer;
    yarn_timer_slot_set(slot, YARN_TIMER_SLOT_TIMED);
    err = yarn_timer_set(timer, rate);
    if (err)
        yarn_timer_slot_cancel_timer(slot);
    return err;
}

void yarn_timer_slot_cancel_timer(struct yarn_timer_slot *slot)
{
    if (!yarn_timer_slot_has(slot, YARN_TIMER_SLOT_TIMED))
        return;
    yarn_timer_close(slot->timer);
    slot->timer = YARN_TIMER_NONE;
    yarn_timer_slot_reset(slot, YARN_TIMER_SLOT_TIMED);
}

/* ---- the writer ---- */

size_t yarn_timer_slot_available_bytes(const struct yarn_timer_slot *slot)
{
    /* Acquire: what the reader has read before it moved the tail may be written over now. */
    uint64_t tail = __atomic_load_n(&slot->page->data_tail, __ATOMIC_ACQUIRE);
    return slot->data_bytes - (size_t)(slot->page->data_head - tail);
}

bool yarn_timer_slot_reserve(struct yarn_timer_slot *slot, size_t bytes,
                             struct yarn_timer_room *ret_room)
{
    if (bytes > yarn_timer_slot_available_bytes(slot))
        return false;
    *ret_room = (struct yarn_timer_room){.slot = slot, .position = slot->page->data_head};
    return true;
}

void yarn_timer_room_put(struct yarn_timer_room *room, uint64_t word)
{
    /* Whole words never lie across the ring's end. */
    size_t left;
    *(uint64_t *)(void *)yarn_timer_room_place(room, &left) = word;
    room->position += WORD;
}

uint8_t *yarn_timer_room_place(const struct yarn_timer_room *room, size_t *ret_bytes)
{
    size_t at = (size_t)room->position & (room->slot->data_bytes - 1);
    *ret_bytes = room->slot->data_bytes - at;
    return room->slot->data + at;
}
