/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/ring_reader.h"

#include <poll.h>

#include "core/session/attach.h"
#include "core/session/switches.h"
#include "core/sys/clock.h"
#include "core/sys/file.h"
#include "core/sys/futex.h"
#include "core/sys/perf.h"
#include "core/sys/thread.h"
#include "core/sys/timer.h"

enum {
    LEADERS_MAX = 2048,
    HANGS_UP = POLLHUP | POLLERR | POLLNVAL,
    PAUSE_MAX_NS = 2000000,
    PAUSE_SHARE = 8, /* of the time in which a ring fills */
    /* New threads a second from which waking by time is cheaper than being woken: each end of one
     * wakes the poller inside of the kernel, which costs it and the thread 3 to 4 us each.
     */
    BIRTHS_RATE = 200,
    BIRTHS_LEAST = 8,
};

/* Of the host's CPU time, after which the reader is woken: more than it needs to fall asleep. */
#define ALARM_NS (YARN_NS_PER_MS / 5)

/* The wake descriptor and room for so many leaders and any visitors. A timed reader without sleeps
 * on the command word alone, until there is a visitor; where none can be had, visitors wait for its
 * time. */
static int open_fds(struct yarn_ring_reader *reader, size_t nr_leaders)
{
    size_t max = YARN_READER_FIRST_LEADER + nr_leaders;
    yarn_arena_open(&reader->arena, max * sizeof *reader->fds);
    reader->fds = YARN_ARENA_NEW(&reader->arena, struct pollfd, max);
    if (!reader->fds)
        return -ENOMEM;
    int wake_fd = reader->session->request->wake_fd;
    if (!wake_fd)
        wake_fd = reader->wake_fd = yarn_thread_open_wake();
    if (wake_fd < 0)
        return wake_fd;
    reader->fds[0] = (struct pollfd){.fd = wake_fd, .events = POLLIN};
    reader->fds[YARN_READER_SENTINEL].fd = -1;
    reader->nr_fds = YARN_READER_FIRST_LEADER;
    yarn_reader_watch(reader, NULL, 0);
    return 0;
}

static void watch_leaders(struct yarn_ring_reader *reader)
{
    const struct yarn_session *session = reader->session;
    struct pollfd *leaders = reader->fds + YARN_READER_FIRST_LEADER;
    size_t count = session->report.attachment->watched(session, leaders, LEADERS_MAX);
    reader->generation = session->watch_generation;
    reader->is_by_time = count == YARN_NOT_WATCHED;
    reader->nr_fds = YARN_READER_FIRST_LEADER + (reader->is_by_time ? 0 : count);
}

int yarn_reader_open(struct yarn_ring_reader *reader, bool is_poll, struct yarn_session *session,
                     _Atomic uint32_t *command)
{
    uint64_t fill_ns = yarn_plan_fill_ns(session->request, &session->report.got);
    *reader = (struct yarn_ring_reader){
        .session = session,
        .command = command,
        .is_poll = is_poll,
        .pause_ns = yarn_u64_min(fill_ns / PAUSE_SHARE, PAUSE_MAX_NS),
        .wake_fd = -1,
        .alarm = YARN_TIMER_NONE,
    };
    /* A timed reader polls while the host sleeps, if it awaits that a blocked thread goes on. */
    if (!is_poll && !session->wake_switches.is_open)
        return 0;
    int err = open_fds(reader, LEADERS_MAX);
    if (!err)
        watch_leaders(reader);
    return err;
}

void yarn_reader_watch(struct yarn_ring_reader *reader, const struct pollfd *visitors, size_t count)
{
    int err = count && !reader->fds ? open_fds(reader, 0) : 0;
    reader->nr_visitors = 0;
    if (err || !reader->nr_fds)
        return;
    reader->nr_visitors = yarn_size_min(count, YARN_READER_VISITORS_MAX);
    for (size_t i = 0; i < YARN_READER_VISITORS_MAX; i++)
        reader->fds[YARN_READER_FIRST_VISITOR + i] =
            i < count ? visitors[i] : (struct pollfd){.fd = -1}; /* which poll passes over */
}

/* ---- what to sleep on ---- */

static bool can_have_alarm(struct yarn_ring_reader *reader)
{
    const struct yarn_session_request *request = reader->session->request;
    if (!request->may_sleep || request->perf_refusal || reader->alarm_refusal)
        return false;
    if (!reader->fds)
        reader->alarm_refusal = open_fds(reader, 0);
    if (!reader->alarm_refusal && reader->alarm == YARN_TIMER_NONE)
        reader->alarm_refusal = yarn_thread_open_alarm(&reader->alarm);
    return !reader->alarm_refusal;
}

/* Another one each time that one has hung up. */
static int find_sentinel(struct yarn_ring_reader *reader)
{
    struct yarn_session *session = reader->session;
    if (reader->sentinel_generation != session->watch_generation)
        reader->nr_sentinels_gone = 0;
    reader->sentinel_generation = session->watch_generation;
    return session->report.attachment->sentinel(session, reader->nr_sentinels_gone);
}

static bool has_word(const struct yarn_ring_reader *reader)
{
    return reader->session->request->leader_end.word && !reader->is_leader_gone &&
           !reader->is_word_useless;
}

static bool call_at_ticks(struct yarn_ring_reader *reader, _Atomic uint32_t *word)
{
    const struct yarn_attachment *attachment = reader->session->report.attachment;
    return attachment->call_at_ticks && attachment->call_at_ticks(reader->session, word);
}

bool yarn_reader_rest(struct yarn_ring_reader *reader, enum yarn_reader_rest wanted)
{
    struct yarn_session *session = reader->session;
    bool is_timer = session->timer;
    bool needs_sentinel = reader->is_poll || wanted || (is_timer && reader->is_leader_gone);
    int sentinel = needs_sentinel ? find_sentinel(reader) : -1;
    call_at_ticks(reader, NULL);
    reader->rest = YARN_READER_AWAKE;
    if (wanted != YARN_READER_UNTIL_WORK)
        yarn_wake_switches_turn(session, false);
    else if (session->request->watches_waits && session->switches.is_open &&
             !(reader->fds && !reader->is_by_time && yarn_wake_switches_await(session)))
        wanted = YARN_READER_AWAKE;
    bool by_poll =
        (sentinel >= 0 || reader->nr_visitors) && (wanted || is_timer) && can_have_alarm(reader);
    if (wanted &&
        (by_poll || (!reader->nr_visitors && has_word(reader) &&
                     (wanted == YARN_READER_UNTIL_CALL || call_at_ticks(reader, reader->command)))))
        reader->rest = wanted;
    if (!reader->rest)
        yarn_wake_switches_turn(session, false);
    if (reader->fds)
        reader->fds[YARN_READER_SENTINEL] = (struct pollfd){.fd = sentinel, .events = POLLIN};
    reader->sees_end = sentinel >= 0 || (!by_poll && reader->rest);
    reader->polls = by_poll || reader->nr_visitors || (reader->is_poll && !reader->rest);
    return reader->rest;
}

/* ---- asleep ---- */

static void note_sentinel(struct yarn_ring_reader *reader)
{
    int events = reader->fds[YARN_READER_SENTINEL].revents;
    /* A pidfd is readable at the end, an event because of its ring. */
    bool has_ended = reader->session->timer ? events : events & HANGS_UP;
    reader->has_end |= has_ended;
    reader->nr_sentinels_gone += has_ended;
}

/* True where a leader has something. */
static bool poll_fds(struct yarn_ring_reader *reader, size_t nr_fds, uint64_t timeout_ns)
{
    int ready = yarn_perf_poll(reader->fds, nr_fds, timeout_ns);
    /* More than the limit of open files, which the host may lower at any time: by time then. */
    if (ready == -EINVAL) {
        const struct yarn_session *session = reader->session;
        uint64_t longest_ns = yarn_plan_timed_ns(session->request, &session->report.got);
        yarn_futex_wait(reader->command, 0, yarn_u64_min(timeout_ns, longest_ns));
    }
    if (ready <= 0)
        return false;
    for (size_t i = 0; i < reader->nr_visitors; i++)
        reader->has_visitor |= reader->fds[YARN_READER_FIRST_VISITOR + i].revents != 0;
    if (nr_fds > YARN_READER_SENTINEL)
        note_sentinel(reader);
    reader->is_woken = reader->fds[0].revents & POLLIN;
    return !reader->is_woken && !reader->has_visitor && !reader->has_end;
}

/* On the command word and, where it is known, the word of the first thread. */
static void sleep_on_words(struct yarn_ring_reader *reader, uint64_t timeout_ns)
{
    const struct yarn_thread_end *leader = &reader->session->request->leader_end;
    int err = -ENOSYS;
    if (has_word(reader))
        err = yarn_thread_end_wait(leader, reader->command, timeout_ns);
    if (err == -ETIMEDOUT || err == -EINTR)
        return;
    reader->woke_early = reader->rest && !err && !atomic_load(reader->command);
    if (has_word(reader) && yarn_thread_end_is_past(leader))
        reader->is_leader_gone = reader->has_end = true;
    else if (err < 0 && err != -EAGAIN)
        reader->is_word_useless = true;
    if (!has_word(reader) && !reader->has_end)
        yarn_futex_wait(reader->command, 0, timeout_ns);
}

/* Until a command or a visitor comes, or the rings need to be drained. */
static void sleep_by_time(struct yarn_ring_reader *reader, uint64_t timeout_ns)
{
    const struct yarn_session *session = reader->session;
    if (!reader->rest)
        timeout_ns =
            yarn_u64_min(timeout_ns, yarn_plan_timed_ns(session->request, &session->report.got));
    bool has_pidfd = reader->session->timer && reader->polls;
    if (reader->rest || has_pidfd)
        poll_fds(reader, YARN_READER_FIRST_LEADER, timeout_ns);
    else if (reader->nr_visitors)
        poll_fds(reader, YARN_READER_SENTINEL, timeout_ns);
    else
        sleep_on_words(reader, timeout_ns);
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

/* Why the pause: each inherited event that ends wakes the leader, so a host that makes many short
 * threads would have this loop spin. */
static void sleep_by_poll(struct yarn_ring_reader *reader, uint64_t start_ns, uint64_t timeout_ns)
{
    if (!poll_fds(reader, reader->nr_fds, timeout_ns))
        return;
    /* A leader that hung up would end every poll at once: it leaves the set, its ring is drained by
     * time. */
    for (size_t i = YARN_READER_FIRST_LEADER; i < reader->nr_fds; i++)
        if (reader->fds[i].revents & HANGS_UP)
            reader->fds[i].fd = -1;
    reader->woke_early = true;
    uint64_t taken_ns = yarn_clock_ns(YARN_TIME_MONOTONIC) - start_ns;
    uint64_t pause_ns = yarn_u64_min(reader->pause_ns, timeout_ns);
    if (taken_ns < pause_ns)
        yarn_futex_wait(reader->command, 0, pause_ns - taken_ns);
}

/* Where cores have the clocks, no thread's end wakes anybody. */
static void sleep_for_rings(struct yarn_ring_reader *reader, uint64_t timeout_ns)
{
    const struct yarn_session *session = reader->session;
    uint64_t now_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    bool is_by_poll = reader->is_poll || (reader->rest && session->wake_switches.is_on);
    bool is_churn = reader->is_poll && threads_come_and_go(reader, now_ns) &&
                    !session->wide.is_on && !reader->rest;
    if (is_by_poll && reader->generation != session->watch_generation)
        watch_leaders(reader);
    if (session->soon_ns)
        timeout_ns = yarn_u64_min(timeout_ns, session->soon_ns);
    if (is_churn || reader->is_by_time || !is_by_poll)
        sleep_by_time(reader, timeout_ns);
    else
        sleep_by_poll(reader, now_ns, timeout_ns);
}

void yarn_reader_wait(struct yarn_ring_reader *reader, uint64_t timeout_ns)
{
    reader->woke_early = reader->has_visitor = reader->is_woken = reader->has_end = false;
    if (atomic_load(reader->command) != 0)
        return;
    if (reader->rest && !reader->polls) {
        sleep_on_words(reader, timeout_ns);
        return;
    }
    static const struct yarn_timer_rate alarm = {.first_ns = ALARM_NS}, none = {.first_ns = 0};
    bool has_alarm = reader->rest == YARN_READER_UNTIL_WORK;
    /* It is set anew each time: what the reader itself has used since is in its clock, too. */
    int err = has_alarm ? yarn_timer_set(reader->alarm, &alarm) : 0;
    sleep_for_rings(reader, timeout_ns);
    if (has_alarm && !err && !reader->is_woken) /* it would have the host's threads share a clock */
        err = yarn_timer_set(reader->alarm, &none);
    if (err)
        reader->alarm_refusal = err;
}

void yarn_reader_close(struct yarn_ring_reader *reader)
{
    if (!reader->session)
        return;
    yarn_timer_close(reader->alarm);
    reader->alarm = YARN_TIMER_NONE;
    yarn_file_close(reader->wake_fd);
    reader->wake_fd = -1;
    yarn_arena_close(&reader->arena);
    reader->session = NULL;
}
