/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * perf_event_open(2), its ioctls and its ring's mapping, by raw call. Knows the calls; does not
 * know what is measured (core/event) or what the records mean (core/record).
 * Threads, signals: safe anywhere.
 */
#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

#include "core/base/base.h"

/* A close-on-exec descriptor or a negative errno. tid 0: the calling thread; cpu -1: every cpu;
 * group: the descriptor of the leader, -1: none. */
YARN_MUST_CHECK int yarn_perf_open(struct perf_event_attr *attr, pid_t tid, int cpu, int group);

YARN_MUST_CHECK int yarn_perf_id(int fd, uint64_t *ret_id);
int yarn_perf_enable(int fd);
int yarn_perf_disable(int fd);
static inline int yarn_perf_turn(int fd, bool is_on)
{
    return is_on ? yarn_perf_enable(fd) : yarn_perf_disable(fd);
}

/* Which of a tracepoint's hits count, in tracefs' words; of the threads that inherit it, too. */
YARN_MUST_CHECK int yarn_perf_set_filter(int fd, const char *filter);

/* A BPF program (yarn_bpf_load) that the kernel runs at each sample of fd, and of threads that
 * inherit it: where it says 0 there is none. */
YARN_MUST_CHECK int yarn_perf_set_program(int fd, int program);

/* The events of fd go into the mapped ring of leader_fd from now on. */
YARN_MUST_CHECK int yarn_perf_set_output(int fd, int leader_fd);
/* Into no ring, which takes no time; the next one takes none either once some ms have passed. */
void yarn_perf_detach(int fd);

/* Of this object alone: of what threads have inherited none changes (KF 23). */
void yarn_perf_set_period(int fd, uint64_t period);

struct yarn_perf_count {
    uint64_t count;
    uint64_t time_enabled_ns, time_running_ns;
    uint64_t lost;    /* samples; 0 where the kernel does not count them */
    bool is_in_error; /* it reads as the end of a file: pinned, and there was no counter for it */
};
/* With inherited children. `read_format` as it was asked for: both times, and perhaps LOST, ID and
 * GROUP, of which that with the `id` is returned. At the end of the file the count is 0 and in
 * error. -ENODATA: shorter than that format. */
YARN_MUST_CHECK int yarn_perf_read(int fd, uint64_t read_format, uint64_t id,
                                   struct yarn_perf_count *ret_count);

/* The same of a group's leader, of all of it at once: as they were opened, at most
 * YARN_PERF_GROUP_MAX. `read_format` has GROUP. */
enum { YARN_PERF_GROUP_MAX = 64 };
YARN_MUST_CHECK int yarn_perf_read_group(int fd, uint64_t read_format,
                                         struct yarn_perf_count *ret_counts, size_t count);

/* The control page followed by data_bytes (a power of two) of ring. -EPERM: the memlock limit. */
YARN_MUST_CHECK int yarn_perf_map(int fd, size_t data_bytes,
                                  struct perf_event_mmap_page **ret_page);
void yarn_perf_unmap(struct perf_event_mmap_page *page, size_t data_bytes);

/* Waits for descriptors; as poll(2) with a time in ns. The number that are ready, 0 at the
 * time-out, or a negative errno. */
struct pollfd;
YARN_MUST_CHECK int yarn_perf_poll(struct pollfd *fds, size_t count, uint64_t timeout_ns);
