/* SPDX-License-Identifier: Apache-2.0 */
#include <poll.h>

#include "core/session/attach.h"
#include "core/session/reader.h"
#include "core/sys/clock.h"
#include "core/sys/futex.h"

enum {
    LEADERS_MAX = 2048,
    PAUSE_MAX_NS = 2000000,
    PAUSE_SHARE = 8, /* of the time in which a ring fills */
    /* New threads a second from which waking by time is cheaper than being woken: each end of one
     * wakes the poller inside of the kernel, which costs it and the thread 3 to 4 us each.
     */
    BIRTHS_RATE = 200,
    BIRTHS_LEAST = 8,
};

static void watch(struct yarn_ring_reader *reader)
{
    const struct yarn_session *session = reader->session;
    struct pollfd *leaders = reader->fds + YARN_READER_FIRST_LEADER;
    size_t count = session->report.attachment->watched(session, leaders, LEADERS_MAX);
    reader->generation = session->watch_generation;
    reader->is_by_time = count == YARN_NOT_WATCHED;
    reader->nr_fds = YARN_READER_FIRST_LEADER + (reader->is_by_time ? 0 : count);
}

static int open_poll(struct yarn_ring_reader *reader)
{
    const struct yarn_session *session = reader->session;
    int err = yarn_reader_open_fds(reader, LEADERS_MAX);
    if (err)
        return err;
    watch(reader);
    reader->pause_ns = yarn_u64_min(
        yarn_plan_fill_ns(session->spec, &session->report.got) / PAUSE_SHARE, PAUSE_MAX_NS);
    return 0;
}

/* A leader that hung up would end every poll at once: it leaves the set, its ring is drained by
 * time. */
static void drop_dead(struct yarn_ring_reader *reader)
{
    for (size_t i = YARN_READER_FIRST_LEADER; i < reader->nr_fds; i++)
        if (reader->fds[i].revents & (POLLHUP | POLLERR | POLLNVAL))
            reader->fds[i].fd = -1;
}

/* Before the first wait nothing is known, and threads are mostly made at the start: those that
 * inherit do not need the reader. */
static bool threads_come_and_go(struct yarn_ring_reader *reader, uint64_t now_ns)
{
    uint64_t nr_births = reader->session->nr_births - reader->nr_births_seen;
    uint64_t passed_ns = now_ns - reader->births_ns;
    reader->nr_births_seen += nr_births;
    reader->births_ns = now_ns;
    return (passed_ns == now_ns && !reader->session->threads) ||
           (nr_births >= BIRTHS_LEAST && nr_births * YARN_NS_PER_SECOND / BIRTHS_RATE >= passed_ns);
}

static void wait_by_time(struct yarn_ring_reader *reader, uint64_t timeout_ns)
{
    uint64_t longest_ns = yarn_plan_timed_ns(reader->session->spec, &reader->session->report.got);
    yarn_reader_sleep(reader, yarn_u64_min(timeout_ns, longest_ns));
}

static void wait_poll(struct yarn_ring_reader *reader, uint64_t timeout_ns)
{
    uint64_t taken_ns;
    /* Where cores have the clocks, no thread's end wakes anybody. */
    bool is_churn = threads_come_and_go(reader, yarn_clock_ns(YARN_TIME_MONOTONIC)) &&
                    !reader->session->wide.events;
    if (reader->generation != reader->session->watch_generation)
        watch(reader);
    if (reader->session->soon_ns)
        timeout_ns = yarn_u64_min(timeout_ns, reader->session->soon_ns);
    if (is_churn || reader->is_by_time) {
        wait_by_time(reader, timeout_ns);
        return;
    }
    if (!yarn_reader_await(reader, timeout_ns, &taken_ns))
        return;
    drop_dead(reader);
    reader->woke_early = true;
    /* Why: each inherited event that ends wakes the leader, so a host that makes many short
     * threads would have this loop spin. */
    uint64_t pause_ns = yarn_u64_min(reader->pause_ns, timeout_ns);
    if (taken_ns < pause_ns)
        yarn_futex_wait(reader->command, 0, pause_ns - taken_ns);
}

static void close_poll(struct yarn_ring_reader *reader)
{
    (void)reader;
}

const struct yarn_reader_kind yarn_reader_poll = {
    .name = "poll",
    .open = open_poll,
    .wait = wait_poll,
    .close = close_poll,
};
