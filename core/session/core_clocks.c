/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/core_clocks.h"

#include "core/session/attach.h"
#include "core/session/probe.h"
#include "core/session/switch_event.h"
#include "core/sys/clock.h"

#define AGAIN_NS (5 * YARN_NS_PER_SECOND) /* until a core is measured again */
#define PAUSE_NS (100 * YARN_NS_PER_MS)   /* between two cores: each costs a move to it */

bool yarn_core_clocks_are_needed(const struct yarn_session *session)
{
    for (size_t i = 0; i < session->spec->nr_events; i++)
        if (session->specs[i].has_own_clock && !session->specs[i].error)
            return true;
    return false;
}

/* ---- whose ---- */

static int map(struct yarn_session_core *core, size_t ring_bytes)
{
    int err = yarn_event_map(&core->leader, ring_bytes, &core->page);
    if (err)
        return err;
    const uint8_t *data = (const uint8_t *)core->page + core->page->data_offset;
    core->ring = yarn_ring_of(core->page, data, ring_bytes);
    return 0;
}

static int open_ring(struct yarn_session *session, int cpu, size_t ring_bytes)
{
    struct yarn_session_core *core = &session->clocks[session->nr_clocks].core;
    struct yarn_attr_options options = {
        .features = session->report.features & ~(uint32_t)YARN_ATTR_CLOCK,
    };
    size_t watermark = yarn_plan_watermark(&session->report.got);
    struct perf_event_attr attr = yarn_attr_of_leader(&options, (uint32_t)watermark);
    *core = (struct yarn_session_core){.cpu = cpu, .leader = YARN_EVENT_CLOSED};
    int err = yarn_event_open(&core->leader, &attr, UINT32_MAX, 0, cpu);
    if (!err)
        err = map(core, ring_bytes);
    if (err)
        yarn_event_close(&core->leader);
    session->nr_clocks += !err;
    return err;
}

/* Smaller than the others where locked memory is short. */
static int open_rings(struct yarn_session *session)
{
    struct yarn_plan plan = session->report.got;
    const uint32_t stack_bytes = plan.stack_bytes;
    for (;;) {
        int err = 0;
        for (size_t i = 0; !err && i < session->nr_cores; i++)
            err = open_ring(session, session->cores[i].cpu, plan.ring_bytes);
        if (!err)
            return 0;
        yarn_core_clocks_close(session);
        if (err != -ENOMEM || !yarn_plan_smaller(&plan) || plan.stack_bytes < stack_bytes)
            return err;
    }
}

/* ---- offsets ---- */

static int measure(const struct yarn_session *session, struct yarn_core_clock *clock)
{
    int err = yarn_clock_offset_measure(clock->core.cpu, session->report.features, &clock->offset);
    clock->nr_measured += !err;
    clock->is_told = clock->is_told && err;
    clock->looked_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    return err;
}

/* Where this thread may not go, those of the process are not either: any core's offset will do. */
static int measure_all(struct yarn_session *session)
{
    const struct yarn_core_clock *some = NULL;
    int err = -EAGAIN;
    for (size_t i = 0; i < session->nr_clocks; i++) {
        int failed = measure(session, &session->clocks[i]);
        if (!failed)
            some = &session->clocks[i];
        else
            err = failed;
    }
    for (size_t i = 0; some && i < session->nr_clocks; i++)
        if (!session->clocks[i].nr_measured)
            session->clocks[i].offset = some->offset;
    return some ? 0 : err;
}

/* ---- the session's ---- */

int yarn_core_clocks_open(struct yarn_session *session)
{
    if (!yarn_core_clocks_are_needed(session))
        return 0;
    session->clocks = YARN_ARENA_NEW(&session->arena, struct yarn_core_clock, session->nr_cores);
    int err = session->clocks ? open_rings(session) : -ENOMEM;
    if (err)
        return yarn_probe_refuse_own_clocks(
            session, err,
            "no memory for rings of its own, as its PMU does not know CLOCK_MONOTONIC");
    err = measure_all(session);
    if (!err)
        return 0;
    yarn_core_clocks_close(session);
    return yarn_probe_refuse_own_clocks(
        session, err,
        "its PMU does not know CLOCK_MONOTONIC, and no core's own clock could be read");
}

const struct yarn_event *yarn_core_clocks_leader(const struct yarn_session *session,
                                                 const struct yarn_session_core *core,
                                                 const struct yarn_event *event)
{
    bool is_own = !yarn_switches_is_of(session, event) &&
                  session->specs[event->spec].has_own_clock && session->nr_clocks;
    return is_own ? &session->clocks[core - session->cores].core.leader : &core->leader;
}

const struct yarn_core_clock *yarn_core_clocks_changed(struct yarn_session *session)
{
    for (size_t i = 0; i < session->nr_clocks; i++)
        if (!session->clocks[i].is_told) {
            session->clocks[i].is_told = true;
            return &session->clocks[i];
        }
    return NULL;
}

static struct yarn_core_clock *longest_ago(const struct yarn_session *session)
{
    struct yarn_core_clock *found = NULL;
    for (size_t i = 0; i < session->nr_clocks; i++) {
        struct yarn_core_clock *clock = &session->clocks[i];
        if (clock->nr_measured && (!found || clock->looked_ns < found->looked_ns))
            found = clock;
    }
    return found;
}

/* Why not where the reader is sampled itself: the record of its name would be among its samples. */
void yarn_core_clocks_attend(struct yarn_session *session)
{
    if (!session->nr_clocks || session->spec->includes_reader)
        return;
    uint64_t now_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    struct yarn_core_clock *clock = longest_ago(session);
    if (now_ns < session->clock_look_ns || !clock || clock->looked_ns + AGAIN_NS > now_ns)
        return;
    session->clock_look_ns = now_ns + PAUSE_NS;
    measure(session, clock); /* else the former offset stays, with its time */
}

size_t yarn_core_clocks_bytes(const struct yarn_session *session)
{
    size_t bytes = 0;
    for (size_t i = 0; i < session->nr_clocks; i++)
        bytes += session->clocks[i].core.ring.data.size;
    return bytes;
}

void yarn_core_clocks_close(struct yarn_session *session)
{
    for (size_t i = 0; i < session->nr_clocks; i++) {
        yarn_perf_unmap(session->clocks[i].core.page, session->clocks[i].core.ring.data.size);
        yarn_event_close(&session->clocks[i].core.leader);
    }
    session->nr_clocks = 0;
}
