/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/fake_perf.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/sys/clock.h"
#include "core/sys/process.h"

enum { FDS_MAX = 4096, PAGE_BYTES = 4096 };

static struct fake_perf_event events[FDS_MAX]; /* by descriptor */
static uint64_t last_id;

int (*fake_perf_judge)(const struct fake_perf_event *event);
struct yarn_perf_count (*fake_perf_count)(const struct fake_perf_event *event);

/* Closed by its owner as the file that it is. */
static bool is_open(const struct fake_perf_event *event)
{
    return event->is_open && fcntl((int)(event - events), F_GETFD) >= 0;
}

void fake_perf_reset(void)
{
    for (int fd = 0; fd < FDS_MAX; fd++)
        if (is_open(&events[fd]))
            close(fd);
    memset(events, 0, sizeof events);
    fake_perf_judge = NULL;
    fake_perf_count = NULL;
}

static bool have_one_clock(const struct fake_perf_event *one, const struct fake_perf_event *other)
{
    return one->attr.use_clockid == other->attr.use_clockid &&
           one->attr.clockid == other->attr.clockid;
}

const struct fake_perf_event *fake_perf_next(const struct fake_perf_event *event)
{
    for (event = event ? event + 1 : events; event < events + FDS_MAX; event++)
        if (is_open(event) &&
            !(event->attr.type == PERF_TYPE_SOFTWARE && event->attr.config == PERF_COUNT_SW_DUMMY))
            return event;
    return NULL;
}

int yarn_perf_open(struct perf_event_attr *attr, pid_t tid, int cpu, int group)
{
    struct fake_perf_event event = {
        .attr = *attr, .tid = tid, .cpu = cpu, .group = group, .is_open = true};
    int err = fake_perf_judge ? fake_perf_judge(&event) : 0;
    if (!err && group >= 0 && !have_one_clock(&event, &events[group]))
        err = -EINVAL;
    if (err)
        return err;
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fd >= FDS_MAX)
        abort();
    event.id = ++last_id;
    events[fd] = event;
    return fd;
}

int yarn_perf_id(int fd, uint64_t *ret_id)
{
    *ret_id = events[fd].id;
    return 0;
}

int yarn_perf_enable(int fd)
{
    events[fd].is_enabled = true;
    return 0;
}

int yarn_perf_disable(int fd)
{
    events[fd].is_enabled = false;
    return 0;
}

int yarn_perf_set_filter(int fd, const char *filter)
{
    events[fd].filter = filter;
    return events[fd].attr.type == PERF_TYPE_TRACEPOINT ? 0 : -EINVAL;
}

int yarn_perf_set_program(int fd, int program)
{
    events[fd].program = program;
    return 0;
}

int yarn_perf_set_output(int fd, int leader_fd)
{
    if (!have_one_clock(&events[fd], &events[leader_fd]))
        return -EINVAL;
    return 0;
}

void yarn_perf_detach(int fd)
{
    (void)fd;
}

void yarn_perf_set_period(int fd, uint64_t period)
{
    events[fd].attr.sample_period = period;
}

int yarn_perf_read(int fd, uint64_t read_format, uint64_t id, struct yarn_perf_count *ret_count)
{
    (void)read_format;
    (void)id;
    *ret_count = fake_perf_count ? fake_perf_count(&events[fd]) : (struct yarn_perf_count){0};
    return 0;
}

int yarn_perf_read_group(int fd, uint64_t read_format, struct yarn_perf_count *ret_counts,
                         size_t count)
{
    (void)fd;
    (void)read_format;
    (void)ret_counts;
    (void)count;
    return -ENODATA;
}

int yarn_perf_map(int fd, size_t data_bytes, struct perf_event_mmap_page **ret_page)
{
    struct perf_event_mmap_page *page = aligned_alloc(PAGE_BYTES, PAGE_BYTES + data_bytes);
    if (!page)
        return -ENOMEM;
    memset(page, 0, PAGE_BYTES);
    page->data_offset = PAGE_BYTES;
    page->data_size = data_bytes;
    *ret_page = page;
    events[fd].page = page;
    return 0;
}

static bool write_into(struct perf_event_mmap_page *ring, const void *record, size_t size)
{
    if (!ring || ring->data_head - ring->data_tail + size > ring->data_size)
        return false;
    uint8_t *data = (uint8_t *)ring + ring->data_offset;
    for (size_t i = 0; i < size; i++)
        data[(ring->data_head + i) % ring->data_size] = ((const uint8_t *)record)[i];
    ring->data_head += size;
    return true;
}

bool fake_perf_write(const void *record, size_t size)
{
    const struct fake_perf_event *latest = NULL;
    for (int fd = 0; fd < FDS_MAX; fd++)
        if (events[fd].page && (!latest || events[fd].id > latest->id))
            latest = &events[fd];
    return latest && write_into(latest->page, record, size);
}

void yarn_perf_unmap(struct perf_event_mmap_page *page, size_t data_bytes)
{
    (void)data_bytes;
    for (int fd = 0; page && fd < FDS_MAX; fd++)
        if (events[fd].page == page)
            events[fd].page = NULL;
    free(page);
}

int yarn_perf_poll(struct pollfd *fds, size_t count, uint64_t timeout_ns)
{
    (void)fds;
    (void)count;
    (void)timeout_ns;
    return 0;
}
