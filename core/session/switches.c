/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/switches.h"

#include "core/session/alternates.h"
#include "core/session/core_rings.h"
#include "core/session/probe.h"
#include "core/session/thread_rings.h"
#include "core/sys/clock.h"
#include "core/sys/perf.h"
#include "core/sys/process.h"

enum { CPUS_MAX = 1024 };
#define WINDOW_NS (100 * YARN_NS_PER_MS)

enum { RING_BYTES = 4096, WAKE_BYTES = 1 };

/* As the thread's event of switches. */
static int open_event(struct yarn_session *session, const struct yarn_event *like)
{
    struct yarn_wake_switches *wake = &session->wake_switches;
    struct yarn_event *event = &wake->events[wake->nr_events];
    int err = -ENOENT;
    for (size_t i = 0; err == -ENOENT && i < wake->nr_cores; i++)
        if (wake->cores[i].cpu == like->cpu) {
            err = yarn_switches_open(session, like->tid, like->cpu, &wake->cores[i].leader, event);
            wake->nr_events += !err;
        }
    return err == -ESRCH ? 0 : err;
}

void yarn_wake_switches_open(struct yarn_session *session)
{
    struct yarn_wake_switches *wake = &session->wake_switches;
    wake->cores = YARN_ARENA_NEW(&session->arena, struct yarn_session_core, session->nr_cores);
    wake->events = YARN_ARENA_NEW(&session->arena, struct yarn_event, session->nr_events);
    int err = wake->cores && wake->events ? 0 : -ENOMEM;
    for (size_t i = 0; !err && i < session->nr_cores; i++) {
        err = yarn_core_ring_open(session, session->cores[i].cpu, RING_BYTES, WAKE_BYTES,
                                  &wake->cores[i]);
        wake->nr_cores += !err;
    }
    for (size_t i = 0; !err && i < session->nr_events; i++)
        if (yarn_switches_is_of(&session->events[i]))
            err = open_event(session, &session->events[i]);
    wake->is_open = !err && wake->nr_events;
    if (!wake->is_open)
        yarn_wake_switches_close(session);
}

static void empty(struct yarn_wake_switches *wake)
{
    for (size_t i = 0; i < wake->nr_cores; i++) {
        yarn_ring_begin(&wake->cores[i].ring);
        wake->cores[i].ring.tail = wake->cores[i].ring.head;
        yarn_ring_commit(&wake->cores[i].ring);
    }
}

static bool has_records(struct yarn_session *session)
{
    const struct yarn_thread_rings *threads = session->threads;
    for (size_t i = 0; threads && i < threads->nr_slots; i++)
        if (threads->of_slot[i].tid && !yarn_thread_ring_is_drained(&threads->of_slot[i]))
            return true;
    for (size_t i = 0; i < session->nr_cores; i++)
        if (!yarn_ring_is_empty(&session->cores[i].ring))
            return true;
    return false;
}

void yarn_wake_switches_turn(struct yarn_session *session, bool is_on)
{
    struct yarn_wake_switches *wake = &session->wake_switches;
    const struct yarn_thread_rings *threads = session->threads;
    if (wake->is_on == is_on)
        return;
    wake->is_on = is_on;
    for (size_t i = 0; i < wake->nr_events; i++)
        yarn_perf_turn(wake->events[i].fd, is_on);
    for (size_t i = 0; threads && i < threads->nr_slots; i++)
        if (threads->of_slot[i].tid && threads->of_slot[i].watch.wake_switches.fd >= 0)
            yarn_perf_turn(threads->of_slot[i].watch.wake_switches.fd, is_on);
    empty(wake);
}

bool yarn_wake_switches_await(struct yarn_session *session)
{
    yarn_wake_switches_turn(session, session->wake_switches.is_open);
    if (has_records(session))
        yarn_wake_switches_turn(session, false);
    return session->wake_switches.is_on;
}

void yarn_wake_switches_close(struct yarn_session *session)
{
    struct yarn_wake_switches *wake = &session->wake_switches;
    yarn_events_close(wake->events, &wake->nr_events, 0);
    yarn_core_rings_close(wake->cores, &wake->nr_cores);
    *wake = (struct yarn_wake_switches){.nr_events = 0};
}

uint64_t yarn_switches_lost(const struct yarn_session *session)
{
    struct yarn_perf_count sum = session->switches.before;
    const struct yarn_thread_rings *threads = session->threads;
    for (size_t i = 0; session->switches.is_open && i < session->nr_events; i++)
        if (yarn_switches_is_of(&session->events[i]))
            yarn_event_add_count(&session->events[i], &sum);
    for (size_t i = 0; session->switches.is_open && threads && i < threads->nr_slots; i++)
        yarn_thread_ring_count(&threads->of_slot[i], YARN_SWITCHES_NUMBER, &sum);
    return sum.lost;
}

void yarn_switches_observe(struct yarn_session *session, const struct yarn_typed_record *record)
{
    struct yarn_switches *switches = &session->switches;
    uint64_t rate_max_hz = session->request->switch_rate_max_hz;
    if (!rate_max_hz || record->perf.cpu >= CPUS_MAX)
        return;
    if (!switches->windows)
        switches->windows = YARN_ARENA_NEW(&session->arena, struct yarn_switch_window, CPUS_MAX);
    if (!switches->windows)
        return;
    struct yarn_switch_window *window = &switches->windows[record->perf.cpu];
    if (record->perf.time >= window->start_ns + WINDOW_NS)
        *window = (struct yarn_switch_window){.start_ns = record->perf.time};
    window->count++;
    switches->are_many |= window->count > rate_max_hz * WINDOW_NS / YARN_NS_PER_SECOND;
}

static void turn_all(const struct yarn_session *session, bool is_on)
{
    const struct yarn_thread_rings *threads = session->threads;
    for (size_t i = 0; i < session->nr_events; i++)
        if (yarn_switches_is_of(&session->events[i]))
            yarn_perf_turn(session->events[i].fd, is_on);
    for (size_t i = 0; threads && i < threads->nr_slots; i++) {
        const struct yarn_thread_ring *slot = &threads->of_slot[i];
        for (size_t k = 0; slot->tid && k < slot->nr_events; k++)
            if (yarn_switches_is_of(&slot->events[k]))
                yarn_perf_turn(slot->events[k].fd, is_on);
    }
}

void yarn_switches_follow(const struct yarn_session *session)
{
    if (session->switches.are_cut)
        turn_all(session, false);
}

static void change(struct yarn_session *session, bool are_cut, uint64_t now_ns)
{
    struct yarn_switches *switches = &session->switches;
    turn_all(session, !are_cut);
    switches->are_cut = are_cut;
    switches->are_many = false;
    switches->changed_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    switches->checked_ns = now_ns;
    switches->nr_at_check = yarn_process_nr_switches();
    memset(switches->windows, 0, CPUS_MAX * sizeof switches->windows[0]);
}

/* Why: they record each switch anyway and cost more, and records are what threads' times are made
 * of. */
static bool has_tracepoints(const struct yarn_session *session)
{
    for (size_t i = 0; i < session->request->nr_events; i++)
        if (session->statuses[i].spec.is_scheduling && !session->statuses[i].error)
            return true;
    return false;
}

/* For good: what ran meanwhile would not be known after. */
static void lighten(struct yarn_session *session)
{
    struct yarn_switches *switches = &session->switches;
    if (switches->are_cut || !switches->are_many || !session->alternates.count)
        return;
    switches->changed_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    yarn_alternates_lighten(session);
    switches->are_cut = true;
}

void yarn_switches_after_drain(struct yarn_session *session)
{
    struct yarn_switches *switches = &session->switches;
    if (session->request->times_tree) {
        yarn_alternates_confirm(session);
        lighten(session);
        return;
    }
    if (!switches->are_cut && (!switches->are_many || has_tracepoints(session)))
        return;
    uint64_t now_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    if (!switches->are_cut) {
        change(session, true, now_ns);
        return;
    }
    uint64_t passed_ns = now_ns - switches->checked_ns;
    if (passed_ns < YARN_NS_PER_SECOND)
        return;
    uint64_t count = yarn_process_nr_switches(), since = count - switches->nr_at_check;
    switches->checked_ns = now_ns;
    switches->nr_at_check = count;
    if (since < session->request->switch_rate_max_hz / 2 * passed_ns / YARN_NS_PER_SECOND)
        change(session, false, now_ns);
}
