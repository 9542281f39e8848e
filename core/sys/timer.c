/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sys/timer.h"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>

#include "core/base/raw.h"

#define TICK_NS (4 * YARN_NS_PER_MS)

enum { CLOCK_SCHEDULED = 2, CLOCK_PER_THREAD_SCHEDULED = 6 };
enum { NOTIFY_THREAD = SIGEV_SIGNAL | SIGEV_THREAD_ID };

/* As the kernel has it; the C library names the thread's field only in later versions. */
struct kernel_sigevent {
    void *value;
    int32_t signal_number;
    int32_t notify;
    int32_t tid;
    int32_t unused[11];
};
_Static_assert(sizeof(struct kernel_sigevent) == 64, "the kernel reads 64 bytes");

/* The number that the kernel gives to a thread's CPU clock (clock_getcpuclockid(3)). */
static long clock_of(pid_t tid)
{
    return (long)(int)((~(uint32_t)tid << 3) | CLOCK_PER_THREAD_SCHEDULED);
}

static long clock_of_process(pid_t pid)
{
    return (long)(int)((~(uint32_t)pid << 3) | CLOCK_SCHEDULED);
}

static int open_on(long clock, pid_t tid, int signal_number, void *value, int *ret_timer)
{
    struct kernel_sigevent event = {
        .value = value,
        .signal_number = signal_number,
        .notify = NOTIFY_THREAD,
        .tid = tid,
    };
    int timer;
    long result = yarn_raw_call(SYS_timer_create, clock, (long)&event, (long)&timer, 0, 0, 0);
    if (yarn_raw_is_error(result))
        return (int)result;
    *ret_timer = timer;
    return 0;
}

int yarn_timer_open(pid_t tid, int signal_number, void *value, int *ret_timer)
{
    return open_on(clock_of(tid), tid, signal_number, value, ret_timer);
}

int yarn_timer_open_of_process(pid_t tid, int signal_number, int *ret_timer)
{
    return open_on(CLOCK_PROCESS_CPUTIME_ID, tid, signal_number, NULL, ret_timer);
}

static struct timespec timespec_of(uint64_t ns)
{
    return (struct timespec){
        .tv_sec = (time_t)(ns / YARN_NS_PER_SECOND),
        .tv_nsec = (long)(ns % YARN_NS_PER_SECOND),
    };
}

int yarn_timer_set(int timer, const struct yarn_timer_rate *rate)
{
    struct itimerspec value = {
        .it_value = timespec_of(rate->first_ns),
        .it_interval = timespec_of(rate->interval_ns),
    };
    long result = yarn_raw_call(SYS_timer_settime, timer, rate->is_from_birth ? TIMER_ABSTIME : 0,
                                (long)&value, 0, 0, 0);
    return (int)result;
}

static int read_clock(long clock, uint64_t *ret_ns)
{
    struct timespec used;
    long result = yarn_raw_call(SYS_clock_gettime, clock, (long)&used, 0, 0, 0, 0);
    if (yarn_raw_is_error(result))
        return (int)result;
    *ret_ns = (uint64_t)used.tv_sec * YARN_NS_PER_SECOND + (uint64_t)used.tv_nsec;
    return 0;
}

int yarn_timer_thread_cpu_ns(pid_t tid, uint64_t *ret_ns)
{
    return read_clock(clock_of(tid), ret_ns);
}

int yarn_timer_process_cpu_ns(pid_t pid, uint64_t *ret_ns)
{
    return read_clock(clock_of_process(pid), ret_ns);
}

int yarn_timer_own_cpu_ns(uint64_t *ret_ns)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID, ret_ns);
}

void yarn_timer_close(int timer)
{
    if (timer != YARN_TIMER_NONE)
        yarn_raw_call(SYS_timer_delete, timer, 0, 0, 0, 0, 0);
}

uint64_t yarn_timer_tick_ns(void)
{
    struct timespec tick = {0};
    long result = yarn_raw_call(SYS_clock_getres, CLOCK_MONOTONIC_COARSE, (long)&tick, 0, 0, 0, 0);
    if (result || tick.tv_sec || !tick.tv_nsec)
        return TICK_NS;
    return (uint64_t)tick.tv_nsec;
}
