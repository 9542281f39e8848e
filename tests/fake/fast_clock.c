/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * For LD_PRELOAD: a monotonic clock that runs a thousand times as fast, so that short work is long.
 */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { FASTER = 1000, NS = 1000000000 };

int clock_gettime(clockid_t clock, struct timespec *ret_time)
{
    int err = (int)syscall(SYS_clock_gettime, clock, ret_time);
    if (err || clock != CLOCK_MONOTONIC)
        return err;
    ret_time->tv_nsec *= FASTER;
    ret_time->tv_sec = ret_time->tv_sec * FASTER + ret_time->tv_nsec / NS;
    ret_time->tv_nsec %= NS;
    return 0;
}
