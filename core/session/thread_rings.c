/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/thread_rings.h"

#include "core/session/switch_event.h"

/* Of the memory of all rings that is left to their watches and control pages. */
enum { SLACK_SHARE = 4 };

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

/* Whose number another thread may have by now. */
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
