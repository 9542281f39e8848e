/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/switch_event.h"

#include "core/sys/perf.h"

void yarn_switches_give_up(struct yarn_session *session, const char *reason)
{
    session->switches.reason = reason;
}

int yarn_switches_open(struct yarn_session *session, pid_t tid, int cpu,
                       struct yarn_event *ret_event)
{
    struct yarn_attr_options options = {
        .features = session->report.features,
        .is_single = session->threads != NULL,
    };
    struct perf_event_attr attr = yarn_attr_of_switches(&options);
    return yarn_event_open(ret_event, &attr, (uint32_t)session->spec->nr_events, tid, cpu);
}
