/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sys/clock.h"

#include <sys/syscall.h>
#include <time.h>

#include "core/base/raw.h"

/* Why a number instead of a table: that would be in a page of its own, which each child after fork
 * would have to ask for. */
#define IN_PLACE(source, clock) ((uint64_t)(clock) << (4 * (source)))

static clockid_t kernel_clock(enum yarn_time_source source)
{
    const uint64_t clocks = IN_PLACE(YARN_TIME_MONOTONIC, CLOCK_MONOTONIC) |
                            IN_PLACE(YARN_TIME_MONOTONIC_RAW, CLOCK_MONOTONIC_RAW) |
                            IN_PLACE(YARN_TIME_BOOTTIME, CLOCK_BOOTTIME) |
                            IN_PLACE(YARN_TIME_REALTIME, CLOCK_REALTIME) |
                            IN_PLACE(YARN_TIME_THREAD_CPU, CLOCK_THREAD_CPUTIME_ID) |
                            IN_PLACE(YARN_TIME_PROCESS_CPU, CLOCK_PROCESS_CPUTIME_ID);
    return (clockid_t)(clocks >> (4 * source) & 15);
}

uint64_t yarn_clock_ns(enum yarn_time_source clock)
{
    struct timespec now;
    long result = yarn_raw_call(SYS_clock_gettime, kernel_clock(clock), (long)&now, 0, 0, 0, 0);
    if (yarn_raw_is_error(result))
        return 0;
    return (uint64_t)now.tv_sec * YARN_NS_PER_SECOND + (uint64_t)now.tv_nsec;
}
