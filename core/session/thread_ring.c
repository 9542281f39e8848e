/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/thread_ring.h"

#include "core/session/groups.h"
#include "core/session/probe.h"
#include "core/session/switch_event.h"

enum { EVERY_CPU = -1, WATCH_BYTES = 4096 };

static int open_watch(struct yarn_thread_watch *watch, struct yarn_session *session, pid_t tid)
{
    struct yarn_attr_options options = {.features = session->report.features};
    struct perf_event_attr attr = yarn_attr_of_watch(&options);
    int err = yarn_event_open(&watch->event, &attr, UINT32_MAX, tid, EVERY_CPU);
    if (err)
        return err;
    err = yarn_ring_open(&watch->event, WATCH_BYTES, &watch->ring);
    if (err)
        yarn_event_close(&watch->event);
    else if (session->wake_switches.is_open)
        session->wake_switches.is_open =
            !yarn_switches_open(session, tid, EVERY_CPU, &watch->event, &watch->wake_switches);
    return err;
}

static int open_event(struct yarn_thread_ring *slot, const struct yarn_session *session,
                      const struct yarn_plan *plan, uint32_t number)
{
    struct yarn_event *event = &slot->events[slot->nr_events];
    const uint32_t first = yarn_group_first(session, number);
    const struct yarn_event *leader = number > first ? event - (number - first) : NULL;
    struct yarn_attr_options options = yarn_probe_attr_options(session, number);
    options.stack_bytes = yarn_probe_copy_bytes(session, number, plan->stack_bytes);
    options.watermark_bytes = (uint32_t)yarn_plan_watermark(plan);
    options.has_side_band = !slot->watch.ring.page && !slot->nr_events;
    struct perf_event_attr attr = yarn_attr_of(&session->statuses[number].spec, &options);
    int err = yarn_probe_open(session, &attr, number, slot->tid, EVERY_CPU, leader, event);
    /* The host has given up rights since the first events were opened. */
    if ((err == -EACCES || err == -EPERM) && !session->statuses[number].spec.has_modifiers &&
        !attr.exclude_kernel) {
        attr.exclude_kernel = attr.exclude_hv = attr.exclude_callchain_kernel = 1;
        err = yarn_probe_open(session, &attr, number, slot->tid, EVERY_CPU, leader, event);
        session->statuses[number].is_kernel_refused |= !err;
    }
    if (err)
        return err;
    err = slot->nr_events ? yarn_event_redirect(event, &slot->events[0])
                          : yarn_ring_open(event, plan->ring_bytes, &slot->ring);
    if (err)
        yarn_event_close(event);
    else
        slot->nr_events++;
    return err;
}

/* What refuses it refuses nothing else. */
static void open_switches(struct yarn_thread_ring *slot, struct yarn_session *session)
{
    if (!yarn_switches_are_recorded(session))
        return;
    int err = yarn_switches_open(session, slot->tid, EVERY_CPU, &slot->events[0],
                                 &slot->events[slot->nr_events]);
    slot->nr_events += !err;
    session->switches.is_open |= !err;
    if (err && err != -ESRCH)
        session->switches.reason = yarn_event_refusal(err);
}

static void close_events(struct yarn_thread_ring *slot)
{
    yarn_events_close(slot->events, &slot->nr_events, 0);
    yarn_ring_close(&slot->ring);
}

static int open_events(struct yarn_thread_ring *slot, struct yarn_session *session,
                       const struct yarn_plan *plan)
{
    for (uint32_t number = 0; number < session->request->nr_events; number++) {
        if (session->statuses[number].error)
            continue;
        int err = open_event(slot, session, plan, number);
        if (err) {
            close_events(slot);
            return err;
        }
    }
    open_switches(slot, session);
    return 0;
}

int yarn_thread_ring_open(struct yarn_thread_ring *slot, struct yarn_session *session, pid_t tid,
                          struct yarn_plan plan, bool has_watch)
{
    *slot = (struct yarn_thread_ring){
        .tid = tid,
        .events = slot->events,
        .watch = {.event = YARN_EVENT_CLOSED, .wake_switches = YARN_EVENT_CLOSED},
    };
    int err = has_watch ? open_watch(&slot->watch, session, tid) : 0;
    session->wake_switches.is_open &= slot->watch.ring.page != NULL;
    if (err == -ENOMEM)
        err = 0; /* the first event does what the watch would do, but for the waking */
    while (!err) {
        err = open_events(slot, session, &plan);
        if (err != -ENOMEM || !yarn_plan_smaller(&plan))
            break;
        err = 0;
    }
    if (err)
        yarn_thread_ring_close(slot);
    return err;
}

void yarn_thread_ring_turn(const struct yarn_thread_ring *slot, bool is_on)
{
    /* An event whose thread has gone meanwhile cannot fail in a way that matters. */
    if (slot->watch.ring.page)
        yarn_perf_turn(slot->watch.event.fd, is_on);
    for (size_t i = 0; i < slot->nr_events; i++)
        yarn_perf_turn(slot->events[i].fd, is_on);
}

void yarn_thread_ring_count(const struct yarn_thread_ring *slot, uint32_t number,
                            struct yarn_perf_count *sum)
{
    for (size_t i = 0; i < slot->nr_events; i++)
        if (slot->events[i].number == number)
            yarn_event_add_count(&slot->events[i], sum);
}

size_t yarn_thread_ring_bytes(const struct yarn_thread_ring *slot)
{
    return slot->ring.data.size + slot->watch.ring.data.size;
}

void yarn_thread_ring_close(struct yarn_thread_ring *slot)
{
    close_events(slot);
    yarn_ring_close(&slot->watch.ring);
    yarn_event_close(&slot->watch.event);
    yarn_event_close(&slot->watch.wake_switches);
    slot->tid = 0;
}
