/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/motion.h"

#include "core/session/core_rings.h"
#include "core/session/switch_event.h"
#include "core/session/thread_rings.h"
#include "core/sys/perf.h"

enum { RING_BYTES = 4096, WAKE_BYTES = 1 };

/* As the thread's event of switches. */
static int open_event(struct yarn_session *session, const struct yarn_event *like)
{
    struct yarn_motion *motion = &session->motion;
    struct yarn_event *event = &motion->events[motion->nr_events];
    int err = -ENOENT;
    for (size_t i = 0; err == -ENOENT && i < motion->nr_cores; i++)
        if (motion->cores[i].cpu == like->cpu) {
            err = yarn_switches_open(session, like->tid, like->cpu, event);
            motion->nr_events += !err;
            if (!err)
                err = yarn_event_redirect(event, &motion->cores[i].leader);
        }
    return err == -ESRCH ? 0 : err;
}

void yarn_motion_open(struct yarn_session *session)
{
    struct yarn_motion *motion = &session->motion;
    motion->cores = YARN_ARENA_NEW(&session->arena, struct yarn_session_core, session->nr_cores);
    motion->events = YARN_ARENA_NEW(&session->arena, struct yarn_event, session->nr_events);
    int err = motion->cores && motion->events ? 0 : -ENOMEM;
    for (size_t i = 0; !err && i < session->nr_cores; i++) {
        err = yarn_core_ring_open(session, session->cores[i].cpu, RING_BYTES, WAKE_BYTES,
                                  &motion->cores[i]);
        motion->nr_cores += !err;
    }
    for (size_t i = 0; !err && i < session->nr_events; i++)
        if (yarn_switches_is_of(&session->events[i]))
            err = open_event(session, &session->events[i]);
    motion->is_open = !err && motion->nr_events;
    if (!motion->is_open)
        yarn_motion_close(session);
}

static void empty(struct yarn_motion *motion)
{
    for (size_t i = 0; i < motion->nr_cores; i++) {
        yarn_ring_begin(&motion->cores[i].ring);
        motion->cores[i].ring.tail = motion->cores[i].ring.head;
        yarn_ring_commit(&motion->cores[i].ring);
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

static void turn(struct yarn_session *session, bool is_on)
{
    struct yarn_motion *motion = &session->motion;
    const struct yarn_thread_rings *threads = session->threads;
    if (motion->is_on == is_on)
        return;
    motion->is_on = is_on;
    for (size_t i = 0; i < motion->nr_events; i++)
        yarn_perf_turn(motion->events[i].fd, is_on);
    for (size_t i = 0; threads && i < threads->nr_slots; i++)
        if (threads->of_slot[i].tid && threads->of_slot[i].watch.motion.fd >= 0)
            yarn_perf_turn(threads->of_slot[i].watch.motion.fd, is_on);
    empty(motion);
}

bool yarn_motion_await(struct yarn_session *session)
{
    turn(session, true);
    if (!has_records(session))
        return true;
    turn(session, false);
    return false;
}

void yarn_motion_ignore(struct yarn_session *session)
{
    turn(session, false);
}

void yarn_motion_close(struct yarn_session *session)
{
    struct yarn_motion *motion = &session->motion;
    yarn_events_close(motion->events, &motion->nr_events, 0);
    yarn_core_rings_close_all(motion->cores, &motion->nr_cores);
    *motion = (struct yarn_motion){.nr_events = 0};
}
