/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/cpu_wide.h"

#include "core/session/probe.h"
#include "core/sys/clock.h"

#define LOOK_NS (100 * YARN_NS_PER_MS)

/* The one clock that is sampled by a period; UINT32_MAX where there is none, or more than one, or
 * it is in a group or filtered. */
static uint32_t find_clock(const struct yarn_session *session)
{
    uint32_t found = UINT32_MAX;
    for (uint32_t i = 0; i < session->request->nr_events; i++) {
        const struct yarn_event_status *event = &session->statuses[i];
        if (event->error || !event->spec.is_clock)
            continue;
        if (found != UINT32_MAX || !event->spec.period || event->spec.group || event->spec.filter)
            return UINT32_MAX;
        found = i;
    }
    return found;
}

static int open_one(struct yarn_session *session, uint32_t number,
                    const struct yarn_session_core *core, struct yarn_event *ret_event)
{
    struct perf_event_attr attr = yarn_probe_attr(session, number, core->cpu);
    attr.inherit = attr.inherit_thread = 0;
    struct yarn_event event = YARN_EVENT_CLOSED;
    int err = yarn_event_open(&event, &attr, number, YARN_EVENT_EVERY_THREAD, core->cpu);
    if (err)
        return err;
    err = yarn_event_redirect(&event, &core->leader);
    if (!err)
        err = yarn_table_put(&session->numbers, event.id, number);
    if (err)
        yarn_event_close(&event);
    else
        *ret_event = event;
    return err;
}

/* -ENODEV: the core is offline, and gets its clock when it is back. */
static int open_all(struct yarn_session *session, uint32_t number, struct yarn_event *ret_events)
{
    int err = 0;
    for (size_t i = 0; i < session->nr_cores; i++) {
        ret_events[i] = YARN_EVENT_CLOSED;
        if (!err)
            err = open_one(session, number, &session->cores[i], &ret_events[i]);
        err = err == -ENODEV ? 0 : err;
    }
    return err;
}

static void close_inherited(struct yarn_session *session, uint32_t number)
{
    size_t kept = 0;
    for (size_t i = 0; i < session->nr_events; i++) {
        if (session->events[i].number == number)
            yarn_event_close(&session->events[i]);
        else
            session->events[kept++] = session->events[i];
    }
    session->nr_events = kept;
}

void yarn_cpu_wide_open(struct yarn_session *session)
{
    struct yarn_cpu_wide *wide = &session->wide;
    uint32_t clock = find_clock(session);
    wide->error = -ENOENT;
    if (clock == UINT32_MAX)
        return;
    wide->events = YARN_ARENA_NEW(&session->arena, struct yarn_event, session->nr_cores);
    wide->error = wide->events ? open_all(session, clock, wide->events) : -ENOMEM;
    if (wide->error) {
        yarn_cpu_wide_close(session);
        return;
    }
    close_inherited(session, clock);
    wide->number = clock;
    wide->next_look_ns = yarn_clock_ns(YARN_TIME_MONOTONIC) + LOOK_NS;
}

/* A clock whose count stands still is of a core that is, or was, offline. */
void yarn_cpu_wide_check(struct yarn_session *session)
{
    struct yarn_cpu_wide *wide = &session->wide;
    uint64_t now_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    if (!wide->events || now_ns < wide->next_look_ns)
        return;
    wide->next_look_ns = now_ns + LOOK_NS;
    for (size_t i = 0; i < session->nr_cores; i++) {
        struct yarn_perf_count count = {0};
        struct yarn_event *event = &wide->events[i];
        yarn_event_add_count(event, &count);
        bool is_alive = yarn_event_is_open(event) && count.count != session->cores[i].clock_seen_ns;
        session->cores[i].clock_seen_ns = count.count;
        if (is_alive)
            continue;
        wide->nr_lost += count.lost;
        yarn_event_close(event);
        session->cores[i].clock_seen_ns = 0;
        if (!open_one(session, wide->number, &session->cores[i], event))
            yarn_perf_enable(event->fd);
    }
}

void yarn_cpu_wide_turn(struct yarn_session *session, bool is_on)
{
    struct yarn_cpu_wide *wide = &session->wide;
    if (!wide->events || wide->clock.is_running == is_on)
        return;
    if (is_on)
        yarn_host_clock_start(&wide->clock);
    for (size_t i = 0; i < session->nr_cores; i++)
        if (yarn_event_is_open(&wide->events[i]))
            yarn_perf_turn(wide->events[i].fd, is_on);
    if (!is_on)
        yarn_host_clock_stop(&wide->clock);
}

void yarn_cpu_wide_close(struct yarn_session *session)
{
    struct yarn_cpu_wide *wide = &session->wide;
    for (size_t i = 0; wide->events && i < session->nr_cores; i++)
        yarn_event_close(&wide->events[i]);
    wide->events = NULL;
}

void yarn_cpu_wide_count(const struct yarn_session *session, uint32_t number,
                         struct yarn_perf_count *sum)
{
    const struct yarn_cpu_wide *wide = &session->wide;
    if (!wide->events || number != wide->number)
        return;
    struct yarn_perf_count clocks = {.lost = wide->nr_lost};
    for (size_t i = 0; i < session->nr_cores; i++)
        yarn_event_add_count(&wide->events[i], &clocks);
    *sum = yarn_host_clock_count(&wide->clock, clocks.lost);
}
