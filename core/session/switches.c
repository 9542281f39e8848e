/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/switches.h"

#include "core/session/probe.h"
#include "core/session/session.h"
#include "core/session/thread_rings.h"
#include "core/sys/clock.h"
#include "core/sys/perf.h"
#include "core/sys/process.h"

enum { CPUS_MAX = 1024 };
#define WINDOW_NS (100 * YARN_NS_PER_MS)

void yarn_switches_give_up(struct yarn_session *session, const char *reason)
{
    session->switches.reason = reason;
}

int yarn_switches_open(struct yarn_session *session, pid_t tid, int cpu,
                       struct yarn_event *ret_event)
{
    struct yarn_attr_options options = {
        .features = session->report.features,
        .is_single = session->threads != NULL,
    };
    struct perf_event_attr attr = yarn_attr_of_switches(&options);
    return yarn_event_open(ret_event, &attr, (uint32_t)session->spec->nr_events, tid, cpu);
}

bool yarn_session_records_switches(const struct yarn_session *session)
{
    return yarn_switches_are_recorded(session) && session->switches.is_open;
}

const char *yarn_session_switches_refusal(const struct yarn_session *session)
{
    if (session->switches.reason)
        return session->switches.reason;
    if (session->switches.is_open)
        return NULL;
    return session->timer ? "the timer sampler has no switch records"
                          : "this strategy has no switch records";
}

/* By the tracepoints of YARN_SCHED. */
static uint64_t tracepoints_lost(const struct yarn_session *session)
{
    uint64_t lost = 0;
    for (uint32_t i = 0; i < session->spec->nr_events; i++)
        if (session->specs[i].spec.is_scheduling && !session->specs[i].error &&
            yarn_session_can_count(session, i))
            lost += yarn_session_count(session, i).lost;
    return lost;
}

uint64_t yarn_switches_lost_of(const struct yarn_session *session,
                               const struct yarn_thread_ring *slot)
{
    struct yarn_perf_count count = {0};
    yarn_thread_ring_count(slot, (uint32_t)session->spec->nr_events, &count);
    return count.lost;
}

uint64_t yarn_session_switches_lost(const struct yarn_session *session)
{
    uint64_t lost = session->switches.lost_before + tracepoints_lost(session);
    struct yarn_perf_count count;
    const struct yarn_thread_rings *threads = session->threads;
    if (!session->switches.is_open)
        return lost;
    for (size_t i = 0; i < session->nr_events; i++)
        if (yarn_switches_is_of(session, &session->events[i]) &&
            !yarn_event_count(&session->events[i], &count))
            lost += count.lost;
    for (size_t i = 0; threads && i < threads->nr_slots; i++)
        if (threads->of_slot[i].tid)
            lost += yarn_switches_lost_of(session, &threads->of_slot[i]);
    return lost;
}

/* ---- too many ---- */

bool yarn_session_switches_are_cut(const struct yarn_session *session, uint64_t *ret_since_ns)
{
    *ret_since_ns = session->switches.changed_ns;
    return session->switches.are_cut;
}

void yarn_switches_observe(struct yarn_session *session, const struct yarn_typed_record *record)
{
    struct yarn_switches *switches = &session->switches;
    uint64_t rate_max_hz = session->spec->switch_rate_max_hz;
    if (!rate_max_hz || record->cpu >= CPUS_MAX)
        return;
    if (!switches->windows)
        switches->windows = YARN_ARENA_NEW(&session->arena, struct yarn_switch_window, CPUS_MAX);
    if (!switches->windows)
        return;
    struct yarn_switch_window *window = &switches->windows[record->cpu];
    if (record->time_ns >= window->start_ns + WINDOW_NS)
        *window = (struct yarn_switch_window){.start_ns = record->time_ns};
    window->count++;
    switches->are_many |= window->count > rate_max_hz * WINDOW_NS / YARN_NS_PER_SECOND;
}

static void turn(int fd, bool is_on)
{
    if (is_on)
        yarn_perf_enable(fd);
    else
        yarn_perf_disable(fd);
}

static void turn_all(const struct yarn_session *session, bool is_on)
{
    const struct yarn_thread_rings *threads = session->threads;
    for (size_t i = 0; i < session->nr_events; i++)
        if (yarn_switches_is_of(session, &session->events[i]))
            turn(session->events[i].fd, is_on);
    for (size_t i = 0; threads && i < threads->nr_slots; i++) {
        const struct yarn_thread_ring *slot = &threads->of_slot[i];
        for (size_t k = 0; slot->tid && k < slot->nr_events; k++)
            if (yarn_switches_is_of(session, &slot->events[k]))
                turn(slot->events[k].fd, is_on);
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

void yarn_switches_attend(struct yarn_session *session)
{
    struct yarn_switches *switches = &session->switches;
    if (!switches->are_cut && !switches->are_many)
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
    if (since < session->spec->switch_rate_max_hz / 2 * passed_ns / YARN_NS_PER_SECOND)
        change(session, false, now_ns);
}
