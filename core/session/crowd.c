/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/crowd.h"

#include "core/sys/clock.h"
#include "core/sys/process.h"

enum { A_CORE = 8 };
#define LOOK_NS (100 * YARN_NS_PER_MS)

bool yarn_crowd_waits(struct yarn_session *session, uint64_t now_ns)
{
    struct yarn_crowd *crowd = &session->crowd;
    if (crowd->waits && now_ns < crowd->look_ns)
        return true;
    crowd->waits = yarn_process_nr_runnable() > A_CORE * session->nr_cpus;
    crowd->look_ns = now_ns + LOOK_NS;
    return crowd->waits;
}

bool yarn_crowd_is_host(struct yarn_session *session, uint64_t now_ns)
{
    if (session->nr_births <= A_CORE * session->nr_cpus)
        return false;
    return now_ns < session->crowd.look_ns ? session->crowd.waits
                                           : yarn_crowd_waits(session, now_ns);
}

void yarn_crowd_after_drain(struct yarn_session *session)
{
    struct yarn_crowd *crowd = &session->crowd;
    bool is_host = session->request->may_set_turns &&
                   yarn_crowd_is_host(session, yarn_clock_ns(YARN_TIME_MONOTONIC));
    if (is_host != crowd->has_long_turns)
        yarn_process_take_short_turns(!is_host);
    crowd->has_long_turns = is_host;
}
