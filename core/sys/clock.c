/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sys/clock.h"

#include <sys/syscall.h>
#include <time.h>

#include "core/base/raw.h"

static const clockid_t kernel_clock[YARN_TIME_COUNT] = {
    [YARN_TIME_MONOTONIC] = CLOCK_MONOTONIC,
    [YARN_TIME_MONOTONIC_RAW] = CLOCK_MONOTONIC_RAW,
    [YARN_TIME_BOOTTIME] = CLOCK_BOOTTIME,
    [YARN_TIME_REALTIME] = CLOCK_REALTIME,
    [YARN_TIME_THREAD_CPU] = CLOCK_THREAD_CPUTIME_ID,
    [YARN_TIME_PROCESS_CPU] = CLOCK_PROCESS_CPUTIME_ID,
};

uint64_t yarn_clock_ns(enum yarn_time_source clock)
{
    struct timespec now;
    long result = yarn_raw_call(SYS_clock_gettime, kernel_clock[clock], (long)&now, 0, 0, 0, 0);
    if (yarn_raw_is_error(result))
        return 0;
    return (uint64_t)now.tv_sec * YARN_NS_PER_SECOND + (uint64_t)now.tv_nsec;
}
