/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/wake_switches.h"

#include "core/session/core_rings.h"
#include "core/session/switch_event.h"
#include "core/session/thread_rings.h"
#include "core/sys/perf.h"

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
