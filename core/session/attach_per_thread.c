/* SPDX-License-Identifier: Apache-2.0 */
#include <poll.h>

#include "core/session/alternates.h"
#include "core/session/attach.h"
#include "core/session/probe.h"
#include "core/session/switches.h"
#include "core/session/thread_rings.h"
#include "core/session/thread_scan.h"
#include "core/sys/clock.h"
#include "core/sys/process.h"
#include "core/sys/timer.h"

enum {
    SCANS_MAX = 32, /* at once */
    SCAN_COST_SHARE =
        100, /* scanning costs at most this part of the time; where births are reported: */
    SCAN_COST_SHARE_TOLD = 25,
    ANY_CPU = -1,
    NAME_BYTES = 16,
};

/* Of CPU time, in which threads may have switched. */
#define LOOK_NS (YARN_NS_PER_MS / 20)
/* Time whose share for scanning may be used at once: for some 50 threads that begin together. */
#define SAVED_MOST_NS (500 * YARN_NS_PER_MS)

/* ---- scanning ---- */

/* How long its clock ran. */
static uint64_t running_ns(const struct yarn_session *session, const struct yarn_thread_ring *slot)
{
    struct yarn_perf_count sum = {0};
    for (uint32_t number = 0; number < session->request->nr_events && !sum.count; number++)
        if (session->statuses[number].spec.is_clock)
            yarn_thread_ring_count(slot, number, &sum);
    return sum.time_running_ns;
}

static void begin_thread(const struct yarn_session *session, struct yarn_thread_ring *slot)
{
    uint64_t used_ns;
    yarn_thread_ring_turn(slot, true);
    yarn_switches_follow(session);
    /* Gone already: then how long its clock ran is all that is known. */
    if (yarn_timer_thread_cpu_ns(slot->tid, &used_ns))
        return;
    uint64_t known_ns = running_ns(session, slot) + slot->switching_ns;
    slot->before_ns = used_ns - yarn_u64_min(used_ns, known_ns);
}

/* Attaches threads that are not known; how many, or a negative errno where the list cannot be read.
 */
static int attach_new(struct yarn_session *session, const struct yarn_record_listener *listener)
{
    struct yarn_thread_rings *threads = session->threads;
    int count = yarn_process_own_threads_again(session->request->pid, threads->tids,
                                               YARN_THREAD_RINGS_MAX, &threads->nr_listed);
    int nr_new = 0;
    size_t nr_refused = count > YARN_THREAD_RINGS_MAX ? (size_t)count - YARN_THREAD_RINGS_MAX : 0;
    threads->nr_scans++;
    for (int i = 0; i < count && i < YARN_THREAD_RINGS_MAX; i++) {
        uint32_t number = yarn_table_find(&threads->slot_of, (uint64_t)threads->tids[i]);
        if (number != YARN_TABLE_NONE) {
            threads->of_slot[number].seen = threads->nr_scans;
            continue;
        }
        if (threads->tids[i] == session->own_tid || threads->is_waiting)
            continue;
        struct yarn_thread_ring *slot;
        int err = yarn_thread_rings_attach(session, threads->tids[i], &slot);
        if (err == -ENOMEM)
            threads->is_waiting = yarn_thread_rings_make_way(session, (size_t)count);
        if (err && err != -ESRCH && !threads->is_waiting) {
            session->report.thread_refusal = err;
            nr_refused++;
        }
        nr_new += !err;
        if (err || !threads->is_enabled)
            continue;
        begin_thread(session, slot);
        /* What was on its way before its watch was: the name, once. */
        char name[NAME_BYTES];
        yarn_process_thread_name(threads->tids[i], name, sizeof name);
        yarn_thread_report(YARN_RECORD_COMM, session->request->pid, threads->tids[i], name,
                           listener);
    }
    session->report.nr_refused_threads =
        yarn_size_max(session->report.nr_refused_threads, nr_refused);
    return count < 0 ? count : nr_new;
}

/* Until two scans of the list are alike: nothing reports a thread that was made by one without a
 * watch. The number of new ones, or a negative errno. What it costs is CPU time: on a busy machine
 * the reader is away for most of it. */
static int scan(struct yarn_session *session, const struct yarn_record_listener *listener)
{
    struct yarn_thread_rings *threads = session->threads;
    uint64_t begin_ns = yarn_clock_ns(YARN_TIME_THREAD_CPU), last_ns = begin_ns;
    int nr_new = 0, found = 1;
    threads->is_waiting = threads->has_news = false;
    const unsigned max = session->request->max_scans ? session->request->max_scans : SCANS_MAX;
    unsigned nr_scans = 0;
    for (; nr_scans < max && found > 0; nr_scans++) {
        last_ns = yarn_clock_ns(YARN_TIME_THREAD_CPU);
        found = attach_new(session, listener);
        nr_new += found;
    }
    if (found < 0)
        return yarn_probe_fail(session, "the list of threads could not be read", found);
    if (!session->report.nr_scans) {
        session->report.nr_scans = nr_scans;
        session->report.is_stable = found == 0;
    }
    for (size_t i = 0; i < threads->nr_slots; i++)
        threads->of_slot[i].is_gone |= threads->of_slot[i].seen != threads->nr_scans;
    uint64_t end_ns = yarn_clock_ns(YARN_TIME_THREAD_CPU);
    uint64_t now_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    threads->soonest_scan_ns = yarn_u64_max(threads->soonest_scan_ns, now_ns - SAVED_MOST_NS) +
                               (end_ns - begin_ns) * SCAN_COST_SHARE_TOLD;
    threads->next_scan_ns =
        yarn_u64_max(threads->soonest_scan_ns, now_ns + (end_ns - last_ns) * SCAN_COST_SHARE);
    return nr_new;
}

/* ---- opening ---- */

static int make_room(struct yarn_session *session)
{
    struct yarn_arena *arena = &session->arena;
    size_t nr_events = session->request->nr_events;
    size_t nr_own = nr_events + session->request->records_switches;
    struct yarn_thread_rings *threads = YARN_ARENA_NEW(arena, struct yarn_thread_rings, 1);
    struct yarn_event *events =
        YARN_ARENA_NEW(arena, struct yarn_event, YARN_THREAD_RINGS_MAX * nr_own);
    if (!threads || !events)
        return -ENOMEM;
    threads->of_slot = YARN_ARENA_NEW(arena, struct yarn_thread_ring, YARN_THREAD_RINGS_MAX);
    threads->tids = YARN_ARENA_NEW(arena, pid_t, YARN_THREAD_RINGS_MAX);
    threads->sources = YARN_ARENA_NEW(arena, struct yarn_merge_source, 2 * YARN_THREAD_RINGS_MAX);
    threads->before = YARN_ARENA_NEW(arena, struct yarn_perf_count, nr_events);
    if (!threads->of_slot || !threads->tids || !threads->sources || !threads->before)
        return -ENOMEM;
    for (size_t i = 0; i < YARN_THREAD_RINGS_MAX; i++)
        threads->of_slot[i].events = events + i * nr_own;
    session->threads = threads;
    int err = yarn_table_open(&threads->slot_of, YARN_THREAD_RINGS_MAX, 4 * YARN_THREAD_RINGS_MAX);
    if (!err)
        err = yarn_table_open(&session->numbers, YARN_THREAD_RINGS_MAX, YARN_THREAD_RINGS_IDS);
    if (!err)
        err = yarn_mappings_open(&threads->mappings, session->request->pid,
                                 &session->merge.decoder.mmap);
    return err;
}

static int open_per_thread(struct yarn_session *session)
{
    int err = make_room(session);
    if (err)
        return yarn_probe_fail(session, "no memory for the list of threads", err);
    err = yarn_probe_specs(session, session->request->pid, ANY_CPU);
    if (err)
        return err;
    session->wake_switches.is_open = session->request->watches_waits;
    int found = scan(session, NULL);
    if (found < 0)
        return found;
    err = session->report.thread_refusal;
    if (!found && err)
        return yarn_probe_fail(session, yarn_event_refusal(err), err);
    session->report.nr_threads = session->report.nr_rings = (size_t)found;
    return 0;
}

/* ---- running ---- */

/* Of a thread that ends the value of the last reading stays. */
static void check_switching(struct yarn_session *session)
{
    struct yarn_thread_rings *threads = session->threads;
    uint64_t used_ns, begin_ns = yarn_clock_ns(YARN_TIME_THREAD_CPU);
    uint64_t all_ns = yarn_clock_cpu_ns_of_others();
    if (all_ns < threads->looked_cpu_ns + LOOK_NS)
        return;
    threads->looked_cpu_ns = all_ns;
    for (size_t i = 0; i < threads->nr_slots; i++) {
        struct yarn_thread_ring *slot = &threads->of_slot[i];
        if (!slot->tid || slot->is_gone || yarn_timer_thread_cpu_ns(slot->tid, &used_ns))
            continue;
        uint64_t known_ns = slot->before_ns + running_ns(session, slot);
        slot->switching_ns = used_ns - yarn_u64_min(used_ns, known_ns);
    }
    uint64_t cost_ns = yarn_clock_ns(YARN_TIME_THREAD_CPU) - begin_ns;
    threads->next_switching_ns = yarn_clock_ns(YARN_TIME_MONOTONIC) + cost_ns * SCAN_COST_SHARE;
}

static void enable_per_thread(struct yarn_session *session)
{
    struct yarn_thread_rings *threads = session->threads;
    if (threads->is_enabled)
        return;
    threads->is_enabled = true;
    for (size_t i = 0; i < threads->nr_slots; i++)
        if (threads->of_slot[i].tid && !threads->of_slot[i].is_gone)
            begin_thread(session, &threads->of_slot[i]);
    /* Threads that started while it was off. */
    if (yarn_clock_ns(YARN_TIME_MONOTONIC) >= threads->next_scan_ns)
        scan(session, NULL);
}

static void disable_per_thread(struct yarn_session *session)
{
    struct yarn_thread_rings *threads = session->threads;
    if (!threads->is_enabled)
        return;
    threads->is_enabled = false;
    check_switching(session);
    for (size_t i = 0; i < threads->nr_slots; i++)
        if (threads->of_slot[i].tid)
            yarn_thread_ring_turn(&threads->of_slot[i], false);
}

/* Threads that have shallower copies are detached and attached anew. */
static void deepen_per_thread(struct yarn_session *session)
{
    struct yarn_thread_rings *threads = session->threads;
    struct yarn_plan plan = session->report.got;
    if (!threads->is_enabled || !yarn_plan_deeper(session->request, session->nr_cpus, &plan))
        return;
    session->report.got = plan;
    session->nr_changes++;
    for (size_t i = 0; i < threads->nr_slots; i++)
        if (threads->of_slot[i].tid)
            yarn_thread_rings_detach(session, &threads->of_slot[i]);
    scan(session, NULL);
    threads->needs_look = true; /* what was mapped in between */
}

static void update_threads(struct yarn_session *session,
                           const struct yarn_record_listener *listener)
{
    struct yarn_thread_rings *threads = session->threads;
    for (size_t i = 0; i < threads->nr_slots && !threads->has_news; i++)
        threads->has_news = !yarn_ring_is_empty(&threads->of_slot[i].watch.ring);
    uint64_t due_ns = threads->has_news ? threads->soonest_scan_ns : threads->next_scan_ns;
    if (threads->is_waiting)
        due_ns = 0;
    uint64_t now_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    if (now_ns < due_ns) {
        if (threads->has_news)
            session->soon_ns = due_ns - now_ns;
        return;
    }
    /* A thread that makes another works for it. */
    uint64_t all_ns = yarn_clock_cpu_ns_of_others();
    bool has_worked = all_ns >= threads->scanned_cpu_ns + LOOK_NS;
    if (!has_worked && !threads->has_news && !threads->is_waiting && !session->soon_ns)
        return;
    threads->scanned_cpu_ns = all_ns;
    int found = scan(session, listener);
    threads->needs_look |= found > 0;
    yarn_session_scan_soon(session, found > 0 || threads->is_waiting);
}

static void gather_per_thread(struct yarn_session *session,
                              const struct yarn_record_listener *listener)
{
    struct yarn_thread_rings *threads = session->threads;
    struct yarn_merge *merge = &session->merge;
    if (threads->is_enabled)
        update_threads(session, listener);
    enum yarn_mappings_need need = threads->is_enabled ? YARN_MAPPINGS_NEEDED : YARN_MAPPINGS_LAST;
    if (threads->needs_look &&
        yarn_mappings_refresh(&threads->mappings, need, session->request->interval_ns, listener))
        threads->needs_look = false;
    merge->sources = threads->sources;
    merge->count = 0;
    for (uint32_t i = 0; i < threads->nr_slots; i++) {
        struct yarn_thread_ring *slot = &threads->of_slot[i];
        if (!slot->tid)
            continue;
        if (!slot->is_gone)
            yarn_period_jitter_change(&slot->jitter, session, YARN_SIDE_NONE, slot->events,
                                      slot->nr_events, false);
        if (!yarn_thread_ring_is_drained(slot)) {
            merge->sources[merge->count++] = (struct yarn_merge_source){.ring = &slot->ring};
            if (slot->watch.ring.page)
                merge->sources[merge->count++] =
                    (struct yarn_merge_source){.ring = &slot->watch.ring};
        } else if (slot->is_gone) {
            yarn_thread_rings_close_slot(session, i);
        }
    }
}

static uint64_t weigh_per_thread(struct yarn_session *session,
                                 const struct yarn_typed_record *record)
{
    struct yarn_thread_rings *threads = session->threads;
    uint32_t number = yarn_table_find(&threads->slot_of, record->perf.tid);
    return number == YARN_TABLE_NONE
               ? record->perf.period
               : yarn_period_jitter_weigh(&threads->of_slot[number].jitter, session, record);
}

static size_t watched_per_thread(const struct yarn_session *session, struct pollfd *fds,
                                 size_t size)
{
    const struct yarn_thread_rings *threads = session->threads;
    size_t count = 0;
    if (threads->nr_live > YARN_THREAD_RINGS_WATCHED)
        return YARN_NOT_WATCHED;
    for (size_t i = 0; i < threads->nr_slots && count + 2 <= size; i++) {
        const struct yarn_thread_ring *slot = &threads->of_slot[i];
        if (!slot->tid || slot->is_gone)
            continue;
        fds[count++] = (struct pollfd){.fd = slot->events[0].fd, .events = POLLIN};
        if (slot->watch.ring.page)
            fds[count++] = (struct pollfd){.fd = slot->watch.event.fd, .events = POLLIN};
    }
    return count;
}

static int sentinel_per_thread(struct yarn_session *session, size_t nr_gone)
{
    const struct yarn_thread_rings *threads = session->threads;
    for (size_t i = 0; i < threads->nr_slots; i++)
        if (threads->of_slot[i].tid && !threads->of_slot[i].is_gone && nr_gone-- == 0)
            return threads->of_slot[i].events[0].fd;
    return -1;
}

static struct yarn_perf_count count_per_thread(const struct yarn_session *session, uint32_t number)
{
    const struct yarn_thread_rings *threads = session->threads;
    struct yarn_perf_count sum = threads->before[number];
    for (size_t i = 0; i < threads->nr_slots; i++)
        if (threads->of_slot[i].tid)
            yarn_thread_ring_count(&threads->of_slot[i], number, &sum);
    return sum;
}

static uint64_t switching_ns_per_thread(struct yarn_session *session, uint32_t number,
                                        uint64_t cpu_ns)
{
    struct yarn_thread_rings *threads = session->threads;
    uint64_t sum_ns = threads->switching_before_ns;
    (void)number;
    if (threads->is_enabled && yarn_clock_ns(YARN_TIME_MONOTONIC) >= threads->next_switching_ns)
        check_switching(session);
    for (size_t i = 0; i < threads->nr_slots; i++)
        sum_ns += threads->of_slot[i].tid ? threads->of_slot[i].switching_ns : 0;
    return yarn_u64_min(sum_ns, cpu_ns);
}

static uint64_t thread_cpu_ns_per_thread(const struct yarn_session *session, pid_t tid)
{
    const struct yarn_thread_rings *threads = session->threads;
    uint32_t number = yarn_table_find(&threads->slot_of, (uint64_t)tid);
    if (number == YARN_TABLE_NONE)
        return 0;
    const struct yarn_thread_ring *slot = &threads->of_slot[number];
    uint64_t since_ns = running_ns(session, slot);
    return since_ns ? slot->before_ns + since_ns + slot->switching_ns : 0;
}

static size_t ring_bytes_per_thread(const struct yarn_session *session)
{
    return session->threads->ring_bytes;
}

static void close_per_thread(struct yarn_session *session)
{
    struct yarn_thread_rings *threads = session->threads;
    if (!threads)
        return;
    for (size_t i = 0; i < threads->nr_slots; i++)
        if (threads->of_slot[i].tid)
            yarn_thread_ring_close(&threads->of_slot[i]);
    yarn_thread_rings_free(session);
}

const struct yarn_attachment yarn_attach_per_thread = {
    .sampler = YARN_SAMPLER_PERF,
    .strategy = YARN_STRATEGY_PER_THREAD,
    .open = open_per_thread,
    .enable = enable_per_thread,
    .disable = disable_per_thread,
    .deepen = deepen_per_thread,
    .weigh = weigh_per_thread,
    .gather = gather_per_thread,
    .watched = watched_per_thread,
    .sentinel = sentinel_per_thread,
    .count = count_per_thread,
    .switching_ns = switching_ns_per_thread,
    .thread_cpu_ns = thread_cpu_ns_per_thread,
    .ring_bytes = ring_bytes_per_thread,
    .close = close_per_thread,
};
