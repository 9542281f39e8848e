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

static uint64_t read_clock(long clock)
{
    struct timespec now;
    long result = yarn_raw_call(SYS_clock_gettime, clock, (long)&now, 0, 0, 0, 0);
    if (yarn_raw_is_error(result))
        return 0;
    return (uint64_t)now.tv_sec * YARN_NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

uint64_t yarn_clock_ns(enum yarn_time_source clock)
{
    return read_clock(kernel_clock(clock));
}

/* The kernel's own numbers for CPU clocks: all bits above the lowest three stand for the caller. */
enum { OF_ALL = -8, OF_USER_MODE = -7, OF_THREAD = 4 };

static uint64_t ticks_of_others(long clock)
{
    uint64_t own = read_clock(clock | OF_THREAD), whole = read_clock(clock);
    return whole > own ? whole - own : 0;
}

struct yarn_ticks yarn_clock_ticks_of_others(void)
{
    uint64_t user_ns = ticks_of_others(OF_USER_MODE), all_ns = ticks_of_others(OF_ALL);
    return (struct yarn_ticks){all_ns, all_ns > user_ns ? all_ns - user_ns : 0};
}
