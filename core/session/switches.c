/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/switches.h"

#include "core/session/switch_event.h"
#include "core/session/thread_rings.h"
#include "core/sys/clock.h"
#include "core/sys/perf.h"
#include "core/sys/process.h"

enum { CPUS_MAX = 1024 };
#define WINDOW_NS (100 * YARN_NS_PER_MS)

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

void yarn_switches_after_drain(struct yarn_session *session)
{
    struct yarn_switches *switches = &session->switches;
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
