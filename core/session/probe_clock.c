/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/probe_clock.h"

#include "core/session/attach.h"
#include "core/session/groups.h"

bool yarn_probe_clock_lacks_other(const struct perf_event_attr *attr, uint32_t number, pid_t tid,
                                  int cpu)
{
    struct perf_event_attr other = *attr;
    struct yarn_event event = YARN_EVENT_CLOSED;
    if (!other.use_clockid)
        return false;
    bool is_refused = yarn_event_open(&event, &other, number, tid, cpu) == -EINVAL;
    yarn_event_close(&event);
    other.use_clockid = 0;
    other.clockid = 0;
    bool is_taken = !yarn_event_open(&event, &other, number, tid, cpu);
    yarn_event_close(&event);
    return is_refused && is_taken;
}

static void own_clock(struct yarn_session_event *state)
{
    state->has_own_clock = true;
    state->reason = "its PMU does not know CLOCK_MONOTONIC: by the cores' own clocks, which are "
                    "measured";
}

int yarn_probe_clock_take(struct yarn_session *session, uint32_t number)
{
    uint32_t first = yarn_group_first(session, number);
    if (session->report.attachment != &yarn_attach_per_core || session->spec->clock_refusal)
        return -ETIME;
    for (uint32_t i = first; i < yarn_group_end(session, first); i++)
        own_clock(&session->specs[i]);
    return -ERESTART;
}
