/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/reader.h"

#include <poll.h>

#include "core/sys/clock.h"
#include "core/sys/file.h"
#include "core/sys/futex.h"
#include "core/sys/perf.h"
#include "core/sys/thread.h"

int yarn_reader_open(struct yarn_ring_reader *reader, const struct yarn_reader_kind *kind,
                     const struct yarn_session *session, _Atomic uint32_t *command)
{
    *reader = (struct yarn_ring_reader){
        .kind = kind,
        .session = session,
        .command = command,
        .wake_fd = -1,
        .arena = YARN_ARENA_CLOSED,
    };
    return kind->open(reader);
}

int yarn_reader_open_fds(struct yarn_ring_reader *reader, size_t nr_leaders)
{
    size_t max = YARN_READER_FIRST_LEADER + nr_leaders;
    yarn_arena_open(&reader->arena, max * sizeof *reader->fds);
    reader->fds = YARN_ARENA_NEW(&reader->arena, struct pollfd, max);
    if (!reader->fds)
        return -ENOMEM;
    int wake_fd = reader->session->spec->wake_fd;
    if (!wake_fd)
        wake_fd = reader->wake_fd = yarn_thread_open_wake();
    if (wake_fd < 0)
        return wake_fd;
    reader->fds[0] = (struct pollfd){.fd = wake_fd, .events = POLLIN};
    reader->nr_fds = YARN_READER_FIRST_LEADER;
    yarn_reader_watch(reader, NULL, 0);
    return 0;
}

void yarn_reader_watch(struct yarn_ring_reader *reader, const struct pollfd *visitors, size_t count)
{
    int err = count && !reader->fds ? yarn_reader_open_fds(reader, 0) : 0;
    reader->nr_visitors = 0;
    if (err || !reader->nr_fds)
        return;
    reader->nr_visitors = yarn_size_min(count, YARN_READER_VISITORS_MAX);
    for (size_t i = 0; i < YARN_READER_VISITORS_MAX; i++)
        reader->fds[YARN_READER_FIRST_VISITOR + i] =
            i < count ? visitors[i] : (struct pollfd){.fd = -1}; /* which poll passes over */
}

/* True where a leader has something. */
static bool poll_fds(struct yarn_ring_reader *reader, size_t nr_fds, uint64_t timeout_ns)
{
    int ready = yarn_perf_poll(reader->fds, nr_fds, timeout_ns);
    /* More than the limit of open files, which the host may lower at any time: by time then. */
    if (ready == -EINVAL) {
        const struct yarn_session *session = reader->session;
        uint64_t longest_ns = yarn_plan_timed_ns(session->spec, &session->report.got);
        yarn_futex_wait(reader->command, 0, yarn_u64_min(timeout_ns, longest_ns));
    }
    if (ready <= 0)
        return false;
    for (size_t i = 0; i < reader->nr_visitors; i++)
        reader->has_visitor |= reader->fds[YARN_READER_FIRST_VISITOR + i].revents != 0;
    reader->is_woken = reader->fds[0].revents & POLLIN;
    return !reader->is_woken && !reader->has_visitor;
}

void yarn_reader_sleep(struct yarn_ring_reader *reader, uint64_t timeout_ns)
{
    if (!reader->nr_visitors)
        yarn_futex_wait(reader->command, 0, timeout_ns);
    else
        poll_fds(reader, YARN_READER_FIRST_LEADER, timeout_ns);
}

bool yarn_reader_await(struct yarn_ring_reader *reader, uint64_t timeout_ns, uint64_t *ret_taken_ns)
{
    uint64_t start_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    bool has_leader = poll_fds(reader, reader->nr_fds, timeout_ns);
    *ret_taken_ns = yarn_clock_ns(YARN_TIME_MONOTONIC) - start_ns;
    return has_leader;
}

void yarn_reader_wait(struct yarn_ring_reader *reader, uint64_t timeout_ns)
{
    reader->woke_early = false;
    reader->has_visitor = false;
    reader->is_woken = false;
    if (atomic_load(reader->command) == 0)
        reader->kind->wait(reader, timeout_ns);
}

void yarn_reader_close(struct yarn_ring_reader *reader)
{
    if (!reader->kind)
        return;
    reader->kind->close(reader);
    yarn_file_close(reader->wake_fd);
    reader->wake_fd = -1;
    yarn_arena_close(&reader->arena);
    reader->kind = NULL;
}
