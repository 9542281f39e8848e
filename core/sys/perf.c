/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sys/perf.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "core/base/pages.h"
#include "core/base/raw.h"
#include "core/sys/file.h"
#include "core/sys/own_files.h"

enum { PAGE_BYTES = 4096, GROUP_MAX = YARN_PERF_GROUP_MAX, OPEN_TRIES = 100 };

static int open_event(struct perf_event_attr *attr, pid_t tid, int cpu, int group)
{
    long result = -EINTR;
    /* Why not for ever: EINTR is also what a probe is refused with that ftrace has, too. */
    for (int i = 0; i < OPEN_TRIES && result == -EINTR; i++)
        result = yarn_raw_call(SYS_perf_event_open, (long)attr, tid, cpu, group,
                               PERF_FLAG_FD_CLOEXEC, 0);
    return (int)result;
}

int yarn_perf_open(struct perf_event_attr *attr, pid_t tid, int cpu, int group)
{
    int fd = open_event(attr, tid, cpu, group);
    if (!yarn_own_files_is_reserved(fd))
        return fd;
    yarn_file_close(fd);
    int err = yarn_own_files_hold();
    return err ? err : open_event(attr, tid, cpu, group);
}

static int control(int fd, unsigned long request, long argument)
{
    long result = yarn_raw_call(SYS_ioctl, fd, (long)request, argument, 0, 0, 0);
    return yarn_raw_is_error(result) ? (int)result : 0;
}

int yarn_perf_id(int fd, uint64_t *ret_id)
{
    return control(fd, PERF_EVENT_IOC_ID, (long)ret_id);
}

int yarn_perf_enable(int fd)
{
    return control(fd, PERF_EVENT_IOC_ENABLE, 0);
}

int yarn_perf_disable(int fd)
{
    return control(fd, PERF_EVENT_IOC_DISABLE, 0);
}

int yarn_perf_set_filter(int fd, const char *filter)
{
    return control(fd, PERF_EVENT_IOC_SET_FILTER, (long)filter);
}

int yarn_perf_set_program(int fd, int program)
{
    return control(fd, PERF_EVENT_IOC_SET_BPF, program);
}

int yarn_perf_set_output(int fd, int leader_fd)
{
    return control(fd, PERF_EVENT_IOC_SET_OUTPUT, leader_fd);
}

void yarn_perf_detach(int fd)
{
    control(fd, PERF_EVENT_IOC_SET_OUTPUT, -1);
}

void yarn_perf_set_period(int fd, uint64_t period)
{
    control(fd, PERF_EVENT_IOC_PERIOD, (long)&period);
}

/* Where a group's reading has the one of that id; the first where it states no ids. */
static size_t place_of(const uint64_t *values, size_t nr_values, uint64_t read_format, uint64_t id)
{
    size_t each = read_format & PERF_FORMAT_LOST ? 3 : 2;
    if (!(read_format & PERF_FORMAT_ID))
        return 3;
    for (size_t at = 3; at + each <= nr_values; at += each)
        if (values[at + 1] == id)
            return at;
    return 3;
}

/* Of a group: how many, the times, and each one's value, ID and LOST; of one event the value comes
 * first. */
int yarn_perf_read(int fd, uint64_t read_format, uint64_t id, struct yarn_perf_count *ret_count)
{
    uint64_t value[3 + 3 * GROUP_MAX];
    bool is_group = read_format & PERF_FORMAT_GROUP;
    size_t value_at = is_group ? 3 : 0, lost_at = is_group ? 4 : 3;
    lost_at += !!(read_format & PERF_FORMAT_ID);
    bool has_lost = read_format & PERF_FORMAT_LOST;
    size_t least = has_lost ? lost_at + 1 : is_group ? lost_at : 3;
    size_t size = is_group ? sizeof value : least * sizeof value[0];
    long result = yarn_raw_call(SYS_read, fd, (long)value, (long)size, 0, 0, 0);
    if (yarn_raw_is_error(result))
        return (int)result;
    if (result == 0) {
        *ret_count = (struct yarn_perf_count){.is_in_error = true};
        return 0;
    }
    if ((size_t)result < least * sizeof value[0])
        return -ENODATA;
    if (is_group) {
        size_t place = place_of(value, (size_t)result / sizeof value[0], read_format, id);
        lost_at += place - value_at;
        value_at = place;
    }
    *ret_count = (struct yarn_perf_count){
        .count = value[value_at],
        .time_enabled_ns = value[1],
        .time_running_ns = value[2],
        .lost = has_lost ? value[lost_at] : 0,
    };
    return 0;
}

int yarn_perf_read_group(int fd, uint64_t read_format, struct yarn_perf_count *ret_counts,
                         size_t count)
{
    uint64_t value[3 + 3 * GROUP_MAX];
    size_t lost_at = read_format & PERF_FORMAT_ID ? 2 : 1;
    size_t each = lost_at + !!(read_format & PERF_FORMAT_LOST);
    long result = yarn_raw_call(SYS_read, fd, (long)value, sizeof value, 0, 0, 0);
    if (yarn_raw_is_error(result))
        return (int)result;
    if (result && ((size_t)result < (3 + count * each) * sizeof value[0] || value[0] < count))
        return -ENODATA;
    for (size_t i = 0; i < count; i++) {
        const uint64_t *one = &value[3 + i * each];
        ret_counts[i] = (struct yarn_perf_count){.is_in_error = true};
        if (result)
            ret_counts[i] = (struct yarn_perf_count){
                .count = one[0],
                .time_enabled_ns = value[1],
                .time_running_ns = value[2],
                .lost = read_format & PERF_FORMAT_LOST ? one[lost_at] : 0,
            };
    }
    return 0;
}

int yarn_perf_map(int fd, size_t data_bytes, struct perf_event_mmap_page **ret_page)
{
    size_t size = PAGE_BYTES + data_bytes;
    if (!yarn_pages_take(size))
        return -ENOMEM;
    long result = yarn_raw_call(SYS_mmap, (long)yarn_address_next(size), (long)size,
                                PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (yarn_raw_is_error(result)) {
        yarn_pages_give(size);
        return (int)result;
    }
    *ret_page = (struct perf_event_mmap_page *)result;
    return 0;
}

void yarn_perf_unmap(struct perf_event_mmap_page *page, size_t data_bytes)
{
    if (!page)
        return;
    yarn_raw_call(SYS_munmap, (long)page, (long)(PAGE_BYTES + data_bytes), 0, 0, 0, 0);
    yarn_pages_give(PAGE_BYTES + data_bytes);
}

int yarn_perf_poll(struct pollfd *fds, size_t count, uint64_t timeout_ns)
{
    struct timespec timeout = {
        .tv_sec = (time_t)(timeout_ns / YARN_NS_PER_SECOND),
        .tv_nsec = (long)(timeout_ns % YARN_NS_PER_SECOND),
    };
    long result = yarn_raw_call(SYS_ppoll, (long)fds, (long)count, (long)&timeout, 0, 8, 0);
    return (int)result;
}
