/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/timer_sample.h"

#include "core/base/pages.h"
#include "core/sys/clock.h"
#include "core/sys/context.h"
#include "core/sys/futex.h"
#include "core/sys/process.h"
#include "core/sys/target.h"

enum {
    WORD = 8,
    PAGE_BYTES = 4096,
    RECORD_MAX = UINT16_MAX & ~(WORD - 1),
    COMMON_BYTES = 7 * WORD,          /* header, id, ip, pid + tid, time, cpu, period */
    STACK_FRAME_WORDS = 3,            /* abi of the registers; size and valid size of the copy */
    LOST_BYTES = 3 * WORD + 4 * WORD, /* header, id, count; the trailer */
};

struct yarn_timer_slot yarn_timer_slots[YARN_TIMER_SLOTS_MAX];

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

/* Two numbers of 32 bits as they lie one after the other in memory. */
static uint64_t pair(uint32_t first, uint32_t second)
{
    uint64_t word;
    uint32_t both[2] = {first, second};
    memcpy(&word, both, sizeof word);
    return word;
}

static uint64_t header(uint32_t type, uint16_t misc, size_t size)
{
    uint64_t word;
    struct perf_event_header value = {.type = type, .misc = misc, .size = (uint16_t)size};
    memcpy(&word, &value, sizeof word);
    return word;
}

size_t yarn_timer_sample_fixed_bytes(const struct yarn_timer_terms *terms)
{
    size_t words = terms->registers_mask
                       ? STACK_FRAME_WORDS + (size_t)__builtin_popcountll(terms->registers_mask)
                       : 0;
    return COMMON_BYTES + words * WORD;
}

static void put_registers(struct yarn_timer_room *room, uint64_t mask, const void *context)
{
    yarn_timer_room_put(room, PERF_SAMPLE_REGS_ABI_64);
    for (unsigned number = 0; mask >> number; number++)
        if (mask >> number & 1)
            yarn_timer_room_put(room, yarn_context_register(context, number));
}

/* How much of the stack is worth a copy. */
static size_t stack_size(struct yarn_timer_terms *terms, uint64_t sp)
{
    uint64_t page_end = (sp | (PAGE_BYTES - 1)) + 1;
    uint64_t end = yarn_stack_bounds_find(terms->bounds, sp);
    if (!end) {
        atomic_fetch_add_explicit(&terms->nr_unbounded, 1, memory_order_relaxed);
        end = terms->can_copy ? page_end : sp;
    } else if (!terms->can_copy) {
        end = yarn_u64_min(end, page_end);
    }
    size_t most = RECORD_MAX - yarn_timer_sample_fixed_bytes(terms);
    size_t wanted = yarn_size_min(terms->stack_bytes, most);
    return (size_t)yarn_u64_min(wanted, end - sp) & ~(size_t)(WORD - 1);
}

static void put_words(struct yarn_timer_room *room, const volatile uint64_t *words, size_t bytes)
{
    for (size_t i = 0; i < bytes / WORD; i++)
        yarn_timer_room_put(room, words[i]);
}

/* The size in front is only known behind: what lies unmapped is found by the copy. */
static void put_stack(struct yarn_timer_room *room, const struct yarn_timer_terms *terms,
                      uint64_t sp, size_t bytes)
{
    struct yarn_timer_room size_word = *room;
    yarn_timer_room_put(room, 0);
    if (bytes && terms->can_copy) {
        size_t left;
        uint8_t *to = yarn_timer_room_place(room, &left);
        left = yarn_size_min(left, bytes);
        ssize_t got =
            yarn_target_copy_own(terms->pid, sp, to, left, room->slot->data, bytes - left);
        bytes = got > 0 ? (size_t)got & ~(size_t)(WORD - 1) : 0;
        room->position += bytes;
    } else {
        put_words(room, (const volatile uint64_t *)(uintptr_t)sp, bytes);
    }
    yarn_timer_room_put(&size_word, bytes);
    if (bytes)
        yarn_timer_room_put(room, bytes);
}

/* Of a record the words that stand first, of which one is its header, not known yet. */
static void put_sample(struct yarn_timer_room *room, const uint64_t *words, size_t stack_bytes,
                       const void *context)
{
    const struct yarn_timer_terms *terms = room->slot->terms;
    struct yarn_timer_room header_word = *room;
    put_words(room, words, COMMON_BYTES);
    if (terms->registers_mask) {
        put_registers(room, terms->registers_mask, context);
        put_stack(room, terms, yarn_context_sp(context), stack_bytes);
    }
    size_t size = (size_t)(room->position - header_word.position);
    yarn_timer_room_put(&header_word, header(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, size));
}

/* Periods that the signal stands for. */
static uint64_t passed(const siginfo_t *info)
{
    return 1 + (info->si_overrun > 0 ? (uint64_t)info->si_overrun : 0);
}

/* In periods. A long system call is charged to its caller. What else passes by many ticks has
 * blocked the signal (a handler of the host's that has just returned), and is in no sample. */
static uint64_t weight_of(const struct yarn_timer_slot *slot, struct yarn_timer_terms *terms,
                          const siginfo_t *info, const void *context)
{
    uint64_t weight = passed(info);
    if (!yarn_context_is_after_call(context) && weight > terms->periods_max) {
        atomic_fetch_add_explicit(&terms->nr_withheld, weight - terms->periods_max,
                                  memory_order_relaxed);
        weight = terms->periods_max;
    }
    return weight + slot->nr_before;
}

static void take_sample(struct yarn_timer_slot *slot, const siginfo_t *info, const void *context)
{
    struct yarn_timer_room room;
    /* Why the cast: all that a handler changes in the terms is counts. */
    struct yarn_timer_terms *terms = (struct yarn_timer_terms *)(uintptr_t)slot->terms;
    /* A signal that waited until it was let in says nothing of the place, nor its overrun of the
     * time. */
    if (yarn_context_is_after_unblocking(context)) {
        atomic_fetch_add_explicit(&terms->nr_let_in, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&terms->nr_withheld, passed(info), memory_order_relaxed);
        return;
    }
    size_t stack_bytes = terms->registers_mask ? stack_size(terms, yarn_context_sp(context)) : 0;
    size_t needed = LOST_BYTES + yarn_timer_sample_fixed_bytes(terms) + stack_bytes;
    if (!yarn_timer_slot_reserve(slot, needed, &room)) {
        slot->nr_unreported++;
        atomic_fetch_add_explicit(&slot->nr_lost, 1, memory_order_relaxed);
        return;
    }
    const uint64_t id = terms->id, thread = pair((uint32_t)terms->pid, (uint32_t)slot->tid);
    const uint64_t time_ns = yarn_clock_ns(YARN_TIME_MONOTONIC), cpu = pair(yarn_process_cpu(), 0);
    const uint64_t weight = terms->period_ns * weight_of(slot, terms, info, context);
    /* Samples lost for want of room are reported as soon as there is some, as the kernel does. */
    const uint64_t head = header(PERF_RECORD_LOST, 0, LOST_BYTES), ip = yarn_context_ip(context);
    const uint64_t lost[] = {head, id, slot->nr_unreported, thread, time_ns, cpu, id};
    const uint64_t sample[] = {0, id, ip, thread, time_ns, cpu, weight};
    put_words(&room, lost, slot->nr_unreported ? sizeof lost : 0);
    put_sample(&room, sample, stack_bytes, context);
    slot->nr_before = slot->nr_unreported = 0;
    yarn_timer_room_commit(&room);
}

static struct yarn_timer_slot *slot_of(const siginfo_t *info)
{
    uintptr_t at = (uintptr_t)info->si_value.sival_ptr - (uintptr_t)yarn_timer_slots;
    bool is_ours = info->si_code == SI_TIMER && at < sizeof yarn_timer_slots &&
                   at % sizeof *yarn_timer_slots == 0;
    return is_ours ? &yarn_timer_slots[at / sizeof *yarn_timer_slots] : NULL;
}

/* A timer that was set by the kernel's call is seen here first. The reader takes the timers away,
 * but the next signal might come before. */
static bool has_room_for_next(const siginfo_t *info, const void *context)
{
    static const struct yarn_timer_rate stopped = {.first_ns = 0};
    size_t bytes = yarn_context_alternate_bytes(context);
    bool is_small = (bytes && yarn_alternate_stack_note(bytes)) || yarn_alternate_stack_is_small();
    return !is_small || yarn_timer_set(info->si_timerid, &stopped);
}

void yarn_timer_sample_on_signal(int number, siginfo_t *info, void *context)
{
    struct yarn_timer_slot *slot = slot_of(info);
    (void)number;
    if (!slot) {
        yarn_signal_pass_on(info, context);
        return;
    }
    if (!yarn_timer_slot_has(slot, YARN_TIMER_SLOT_ON))
        return;
    yarn_timer_slot_set(slot, YARN_TIMER_SLOT_WRITING);
    atomic_fetch_add_explicit(&slot->nr_ticks, 1, memory_order_relaxed);
    if (has_room_for_next(info, context) && yarn_timer_slot_has(slot, YARN_TIMER_SLOT_ON))
        take_sample(slot, info, yarn_context_interrupted(context));
    _Atomic uint32_t *called = atomic_load(&slot->terms->called);
    if (called)
        yarn_futex_wake(called);
    yarn_timer_slot_reset(slot, YARN_TIMER_SLOT_WRITING);
}
