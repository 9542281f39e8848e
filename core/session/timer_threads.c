/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/timer_threads.h"

#include "core/session/thread_scan.h"
#include "core/sys/clock.h"
#include "core/sys/process.h"

enum {
    SCAN_COST_SHARE = 100, /* scanning costs at most this part of the time */
    BLOCKED_SCANS = 8,     /* so often, and it is no accident */
};

#define NAME_PAUSE_MIN_NS (20 * YARN_NS_PER_MS)
#define NAME_PAUSE_MAX_NS (2 * YARN_NS_PER_SECOND)
#define WAIT_NS YARN_NS_PER_SECOND
/* CPU time in which several ticks should have come. */
#define NO_TICK_NS (16 * YARN_NS_PER_MS)

/* CPU time that a thread may use between the reading of its clock and the setting of its timer. */
#define MARGIN_NS (YARN_NS_PER_MS / 10)

/* A slot that was left over: by a closed session whose thread was stopped, or (all of them) by the
 * parent, in a forked child that has neither its threads nor its memory. */
static void free_left_over(void)
{
    for (size_t i = 0; i < YARN_TIMER_SLOTS_MAX; i++) {
        struct yarn_timer_slot *slot = &yarn_timer_slots[i];
        if (slot->tid && yarn_process_thread_is_dead(slot->tid)) {
            slot->tid = 0;
            atomic_store(&slot->state, 0);
        }
    }
}

int yarn_timer_threads_open(struct yarn_timer_threads *threads, struct yarn_arena *arena)
{
    threads->own_tid = yarn_process_tid();
    threads->of_slot = YARN_ARENA_NEW(arena, struct yarn_timer_thread, YARN_TIMER_SLOTS_MAX);
    threads->tids = YARN_ARENA_NEW(arena, pid_t, YARN_TIMER_THREADS_AT_ONCE);
    threads->sources = YARN_ARENA_NEW(arena, struct yarn_merge_source, YARN_TIMER_SLOTS_MAX);
    if (!threads->of_slot || !threads->tids || !threads->sources)
        return -ENOMEM;
    free_left_over();
    return yarn_table_open(&threads->slot_of, 2 * YARN_TIMER_SLOTS_MAX, 4 * YARN_TIMER_SLOTS_MAX);
}

/* False for a free slot and for one that is left over. */
static bool is_held(const struct yarn_timer_threads *threads, size_t number)
{
    return threads->of_slot[number].ring.page != NULL;
}

/* ---- what the kernel would report ---- */

/* Why again and again: threads name themselves some time after their start. */
static void report_name(const struct yarn_timer_threads *threads, struct yarn_timer_thread *thread,
                        pid_t tid, const struct yarn_record_listener *listener)
{
    uint64_t now_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    char name[YARN_TIMER_NAME_BYTES];
    if (now_ns < thread->next_name_ns)
        return;
    thread->name_pause_ns =
        yarn_u64_min(yarn_u64_max(2 * thread->name_pause_ns, NAME_PAUSE_MIN_NS), NAME_PAUSE_MAX_NS);
    thread->next_name_ns = now_ns + thread->name_pause_ns;
    yarn_process_thread_name(tid, name, sizeof name);
    if (!name[0] || !strcmp(name, thread->name))
        return;
    memcpy(thread->name, name, sizeof name);
    yarn_thread_report(YARN_RECORD_COMM, threads->terms->pid, tid, name, listener);
}

/* ---- scanning ---- */

static uint32_t free_slot(void)
{
    for (uint32_t i = 0; i < YARN_TIMER_SLOTS_MAX; i++)
        if (!yarn_timer_slots[i].tid)
            return i;
    return YARN_TABLE_NONE;
}

/* Its slot, made where there is none; a negative errno. */
static int find_slot(struct yarn_timer_threads *threads, pid_t tid, uint32_t *ret_number)
{
    *ret_number = yarn_table_find(&threads->slot_of, (uint64_t)tid);
    if (*ret_number != YARN_TABLE_NONE)
        return 0;
    uint32_t number = *ret_number = free_slot();
    if (number == YARN_TABLE_NONE)
        return -ENOSPC;
    struct yarn_timer_slot *slot = &yarn_timer_slots[number];
    int err = yarn_timer_slot_set_up(slot, tid, threads->terms, threads->data_bytes);
    if (err)
        return err;
    threads->of_slot[number] = (struct yarn_timer_thread){
        .ring = yarn_ring_of(slot->page, slot->data, slot->data_bytes),
    };
    threads->nr_slots = yarn_size_max(threads->nr_slots, number + 1);
    err = yarn_table_put(&threads->slot_of, (uint64_t)tid, number);
    if (err) {
        threads->of_slot[number].ring = YARN_RING_CLOSED;
        yarn_timer_slot_tear_down(slot);
    }
    return err;
}

/* A thread that blocks our signal would keep it pending until the host waits for any signal at all,
 * and takes it. Only the kernel's own call can block it, which the C library makes for moments. */
static bool blocks(pid_t tid)
{
    uint64_t blocked = yarn_process_blocked_signals(tid);
    return blocked >> (YARN_SIGNAL_TICK - 1) & 1;
}

/* The thread works and gets no tick: it blocks the signal, or is in a long system call. */
static bool is_deaf(const struct yarn_timer_slot *slot, struct yarn_timer_thread *thread)
{
    uint64_t used_ns;
    uint32_t ticks = atomic_load(&slot->nr_ticks);
    if (yarn_timer_thread_cpu_ns(slot->tid, &used_ns))
        return false;
    if (ticks != thread->ticks_seen || !thread->ticked_ns) {
        thread->ticks_seen = ticks;
        thread->ticked_ns = used_ns;
    }
    return used_ns - thread->ticked_ns > NO_TICK_NS && blocks(slot->tid);
}

static void give_up_timer(struct yarn_timer_slot *slot)
{
    yarn_timer_slot_reset(slot, YARN_TIMER_SLOT_ON);
    yarn_timer_slot_cancel_timer(slot);
}

/* A thread's timer never fires at once: the thread may wait in a call that the signal would
 * interrupt; the periods that it has behind it go to its first sample. */
static int start(const struct yarn_timer_threads *threads, struct yarn_timer_slot *slot,
                 bool is_old)
{
    uint64_t period_ns = threads->terms->period_ns, used_ns = 0;
    int err = is_old ? 0 : yarn_timer_thread_cpu_ns(slot->tid, &used_ns);
    if (err)
        return err;
    slot->nr_before = (used_ns + MARGIN_NS) / period_ns;
    const struct yarn_timer_rate rate = {
        .first_ns = (slot->nr_before + 1) * period_ns,
        .interval_ns = period_ns,
        .is_from_birth = !is_old,
    };
    yarn_timer_slot_set(slot, YARN_TIMER_SLOT_ON);
    err = yarn_timer_slot_set_timer(slot, &rate);
    if (err)
        yarn_timer_slot_reset(slot, YARN_TIMER_SLOT_ON);
    return err;
}

/* Since the thread had used so much. */
static void begin_block(struct yarn_timer_thread *thread, uint64_t since_ns)
{
    thread->is_blocked = true;
    thread->unblocked_ns = since_ns;
    thread->blocked_ns = 0;
}

static uint64_t blocked_ns(const struct yarn_timer_slot *slot,
                           const struct yarn_timer_thread *thread)
{
    uint64_t used_ns;
    if (!thread->is_blocked || yarn_timer_thread_cpu_ns(slot->tid, &used_ns))
        return thread->blocked_ns;
    return used_ns - yarn_u64_min(used_ns, thread->unblocked_ns);
}

static void end_block(struct yarn_timer_threads *threads, struct yarn_timer_thread *thread)
{
    threads->before.blocked_ns += thread->blocked_ns;
    thread->is_blocked = false;
    thread->blocked_ns = 0;
}

/* How often it was found to block the signal, this time included; 0: it does not. */
static uint32_t count_blocked(struct yarn_timer_slot *slot, struct yarn_timer_thread *thread)
{
    uint64_t used_ns = 0;
    if (yarn_timer_slot_has(slot, YARN_TIMER_SLOT_TIMED)) {
        if (!is_deaf(slot, thread))
            return 0;
        give_up_timer(slot);
        begin_block(thread, thread->ticked_ns);
        thread->nr_blocked = BLOCKED_SCANS; /* it took so long that it is no accident */
        thread->is_old = true;
    } else if (blocks(slot->tid)) {
        /* It has no timer: what is from its start on, or from now. */
        if (!thread->is_blocked &&
            !(thread->is_old && yarn_timer_thread_cpu_ns(slot->tid, &used_ns)))
            begin_block(thread, used_ns);
        thread->nr_blocked++;
        thread->is_old = true;
    } else {
        thread->nr_blocked = 0;
    }
    return thread->nr_blocked;
}

/* 0 where it has a timer now, or may get one at a later scan. */
static int update_thread(struct yarn_timer_threads *threads, pid_t tid, bool is_first,
                         const struct yarn_record_listener *listener)
{
    uint32_t number;
    int err = find_slot(threads, tid, &number);
    if (err)
        return err;
    struct yarn_timer_slot *slot = &yarn_timer_slots[number];
    struct yarn_timer_thread *thread = &threads->of_slot[number];
    thread->seen = threads->nr_scans;
    thread->is_old |= is_first;

    uint32_t nr_blocked = count_blocked(slot, thread);
    thread->blocked_ns = blocked_ns(slot, thread);
    if (nr_blocked)
        return nr_blocked < BLOCKED_SCANS ? 0 : -EBUSY;
    /* Or: stopped in its handler since before the last disable: what is the writer's is still its.
     */
    if (yarn_timer_slot_has(slot, YARN_TIMER_SLOT_TIMED) ||
        yarn_timer_slot_has(slot, YARN_TIMER_SLOT_WRITING))
        return 0;
    err = start(threads, slot, thread->is_old);
    if (err)
        return err;
    end_block(threads, thread);
    thread->ticked_ns = 0;
    threads->nr_found++;
    yarn_thread_report(YARN_RECORD_FORK, threads->terms->pid, tid, NULL, listener);
    return 0;
}

static void part_from_gone(struct yarn_timer_threads *threads)
{
    for (uint32_t i = 0; i < threads->nr_slots; i++) {
        struct yarn_timer_slot *slot = &yarn_timer_slots[i];
        struct yarn_timer_thread *thread = &threads->of_slot[i];
        if (!is_held(threads, i) || thread->is_gone || thread->seen == threads->nr_scans)
            continue;
        give_up_timer(slot);
        end_block(threads, thread);
        yarn_table_remove(&threads->slot_of, (uint64_t)slot->tid);
        thread->is_gone = true;
    }
}

int yarn_timer_threads_scan(struct yarn_timer_threads *threads, bool is_first,
                            const struct yarn_record_listener *listener)
{
    if (!is_first && yarn_clock_ns(YARN_TIME_MONOTONIC) < threads->next_scan_ns)
        return 0;
    /* CPU time: the host may keep the reader waiting (mlockall, a busy machine). */
    uint64_t begin_ns = yarn_clock_ns(YARN_TIME_THREAD_CPU);
    int count = yarn_process_own_threads_again(threads->terms->pid, threads->tids,
                                               YARN_TIMER_THREADS_AT_ONCE, &threads->nr_listed);
    if (count < 0)
        return count;
    size_t nr_listed = yarn_size_min((size_t)count, YARN_TIMER_THREADS_AT_ONCE);
    size_t nr_refused = (size_t)count - nr_listed;
    threads->nr_scans++;
    for (size_t i = 0; i < nr_listed; i++) {
        if (threads->tids[i] == threads->own_tid)
            continue;
        int err = update_thread(threads, threads->tids[i], is_first, listener);
        /* EINVAL, ESRCH: it has gone meanwhile. */
        if (err && err != -EINVAL && err != -ESRCH) {
            threads->refusal = err;
            nr_refused++;
        }
    }
    threads->nr_refused = yarn_size_max(threads->nr_refused, nr_refused);
    part_from_gone(threads);
    uint64_t cost_ns = yarn_clock_ns(YARN_TIME_THREAD_CPU) - begin_ns;
    threads->next_scan_ns = yarn_clock_ns(YARN_TIME_MONOTONIC) + cost_ns * SCAN_COST_SHARE;
    return 0;
}

bool yarn_timer_threads_have_timers(const struct yarn_timer_threads *threads)
{
    for (uint32_t i = 0; i < threads->nr_slots; i++)
        if (is_held(threads, i) && !threads->of_slot[i].is_gone &&
            !yarn_timer_slot_has(&yarn_timer_slots[i], YARN_TIMER_SLOT_TIMED))
            return false;
    return !threads->nr_refused;
}

pid_t yarn_timer_threads_other(const struct yarn_timer_threads *threads, pid_t tid)
{
    for (uint32_t i = 0; i < threads->nr_slots; i++) {
        pid_t other = yarn_timer_slots[i].tid;
        if (is_held(threads, i) && other != tid &&
            yarn_process_has_thread(threads->terms->pid, other))
            return other;
    }
    return 0;
}

/* ---- draining ---- */

static void give_back(struct yarn_timer_threads *threads, uint32_t number,
                      const struct yarn_record_listener *listener)
{
    struct yarn_timer_slot *slot = &yarn_timer_slots[number];
    threads->before.nr_lost += atomic_load(&slot->nr_lost);
    yarn_thread_report(YARN_RECORD_EXIT, threads->terms->pid, slot->tid, NULL, listener);
    yarn_timer_slot_tear_down(slot);
    threads->of_slot[number].ring = YARN_RING_CLOSED;
}

void yarn_timer_threads_gather(struct yarn_timer_threads *threads, struct yarn_merge *merge,
                               const struct yarn_record_listener *listener)
{
    merge->sources = threads->sources;
    merge->count = 0;
    for (uint32_t i = 0; i < threads->nr_slots; i++) {
        struct yarn_timer_thread *thread = &threads->of_slot[i];
        if (!is_held(threads, i))
            continue;
        if (!yarn_ring_is_empty(&thread->ring)) {
            report_name(threads, thread, yarn_timer_slots[i].tid, listener);
            merge->sources[merge->count++] = (struct yarn_merge_source){.ring = &thread->ring};
        } else if (thread->is_gone) {
            give_back(threads, i, listener);
        }
    }
}

/* ---- the end ---- */

void yarn_timer_threads_quiet(struct yarn_timer_threads *threads)
{
    for (size_t i = 0; i < threads->nr_slots; i++)
        if (is_held(threads, i))
            yarn_timer_slot_reset(&yarn_timer_slots[i], YARN_TIMER_SLOT_ON);
    for (size_t i = 0; i < threads->nr_slots; i++)
        if (is_held(threads, i))
            yarn_timer_slot_cancel_timer(&yarn_timer_slots[i]);
}

bool yarn_timer_threads_wait(struct yarn_timer_threads *threads)
{
    bool is_quiet = true;
    for (size_t i = 0; i < threads->nr_slots; i++)
        if (is_held(threads, i))
            is_quiet &=
                yarn_timer_slot_wait_for_writes(&yarn_timer_slots[i], is_quiet ? WAIT_NS : 0);
    return is_quiet;
}

struct yarn_timer_sums yarn_timer_threads_sums(const struct yarn_timer_threads *threads)
{
    struct yarn_timer_sums sums = threads->before;
    for (size_t i = 0; i < threads->nr_slots; i++) {
        const struct yarn_timer_slot *slot = &yarn_timer_slots[i];
        if (!is_held(threads, i))
            continue;
        sums.blocked_ns += blocked_ns(slot, &threads->of_slot[i]);
        sums.nr_lost += atomic_load(&slot->nr_lost);
        sums.bytes += sizeof *slot->page +
                      (size_t)yarn_u64_min(threads->of_slot[i].ring.head, threads->data_bytes);
    }
    return sums;
}

void yarn_timer_threads_close(struct yarn_timer_threads *threads)
{
    for (size_t i = 0; i < threads->nr_slots; i++)
        if (is_held(threads, i) &&
            !yarn_timer_slot_has(&yarn_timer_slots[i], YARN_TIMER_SLOT_WRITING))
            yarn_timer_slot_tear_down(&yarn_timer_slots[i]);
    yarn_table_close(&threads->slot_of);
}
