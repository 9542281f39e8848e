/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/growth.h"

#include "core/session/alternates.h"
#include "core/session/core_rings.h"
#include "core/sys/clock.h"
#include "core/sys/locked_memory.h"

enum { MANY_SAMPLES = 12, PAGE_BYTES = 4096 };
#define LIFE_LEAST_NS (100 * YARN_NS_PER_MS)
#define GRACE_NS (30 * YARN_NS_PER_MS)
#define TURN_NS (10 * YARN_NS_PER_MS)

/* ---- how large ---- */

void yarn_growth_plan(struct yarn_session *session)
{
    struct yarn_plan *got = &session->report.got;
    struct yarn_plan whole = yarn_plan_of_core(session->request, session->nr_cpus);
    if (!session->growth.may_grow)
        whole.ring_bytes = got->ring_bytes;
    if (whole.ring_bytes > got->ring_bytes) {
        uint64_t lockable = yarn_locked_memory_left();
        while (whole.ring_bytes > got->ring_bytes &&
               session->nr_cores * (uint64_t)(whole.ring_bytes + PAGE_BYTES) > lockable)
            whole.ring_bytes /= 2;
        session->growth.is_refused = whole.ring_bytes <= got->ring_bytes;
    }
    session->growth.ring_bytes = yarn_size_max(whole.ring_bytes, got->ring_bytes);
    whole.stack_bytes = got->stack_bytes;
    yarn_plan_slow_down(session->request, session->nr_cpus, yarn_plan_watermark(&whole), &whole);
    got->rate_permille = whole.rate_permille;
}

/* ---- the rings ---- */

/* As large as there is memory for, beside those that there are. */
static int open_rings(struct yarn_session *session)
{
    const struct yarn_plan former = session->report.got;
    struct yarn_session_core *cores =
        YARN_ARENA_NEW(&session->arena, struct yarn_session_core, session->nr_cpus);
    size_t ring_bytes = session->growth.ring_bytes;
    int err = -ENOMEM;
    for (; cores && err == -ENOMEM && ring_bytes > former.ring_bytes; ring_bytes /= 2) {
        size_t nr_cores = 0;
        session->report.got.ring_bytes = ring_bytes;
        err = yarn_core_rings_open(session, cores, &nr_cores);
        if (!err)
            err = yarn_core_rings_replace(session, cores, nr_cores);
    }
    if (err)
        session->report.got = former;
    return err;
}

static void begin(struct yarn_session *session, uint64_t now_ns)
{
    struct yarn_growth *growth = &session->growth;
    growth->error = open_rings(session);
    growth->ring_bytes = session->report.got.ring_bytes;
    growth->is_refused = growth->error != 0;
    if (growth->error)
        return;
    growth->is_moving = true;
    growth->attach_ns = now_ns + GRACE_NS;
    session->watch_generation++;
    session->nr_changes++;
    growth->error = yarn_alternates_begin(session);
}

/* The next one, which takes a grace period; false where there is none. */
static bool move_one(struct yarn_session *session)
{
    struct yarn_growth *growth = &session->growth;
    while (growth->next < session->nr_events &&
           yarn_alternates_side(session, session->events[growth->next].number) != YARN_SIDE_NONE)
        growth->next++;
    if (growth->next == session->nr_events)
        return false;
    const struct yarn_event *event = &session->events[growth->next++];
    growth->error = yarn_event_redirect(event, yarn_core_rings_leader(session, event->cpu));
    return true;
}

/* Why an error ends it here: an event still writes to a former ring, so all of these stay. */
static void move(struct yarn_session *session, uint64_t now_ns)
{
    struct yarn_growth *growth = &session->growth;
    session->soon_ns = growth->error ? 0 : TURN_NS;
    if (growth->error || now_ns < growth->attach_ns)
        return;
    if (growth->attach_ns) {
        growth->error = yarn_alternates_attach_resting(session);
        growth->attach_ns = 0;
        return;
    }
    if (now_ns < growth->since_ns + LIFE_LEAST_NS || move_one(session))
        return;
    growth->is_moving = false;
    session->soon_ns = 0;
}

void yarn_growth_before_drain(struct yarn_session *session)
{
    if (!yarn_growth_is_to_come(session) || !session->alternates.count)
        return;
    for (size_t i = 0; i < session->nr_cores; i++) {
        struct yarn_ring *ring = &session->cores[i].ring;
        yarn_ring_begin(ring);
        session->growth.is_late |= ring->head - ring->tail >= ring->data.size / 2;
    }
}

static bool is_due(const struct yarn_session *session, uint64_t now_ns)
{
    bool is_early = session->turns.is_deep_wanted || session->growth.is_late;
    return yarn_growth_is_to_come(session) && session->is_enabled &&
           (session->nr_samples >= MANY_SAMPLES || session->growth.is_late) &&
           (is_early || now_ns >= session->growth.since_ns + LIFE_LEAST_NS);
}

void yarn_growth_after_drain(struct yarn_session *session)
{
    struct yarn_growth *growth = &session->growth;
    uint64_t now_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    if (!growth->since_ns)
        growth->since_ns = now_ns;
    if (growth->is_moving)
        move(session, now_ns);
    else if (is_due(session, now_ns))
        begin(session, now_ns);
    session->report.lacks_growth |= growth->is_refused && session->nr_samples >= MANY_SAMPLES;
}
