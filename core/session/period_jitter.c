/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/period_jitter.h"

#include "core/session/switch_event.h"
#include "core/sys/clock.h"
#include "core/sys/perf.h"

/* Multiples of the golden ratio fall evenly on a circle: neighbours in time are far apart, and no
 * part comes again. In 1024ths. */
enum { GOLDEN = 633, CIRCLE = 1024, WHOLE = 1024, LEAST = 922, RANGE = 205, ENOUGH_SAMPLES = 64 };

static uint64_t period_of(const struct yarn_session *session, uint32_t number)
{
    return yarn_record_fixed_period(&session->merge.decoder.attrs[number]);
}

void yarn_period_jitter_change(struct yarn_period_jitter *jitter, struct yarn_session *session,
                               enum yarn_side side, const struct yarn_event *events,
                               size_t nr_events, bool is_over)
{
    bool has_part = jitter->part && jitter->part != WHOLE;
    if (is_over ? !has_part : jitter->nr_samples < ENOUGH_SAMPLES)
        return;
    jitter->former = jitter->part ? jitter->part : WHOLE;
    jitter->part = WHOLE;
    if (!is_over)
        jitter->part = LEAST + RANGE * (++jitter->step * GOLDEN % CIRCLE) / CIRCLE;
    jitter->at_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    jitter->nr_samples = 0;
    for (size_t i = 0; i < nr_events; i++) {
        uint32_t number = events[i].number;
        if (yarn_switches_is_of(&events[i]) || yarn_alternates_side(session, number) != side ||
            !yarn_plan_may_vary(&session->statuses[number].spec))
            continue;
        yarn_perf_set_period(events[i].fd, period_of(session, number) * jitter->part / WHOLE);
        session->dropped_ns += period_of(session, number);
    }
}

uint64_t yarn_period_jitter_weigh(struct yarn_period_jitter *jitter,
                                  const struct yarn_session *session,
                                  const struct yarn_typed_record *record)
{
    uint64_t period = period_of(session, record->event);
    jitter->nr_samples++;
    /* A thread that inherited it meanwhile says its own. */
    if (!jitter->part || record->perf.period != period ||
        !yarn_plan_may_vary(&session->statuses[record->event].spec))
        return record->perf.period;
    return period * (record->perf.time >= jitter->at_ns ? jitter->part : jitter->former) / WHOLE;
}
