/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/switches.h"

#include "core/session/probe.h"
#include "core/session/session.h"
#include "core/sys/perf.h"

void yarn_switches_give_up(struct yarn_session *session, const char *reason)
{
    session->switches.reason = reason;
}

int yarn_switches_open(struct yarn_session *session, pid_t tid, int cpu,
                       struct yarn_event *ret_event)
{
    struct yarn_attr_options options = {.features = session->report.features};
    struct perf_event_attr attr = yarn_attr_of_switches(&options);
    return yarn_event_open(ret_event, &attr, (uint32_t)session->spec->nr_events, tid, cpu);
}

bool yarn_session_records_switches(const struct yarn_session *session)
{
    return yarn_switches_are_recorded(session) && session->switches.is_open;
}

const char *yarn_session_switches_refusal(const struct yarn_session *session)
{
    if (session->switches.reason)
        return session->switches.reason;
    if (session->switches.is_open)
        return NULL;
    return session->timer ? "the timer sampler has no switch records"
                          : "this strategy has no switch records";
}

/* By the tracepoints of YARN_SCHED. */
static uint64_t tracepoints_lost(const struct yarn_session *session)
{
    uint64_t lost = 0;
    for (uint32_t i = 0; i < session->spec->nr_events; i++)
        if (session->specs[i].spec.is_scheduling && !session->specs[i].error &&
            yarn_session_can_count(session, i))
            lost += yarn_session_count(session, i).lost;
    return lost;
}

uint64_t yarn_session_switches_lost(const struct yarn_session *session)
{
    uint64_t lost = session->switches.lost_before + tracepoints_lost(session);
    struct yarn_perf_count count;
    for (size_t i = 0; session->switches.is_open && i < session->nr_events; i++)
        if (yarn_switches_is_of(session, &session->events[i]) &&
            !yarn_event_count(&session->events[i], &count))
            lost += count.lost;
    return lost;
}
