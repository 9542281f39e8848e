/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sys/perf.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

#include "core/base/address.h"
#include "core/base/pages.h"
#include "core/base/raw.h"
#include "core/sys/file.h"
#include "core/sys/own_files.h"

enum { PAGE_BYTES = 4096 };

static int open_event(struct perf_event_attr *attr, pid_t tid, int cpu)
{
    long result;
    do
        result =
            yarn_raw_call(SYS_perf_event_open, (long)attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC, 0);
    while (result == -EINTR);
    return (int)result;
}

int yarn_perf_open(struct perf_event_attr *attr, pid_t tid, int cpu)
{
    int fd = open_event(attr, tid, cpu);
    if (!yarn_own_files_is_reserved(fd))
        return fd;
    yarn_file_close(fd);
    int err = yarn_own_files_hold();
    return err ? err : open_event(attr, tid, cpu);
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

void yarn_perf_enable_own(void)
{
    yarn_raw_call(SYS_prctl, PR_TASK_PERF_EVENTS_ENABLE, 0, 0, 0, 0, 0);
}

void yarn_perf_disable_own(void)
{
    yarn_raw_call(SYS_prctl, PR_TASK_PERF_EVENTS_DISABLE, 0, 0, 0, 0, 0);
}

int yarn_perf_set_output(int fd, int leader_fd)
{
    return control(fd, PERF_EVENT_IOC_SET_OUTPUT, leader_fd);
}

int yarn_perf_read(int fd, bool has_lost, struct yarn_perf_count *ret_count)
{
    uint64_t value[4] = {0};
    long wanted = (long)sizeof value - (has_lost ? 0 : 8);
    long result = yarn_raw_call(SYS_read, fd, (long)value, wanted, 0, 0, 0);
    if (yarn_raw_is_error(result))
        return (int)result;
    if (result != wanted)
        return -ENODATA;
    *ret_count = (struct yarn_perf_count){
        .count = value[0],
        .time_enabled_ns = value[1],
        .time_running_ns = value[2],
        .lost = value[3],
    };
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
