/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/cpu_wide.h"

#include "core/session/probe.h"

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

/* On one core, for all. */
static int try_clock(const struct yarn_session *session, uint32_t number)
{
    struct yarn_event event = YARN_EVENT_CLOSED;
    const int cpu = session->cores[0].cpu;
    struct perf_event_attr attr = yarn_probe_attr(session, number, cpu);
    int err = yarn_event_open(&event, &attr, number, YARN_EVENT_EVERY_THREAD, cpu);
    yarn_event_close(&event);
    return err == -ENODEV ? 0 : err;
}

void yarn_cpu_wide_choose(struct yarn_session *session)
{
    struct yarn_cpu_wide *wide = &session->wide;
    wide->number = find_clock(session);
    wide->error = wide->number == UINT32_MAX ? -ENOENT : try_clock(session, wide->number);
    wide->is_on = !wide->error;
}
