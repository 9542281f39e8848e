/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/control/schedule.h"

bool yarn_schedule_begin(struct yarn_schedule *schedule, const struct yarn_options *options,
                         uint64_t start_ns)
{
    *schedule = (struct yarn_schedule){.duration_ns = options->duration_ns};
    if (options->start == YARN_START_OFF)
        return true;
    if (options->delay_ns) {
        schedule->start_at_ns = start_ns + options->delay_ns;
        return true;
    }
    yarn_schedule_started(schedule, start_ns);
    return false;
}

void yarn_schedule_started(struct yarn_schedule *schedule, uint64_t now_ns)
{
    schedule->start_at_ns = 0;
    schedule->stop_at_ns = schedule->duration_ns ? now_ns + schedule->duration_ns : 0;
}

void yarn_schedule_stopped(struct yarn_schedule *schedule)
{
    schedule->start_at_ns = 0;
    schedule->stop_at_ns = 0;
}

uint64_t yarn_schedule_wait_ns(const struct yarn_schedule *schedule, uint64_t now_ns,
                               uint64_t timeout_ns)
{
    uint64_t next_ns = schedule->start_at_ns ? schedule->start_at_ns : schedule->stop_at_ns;
    if (!next_ns)
        return timeout_ns;
    return yarn_u64_min(timeout_ns, yarn_u64_minus(next_ns, now_ns));
}
