/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/thread_rings.h"

#include "core/session/probe.h"

/* Of the memory of all rings that is left to their watches and control pages. */
enum { SLACK_SHARE = 4 };

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

static uint32_t free_slot(const struct yarn_thread_rings *threads)
{
    for (uint32_t i = 0; i < YARN_THREAD_RINGS_MAX; i++)
        if (!threads->of_slot[i].tid)
            return i;
    return YARN_TABLE_NONE;
}

static int enter(struct yarn_session *session, uint32_t number)
{
    const struct yarn_thread_ring *slot = &session->threads->of_slot[number];
    int err = yarn_table_put(&session->threads->slot_of, (uint64_t)slot->tid, number);
    for (size_t i = 0; i < slot->nr_events && !err; i++)
        if (!yarn_switches_is_of(&slot->events[i]))
            err = yarn_table_put(&session->numbers, slot->events[i].id, slot->events[i].number);
    return err;
}

/* A thread's number may be another's by now. */
static void leave(struct yarn_session *session, uint32_t number)
{
    const struct yarn_thread_ring *slot = &session->threads->of_slot[number];
    if (yarn_table_find(&session->threads->slot_of, (uint64_t)slot->tid) == number)
        yarn_table_remove(&session->threads->slot_of, (uint64_t)slot->tid);
    for (size_t i = 0; i < slot->nr_events; i++)
        yarn_table_remove(&session->numbers, slot->events[i].id);
}

/* Into the share of one, as far as a ring can be so small. */
static void fit(const struct yarn_thread_rings *threads, struct yarn_plan *plan)
{
    while (threads->share_bytes && plan->ring_bytes > threads->share_bytes &&
           yarn_plan_smaller(plan))
        continue;
}

int yarn_thread_rings_attach(struct yarn_session *session, pid_t tid,
                             struct yarn_thread_ring **ret_slot)
{
    struct yarn_thread_rings *threads = session->threads;
    uint32_t number = free_slot(threads);
    if (number == YARN_TABLE_NONE)
        return -ENOSPC;
    struct yarn_thread_ring *slot = &threads->of_slot[number];
    struct yarn_plan plan;
    if (!yarn_plan_of_thread(session->request, &session->report.got, threads->nr_live,
                             threads->ring_bytes, &plan))
        return -ENOMEM;
    fit(threads, &plan);
    bool has_watch = threads->nr_live < YARN_THREAD_RINGS_WATCHED;
    int err = yarn_thread_ring_open(slot, session, tid, plan, has_watch);
    if (err)
        return err;
    slot->seen = threads->nr_scans;
    threads->nr_slots = yarn_size_max(threads->nr_slots, number + 1);
    err = enter(session, number);
    if (err) {
        leave(session, number);
        yarn_thread_ring_close(slot);
        return err;
    }
    threads->nr_live++;
    threads->ring_bytes += yarn_thread_ring_bytes(slot);
    session->watch_generation++;
    *ret_slot = slot;
    return 0;
}

void yarn_thread_rings_close_slot(struct yarn_session *session, uint32_t number)
{
    struct yarn_thread_rings *threads = session->threads;
    struct yarn_thread_ring *slot = &threads->of_slot[number];
    for (uint32_t i = 0; i < session->request->nr_events; i++)
        yarn_thread_ring_count(slot, i, &threads->before[i]);
    yarn_thread_ring_count(slot, YARN_SWITCHES_NUMBER, &session->switches.before);
    threads->switching_before_ns += slot->switching_ns;
    threads->nr_live--;
    threads->ring_bytes -= yarn_thread_ring_bytes(slot);
    leave(session, number);
    yarn_thread_ring_close(slot);
    session->watch_generation++;
}

void yarn_thread_rings_detach(struct yarn_session *session, struct yarn_thread_ring *slot)
{
    yarn_table_remove(&session->threads->slot_of, (uint64_t)slot->tid);
    yarn_thread_ring_turn(slot, false);
    slot->is_gone = true;
}

bool yarn_thread_rings_make_way(struct yarn_session *session, size_t nr_threads)
{
    struct yarn_thread_rings *threads = session->threads;
    struct yarn_plan plan = session->report.got;
    size_t nr_detached = 0;
    if (session->request->ring_bytes) /* as asked, and no smaller */
        return false;
    for (size_t i = 0; i < threads->nr_slots; i++)
        if (threads->of_slot[i].tid && threads->of_slot[i].is_gone)
            return true; /* it leaves its memory soon */
    threads->share_bytes = threads->ring_bytes / (nr_threads + nr_threads / SLACK_SHARE + 1);
    fit(threads, &plan);
    for (size_t i = 0; i < threads->nr_slots; i++) {
        struct yarn_thread_ring *slot = &threads->of_slot[i];
        if (!slot->tid || slot->ring.data.size <= plan.ring_bytes)
            continue;
        yarn_thread_rings_detach(session, slot);
        nr_detached++;
    }
    session->report.has_smaller_rings |= nr_detached > 0;
    return nr_detached;
}

void yarn_thread_rings_free(struct yarn_session *session)
{
    yarn_mappings_close(&session->threads->mappings);
    yarn_table_close(&session->threads->slot_of);
    session->threads = NULL;
}
