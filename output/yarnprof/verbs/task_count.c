/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/verbs/task_count.h"

#include <math.h>

#include "core/sys/file.h"
#include "core/sys/perf.h"
#include "core/sys/process.h"

enum { CPUS_MAX = 8192, ARENA_BYTES = 1 << 20 };

static int open_ring(struct yarn_task_ring *ring, pid_t pid, int cpu)
{
    struct perf_event_mmap_page *page;
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attr,
        .config = PERF_COUNT_SW_DUMMY,
        .sample_period = 1,
        .disabled = 1,
        .inherit = 1,
        .enable_on_exec = 1,
        .exclude_kernel = 1,
        .task = 1,
    };
    int fd = yarn_perf_open(&attr, pid, cpu, -1);
    if (fd < 0)
        return fd;
    int err = yarn_perf_map(fd, YARN_TASK_RING_BYTES, &page);
    if (err) {
        yarn_file_close(fd);
        return err;
    }
    const uint8_t *data = (const uint8_t *)page + page->data_offset;
    *ring = (struct yarn_task_ring){fd, yarn_ring_of(page, data, YARN_TASK_RING_BYTES)};
    return 0;
}

static int open_rings(struct yarn_task_count *count, pid_t pid)
{
    int *cpus = YARN_ARENA_NEW(&count->arena, int, CPUS_MAX);
    count->rings = YARN_ARENA_NEW(&count->arena, struct yarn_task_ring, CPUS_MAX);
    if (!cpus || !count->rings)
        return -ENOMEM;
    size_t nr_cpus = yarn_process_online_cpus(cpus, CPUS_MAX);
    int err = nr_cpus ? 0 : -ENODEV;
    for (size_t i = 0; i < nr_cpus && !err; i++) {
        err = open_ring(&count->rings[i], pid, cpus[i]);
        count->nr_rings += !err;
    }
    return err;
}

void yarn_task_count_open(struct yarn_task_count *count, pid_t pid)
{
    *count = YARN_TASK_COUNT_CLOSED;
    yarn_arena_open(&count->arena, ARENA_BYTES);
    count->all = 1;
    count->is_unknown = open_rings(count, pid);
}

static void drain(struct yarn_task_count *count, struct yarn_ring *ring)
{
    struct perf_event_header header;
    struct yarn_wrapped record;
    enum yarn_ring_next next;
    yarn_ring_begin(ring);
    while ((next = yarn_ring_peek(ring, &header, &record)) == YARN_RING_RECORD) {
        count->all += header.type == PERF_RECORD_FORK;
        count->ended += header.type == PERF_RECORD_EXIT;
        count->is_unknown |= header.type == PERF_RECORD_LOST;
        yarn_ring_take(ring, &header);
    }
    count->is_unknown |= next == YARN_RING_BROKEN;
    yarn_ring_commit(ring);
}

void yarn_task_count_poll(struct yarn_task_count *count)
{
    for (size_t i = 0; i < count->nr_rings; i++)
        drain(count, &count->rings[i].ring);
}

double yarn_task_count_all(struct yarn_task_count *count)
{
    yarn_task_count_poll(count);
    return count->is_unknown ? NAN : (double)count->all;
}

double yarn_task_count_end_stretch(struct yarn_task_count *count)
{
    double in_stretch = yarn_task_count_all(count) - (double)count->ended_before;
    count->ended_before = count->ended;
    return in_stretch;
}

void yarn_task_count_close(struct yarn_task_count *count)
{
    for (size_t i = 0; i < count->nr_rings; i++) {
        yarn_perf_unmap(count->rings[i].ring.page, YARN_TASK_RING_BYTES);
        yarn_file_close(count->rings[i].fd);
    }
    yarn_arena_close(&count->arena);
    *count = YARN_TASK_COUNT_CLOSED;
}
