/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/thread_ring.h"

#include "core/session/groups.h"
#include "core/session/probe.h"
#include "core/session/switch_event.h"

enum { EVERY_CPU = -1, WATCH_BYTES = 4096 };

static int map(const struct yarn_event *event, size_t bytes, struct perf_event_mmap_page **ret_page,
               struct yarn_ring *ret_ring)
{
    int err = yarn_event_map(event, bytes, ret_page);
    if (err)
        return err;
    const uint8_t *data = (const uint8_t *)*ret_page + (*ret_page)->data_offset;
    *ret_ring = yarn_ring_of(*ret_page, data, bytes);
    return 0;
}

static int open_watch(struct yarn_thread_watch *watch, const struct yarn_session *session,
                      pid_t tid)
{
    struct yarn_attr_options options = {.features = session->report.features};
    struct perf_event_attr attr = yarn_attr_of_watch(&options);
    int err = yarn_event_open(&watch->event, &attr, UINT32_MAX, tid, EVERY_CPU);
    if (err)
        return err;
    err = map(&watch->event, WATCH_BYTES, &watch->page, &watch->ring);
    if (err)
        yarn_event_close(&watch->event);
    return err;
}

static int open_event(struct yarn_thread_ring *slot, const struct yarn_session *session,
                      const struct yarn_plan *plan, uint32_t spec)
{
    struct yarn_event *event = &slot->events[slot->nr_events];
    const uint32_t first = yarn_group_first(session, spec);
    const struct yarn_event *leader = spec > first ? event - (spec - first) : NULL;
    struct yarn_attr_options options = yarn_probe_attr_options(session, spec);
    options.stack_bytes = yarn_probe_copy_bytes(session, spec, plan->stack_bytes);
    options.watermark_bytes = (uint32_t)yarn_plan_watermark(plan);
    options.has_side_band = !slot->watch.page && !slot->nr_events;
    struct perf_event_attr attr = yarn_attr_of(&session->specs[spec].spec, &options);
    int err = yarn_probe_open(session, &attr, spec, slot->tid, EVERY_CPU, leader, event);
    /* The host has given up rights since the first events were opened. */
    if ((err == -EACCES || err == -EPERM) && !session->specs[spec].spec.has_modifiers &&
        !attr.exclude_kernel) {
        attr.exclude_kernel = attr.exclude_hv = attr.exclude_callchain_kernel = 1;
        err = yarn_probe_open(session, &attr, spec, slot->tid, EVERY_CPU, leader, event);
        session->specs[spec].is_kernel_refused |= !err;
    }
    if (err)
        return err;
    err = slot->nr_events ? yarn_event_redirect(event, &slot->events[0])
                          : map(event, plan->ring_bytes, &slot->page, &slot->ring);
    if (err)
        yarn_event_close(event);
    else
        slot->nr_events++;
    return err;
}

/* What refuses it refuses nothing else. */
static void open_switches(struct yarn_thread_ring *slot, struct yarn_session *session)
{
    struct yarn_event event = YARN_EVENT_CLOSED;
    if (!yarn_switches_are_recorded(session))
        return;
    int err = yarn_switches_open(session, slot->tid, EVERY_CPU, &event);
    if (!err)
        err = yarn_event_redirect(&event, &slot->events[0]);
    if (!err) {
        slot->events[slot->nr_events++] = event;
        session->switches.is_open = true;
        return;
    }
    yarn_event_close(&event);
    if (err != -ESRCH)
        yarn_switches_give_up(session, yarn_probe_reason(err));
}

static void close_events(struct yarn_thread_ring *slot)
{
    for (size_t i = 0; i < slot->nr_events; i++)
        yarn_event_close(&slot->events[i]);
    slot->nr_events = 0;
    yarn_perf_unmap(slot->page, slot->ring.data.size);
    slot->page = NULL;
    slot->ring = YARN_RING_CLOSED;
}

static int open_events(struct yarn_thread_ring *slot, struct yarn_session *session,
                       const struct yarn_plan *plan)
{
    for (uint32_t spec = 0; spec < session->spec->nr_events; spec++) {
        if (session->specs[spec].error)
            continue;
        int err = open_event(slot, session, plan, spec);
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
        .watch = {.event = YARN_EVENT_CLOSED},
    };
    int err = has_watch ? open_watch(&slot->watch, session, tid) : 0;
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

void yarn_thread_ring_enable(const struct yarn_thread_ring *slot)
{
    /* An event whose thread has gone meanwhile cannot fail in a way that matters. */
    if (slot->watch.page)
        yarn_perf_enable(slot->watch.event.fd);
    for (size_t i = 0; i < slot->nr_events; i++)
        yarn_perf_enable(slot->events[i].fd);
}

void yarn_thread_ring_disable(const struct yarn_thread_ring *slot)
{
    for (size_t i = 0; i < slot->nr_events; i++)
        yarn_perf_disable(slot->events[i].fd);
    if (slot->watch.page)
        yarn_perf_disable(slot->watch.event.fd);
}

void yarn_thread_ring_count(const struct yarn_thread_ring *slot, uint32_t number,
                            struct yarn_perf_count *sum)
{
    for (size_t i = 0; i < slot->nr_events; i++) {
        struct yarn_perf_count one;
        if (slot->events[i].spec != number || yarn_event_count(&slot->events[i], &one))
            continue;
        sum->count += one.count;
        sum->time_enabled_ns += one.time_enabled_ns;
        sum->time_running_ns += one.time_running_ns;
        sum->lost += one.lost;
        sum->is_in_error |= one.is_in_error;
    }
}

static bool is_empty(struct yarn_ring *ring)
{
    if (!ring->page)
        return true;
    yarn_ring_begin(ring);
    return ring->head == ring->tail;
}

bool yarn_thread_ring_is_drained(struct yarn_thread_ring *slot)
{
    return is_empty(&slot->ring) && is_empty(&slot->watch.ring);
}

size_t yarn_thread_ring_bytes(const struct yarn_thread_ring *slot)
{
    return slot->ring.data.size + slot->watch.ring.data.size;
}

void yarn_thread_ring_close(struct yarn_thread_ring *slot)
{
    close_events(slot);
    yarn_perf_unmap(slot->watch.page, slot->watch.ring.data.size);
    yarn_event_close(&slot->watch.event);
    slot->watch.page = NULL;
    slot->watch.ring = YARN_RING_CLOSED;
    slot->tid = 0;
}

uint64_t yarn_thread_ring_switches_lost(const struct yarn_thread_ring *slot,
                                        const struct yarn_session *session)
{
    struct yarn_perf_count count = {0};
    yarn_thread_ring_count(slot, (uint32_t)session->spec->nr_events, &count);
    return count.lost;
}
