/* SPDX-License-Identifier: Apache-2.0 */
#include "core/event/event.h"

#include "core/sys/file.h"

static int open_event(struct yarn_event *event, const struct perf_event_attr *attr, uint32_t number,
                      pid_t tid, int cpu, int group)
{
    struct perf_event_attr asked = *attr; /* the kernel writes its own size into it on E2BIG */
    uint64_t id;
    int fd = yarn_perf_open(&asked, tid, cpu, group);
    if (fd < 0)
        return fd;
    int err = yarn_perf_id(fd, &id);
    if (err) {
        yarn_file_close(fd);
        return err;
    }
    *event = (struct yarn_event){
        .number = number,
        .id = id,
        .tid = tid,
        .cpu = cpu,
        .fd = fd,
        .read_format = attr->read_format,
    };
    return 0;
}

int yarn_event_open(struct yarn_event *event, const struct perf_event_attr *attr, uint32_t number,
                    pid_t tid, int cpu)
{
    return open_event(event, attr, number, tid, cpu, -1);
}

int yarn_event_open_member(struct yarn_event *event, const struct perf_event_attr *attr,
                           uint32_t number, const struct yarn_event *leader)
{
    return open_event(event, attr, number, leader->tid, leader->cpu, leader->fd);
}

int yarn_event_redirect(const struct yarn_event *event, const struct yarn_event *leader)
{
    return yarn_perf_set_output(event->fd, leader->fd);
}

int yarn_event_map(const struct yarn_event *event, size_t data_bytes,
                   struct perf_event_mmap_page **ret_page)
{
    int err = yarn_perf_map(event->fd, data_bytes, ret_page);
    return err == -EPERM ? -ENOMEM : err;
}

int yarn_event_count(const struct yarn_event *event, struct yarn_perf_count *ret_count)
{
    return yarn_perf_read(event->fd, event->read_format, event->id, ret_count);
}

void yarn_event_add_count(const struct yarn_event *event, struct yarn_perf_count *sum)
{
    struct yarn_perf_count one;
    if (!yarn_event_is_open(event) || yarn_event_count(event, &one))
        return;
    sum->count += one.count;
    sum->time_enabled_ns += one.time_enabled_ns;
    sum->time_running_ns += one.time_running_ns;
    sum->lost += one.lost;
    sum->is_in_error |= one.is_in_error;
}

void yarn_event_close(struct yarn_event *event)
{
    yarn_file_close(event->fd);
    *event = YARN_EVENT_CLOSED;
}

void yarn_events_close(struct yarn_event *events, size_t *count, size_t kept)
{
    while (*count > kept)
        yarn_event_close(&events[--*count]);
}
