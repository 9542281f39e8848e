/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/account/thread_times.h"

#include "core/sys/clock.h"
#include "core/sys/process.h"
#include "core/sys/timer.h"

enum {
    READ_AT_ONCE = 256,
    AGE_SHARE = 128,
    COST_SHARE = 32,
};
#define LEAST_NS (20 * YARN_NS_PER_MS)
#define MOST_NS YARN_NS_PER_SECOND

static void read_one(struct yarn_thread_times *times, pid_t tid)
{
    struct yarn_thread_schedstat now;
    if (times->count == YARN_THREAD_TIMES_ROWS ||
        !yarn_target_thread_schedstat(times->session->request->target, tid, &now))
        return;
    times->rows[times->count++] = (struct yarn_dump_thread_time){
        .time_ns = yarn_clock_ns(YARN_TIME_MONOTONIC),
        .tid = (uint32_t)tid,
        .run_ns = now.run_ns,
        .wait_ns = now.wait_ns,
        .nr_runs = now.nr_runs,
    };
}

void yarn_thread_times_begin(struct yarn_thread_times *times, pid_t tid)
{
    read_one(times, tid);
    if (times->session->nr_threads <= 2) /* it and the reader */
        times->next_ns = yarn_clock_ns(YARN_TIME_MONOTONIC) + MOST_NS;
}

/* Nothing new is to be read of a thread whose clock stands where it stood. */
static bool has_rested(struct yarn_thread_times *times, pid_t tid)
{
    struct yarn_thread_time_seen now = {.tid = tid};
    struct yarn_thread_time_seen *seen = &times->seen[(size_t)tid % YARN_THREAD_TIMES_SEEN];
    const struct yarn_session_request *request = times->session->request;
    if (!yarn_target_thread_is_alive(request->target, request->pid, tid, &now.cpu_ns))
        return false;
    bool is_same = seen->tid == now.tid && seen->cpu_ns == now.cpu_ns;
    *seen = now;
    return is_same;
}

/* The next of those that were there at the round's begin. */
static void read_next(struct yarn_thread_times *times)
{
    size_t room = yarn_size_min(YARN_THREAD_TIMES_ROWS - times->count, READ_AT_ONCE);
    size_t end = times->count + room;
    while (times->next < times->nr_threads && times->count < end) {
        pid_t tid = times->tids[times->next++];
        if (!has_rested(times, tid))
            read_one(times, tid);
    }
}

static void begin_round(struct yarn_thread_times *times, uint64_t now_ns)
{
    size_t listed = yarn_session_list_threads(times->session, times->tids, YARN_THREAD_TIMES_MOST);
    if (listed != times->nr_threads)
        times->since_ns = now_ns;
    times->nr_threads = listed;
    times->next = 0;
}

void yarn_thread_times_read_due(struct yarn_thread_times *times, uint64_t now_ns)
{
    if (now_ns < times->next_ns)
        return;
    uint64_t begin_ns = yarn_clock_ns(YARN_TIME_THREAD_CPU);
    if (times->next == times->nr_threads)
        begin_round(times, now_ns);
    read_next(times);
    uint64_t cost_ns = yarn_u64_minus(yarn_clock_ns(YARN_TIME_THREAD_CPU), begin_ns);
    uint64_t pause_ns = yarn_u64_max((now_ns - times->since_ns) / AGE_SHARE, cost_ns * COST_SHARE);
    /* It ends when all ends, and is read then: from inside. */
    bool is_alone = times->nr_threads <= 1 && !times->session->request->follows_tree;
    times->next_ns =
        now_ns + (is_alone ? MOST_NS : yarn_u64_min(yarn_u64_max(pause_ns, LEAST_NS), MOST_NS));
}

static void write_rows(struct yarn_thread_times *times, struct yarn_dump_writer *writer)
{
    if (times->count)
        yarn_dump_write_thread_times(writer, times->rows, times->count);
    times->count = 0;
}

void yarn_thread_times_write(struct yarn_thread_times *times, struct yarn_dump_writer *writer,
                             bool is_last)
{
    write_rows(times, writer);
    if (!is_last)
        return;
    begin_round(times, 0);
    while (times->next < times->nr_threads) {
        if (times->count == YARN_THREAD_TIMES_ROWS)
            write_rows(times, writer);
        read_one(times, times->tids[times->next++]);
    }
    write_rows(times, writer);
}
