/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/session.h"
#include "core/session/switch_event.h"
#include "core/session/switches.h"

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

/* Of its tracepoints: the most that one of them has. */
static enum yarn_sched_kind tracepoints_of(const struct yarn_session *session,
                                           const char **ret_reason)
{
    enum yarn_sched_kind kind = YARN_SCHED_OFF;
    *ret_reason = "there are no tracepoints of the scheduler here, or no room for them behind "
                  "YARN_EVENTS";
    for (size_t i = 0; i < session->request->nr_events; i++) {
        const struct yarn_event_status *event = &session->statuses[i];
        if (event->spec.is_scheduling && event->reason)
            *ret_reason = event->reason;
        if (event->spec.is_scheduling && !event->error && kind != YARN_SCHED_TRACEPOINTS_ALL)
            kind = event->spec.is_of_machine ? YARN_SCHED_TRACEPOINTS_ALL : YARN_SCHED_TRACEPOINTS;
    }
    return kind;
}

struct yarn_sched yarn_session_sched(const struct yarn_session *session,
                                     const struct yarn_sched *asked, const char **ret_reason)
{
    struct yarn_sched got = *asked;
    const char *reason = NULL;
    bool has_switches = asked->kind != YARN_SCHED_OFF && yarn_session_records_switches(session);
    if (asked->kind >= YARN_SCHED_TRACEPOINTS)
        got.kind = tracepoints_of(session, &reason);
    if (got.kind <= YARN_SCHED_SWITCH || asked->kind < YARN_SCHED_TRACEPOINTS)
        got.kind = has_switches ? YARN_SCHED_SWITCH : YARN_SCHED_OFF;
    if (got.kind == YARN_SCHED_OFF && asked->kind != YARN_SCHED_OFF && !reason)
        reason = yarn_session_switches_refusal(session);
    bool is_auto = asked->kind == YARN_SCHED_AUTO;
    bool is_as_asked = got.kind == (is_auto ? YARN_SCHED_TRACEPOINTS_ALL : asked->kind);
    *ret_reason = is_as_asked ? NULL : reason;
    return got;
}

/* Of tracepoints, too, where YARN_SCHED is recorded by them. */
uint64_t yarn_session_switches_lost(const struct yarn_session *session)
{
    uint64_t lost = yarn_switches_lost(session);
    for (uint32_t i = 0; i < session->request->nr_events; i++)
        if (session->statuses[i].spec.is_scheduling && !session->statuses[i].error &&
            yarn_session_can_count(session))
            lost += yarn_session_count(session, i).lost;
    return lost;
}
