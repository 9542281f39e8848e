/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sys/clock.h"

#include <sys/syscall.h>
#include <time.h>

#include "core/base/raw.h"
#include "core/sys/file.h"

enum { LINK_BYTES = 32, LIST_BYTES = 64 /* the first line */ };

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

static YARN_IN_DATA int64_t offset_ns; /* what the namespace adds to CLOCK_MONOTONIC */

uint64_t yarn_clock_ns(enum yarn_time_source clock)
{
    uint64_t now_ns = read_clock(kernel_clock(clock));
    return clock == YARN_TIME_MONOTONIC && now_ns ? now_ns - (uint64_t)offset_ns : now_ns;
}

/* "monotonic   -100   500000000" after the name: seconds and ns, of which the latter are >= 0. */
static int64_t parse_offset(struct yarn_span line)
{
    int64_t parts[2] = {0};
    size_t at = 0;
    for (size_t i = 0; i < YARN_COUNT_OF(parts); i++) {
        while (at < line.size && line.data[at] == ' ')
            at++;
        bool is_negative = at < line.size && line.data[at] == '-';
        for (at += is_negative; at < line.size && line.data[at] >= '0' && line.data[at] <= '9';
             at++)
            parts[i] = parts[i] * 10 + (line.data[at] - '0');
        parts[i] = is_negative ? -parts[i] : parts[i];
    }
    return parts[0] * (int64_t)YARN_NS_PER_SECOND + parts[1];
}

/* The list is of the namespace that children will be in, which is ours as a rule. */
static bool is_of_own_namespace(void)
{
    char own[LINK_BYTES], children[LINK_BYTES];
    ssize_t size = yarn_file_read_link(YARN_FILE_CWD, "/proc/self/ns/time", own, sizeof own);
    return size > 0 &&
           yarn_file_read_link(YARN_FILE_CWD, "/proc/self/ns/time_for_children", children,
                               sizeof children) == size &&
           memcmp(own, children, (size_t)size) == 0;
}

void yarn_clock_enter_namespace(void)
{
    static const char name[] = "monotonic";
    char text[LIST_BYTES];
    int fd = yarn_file_open(YARN_FILE_CWD, "/proc/self/timens_offsets");
    ssize_t size = fd < 0 ? fd : yarn_file_read(fd, text, sizeof text);
    yarn_file_close(fd < 0 ? -1 : fd);
    offset_ns = 0;
    if (size < (ssize_t)sizeof name || memcmp(text, name, sizeof name - 1) != 0)
        return;
    int64_t told_ns =
        parse_offset(yarn_span_of(text + sizeof name - 1, (size_t)size - sizeof name + 1));
    if (told_ns && is_of_own_namespace())
        offset_ns = told_ns;
}

/* The kernel's own numbers for CPU clocks: all bits above the lowest three stand for the caller. */
enum { OF_ALL = -8, OF_USER_MODE = -7, OF_THREAD = 4 };

uint64_t yarn_clock_cpu_ns_of_others(void)
{
    uint64_t process_ns = yarn_clock_ns(YARN_TIME_PROCESS_CPU);
    return yarn_u64_minus(process_ns, yarn_clock_ns(YARN_TIME_THREAD_CPU));
}

struct yarn_cpu_bounds yarn_clock_cpu_bounds_of_others(void)
{
    uint64_t before_ns = yarn_clock_ns(YARN_TIME_THREAD_CPU);
    uint64_t process_ns = yarn_clock_ns(YARN_TIME_PROCESS_CPU);
    uint64_t after_ns = yarn_clock_ns(YARN_TIME_THREAD_CPU);
    return (struct yarn_cpu_bounds){
        .least_ns = yarn_u64_minus(process_ns, after_ns),
        .most_ns = yarn_u64_minus(process_ns, before_ns),
    };
}

static uint64_t ticks_of_others(long clock)
{
    uint64_t own = read_clock(clock | OF_THREAD);
    return yarn_u64_minus(read_clock(clock), own);
}

struct yarn_ticks yarn_clock_ticks_of_others(void)
{
    uint64_t user_ns = ticks_of_others(OF_USER_MODE), all_ns = ticks_of_others(OF_ALL);
    return (struct yarn_ticks){all_ns, yarn_u64_minus(all_ns, user_ns)};
}
