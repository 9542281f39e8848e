/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/control/reader_thread.h"

#include "core/session/ring_reader.h"
#include "core/sys/clock.h"
#include "core/sys/futex.h"
#include "core/sys/ids.h"
#include "core/sys/own_files.h"
#include "core/sys/signal.h"
#include "preload/control/commands.h"
#include "preload/control/deferred_start.h"
#include "preload/control/idleness.h"

/* After an early wake-up whose drain left more than samples behind: the end of a thread is seen
 * soon. */
#define SOON_NS (2 * YARN_NS_PER_MS)
/* Of the interval: a flush may be so early, where the reader is awake anyway. */
enum { FLUSH_SLACK_SHARE = 8 };
/* How late an exec that failed is noticed, and how long one is waited for: a signal handler may
 * have led the thread elsewhere. */
#define HOLD_NS (10 * YARN_NS_PER_MS)
#define HOLD_MOST_NS YARN_NS_PER_SECOND
/* How late a command behind a system call filter is noticed. */
#define FILTER_NS (10 * YARN_NS_PER_MS)
/* How long a process that exits may take until it has gone. */
#define EXIT_NS (100 * YARN_NS_PER_MS)
/* While the host sleeps: how late is seen what wakes nobody, such as CPU time between two ticks. */
#define REST_MOST_NS (2 * YARN_NS_PER_SECOND)
/* A thread that is seen to end is listed for a moment longer. */
#define END_CHECK_NS (YARN_NS_PER_MS / 2)
enum { END_CHECKS = 16 };

/* The exit code for the reader. */
static int fail(struct yarn_recorder *recorder, const char *what, int err)
{
    struct yarn_failure *failure = &recorder->recording.failure;
    yarn_failure_note(failure, what, err);
    failure->is_of_start = true;
    failure->is_unstored = !recorder->job.facts.lineage.forked_by;
    yarn_state_become(&recorder->state, YARN_PHASE_FAILED, 0);
    return 0;
}

/* While the host is in exec: whatever was written now would take the dump's end back. False where
 * another thread has the process end. */
static bool hold(struct yarn_recorder *recorder)
{
    uint64_t end_ns = yarn_clock_ns(YARN_TIME_MONOTONIC) + HOLD_MOST_NS;
    while (yarn_state_nr_in_exec(&recorder->state)) {
        if (atomic_load(&recorder->requests.wanted) >> YARN_RECORDER_EXEC & 1)
            end_ns = yarn_clock_ns(YARN_TIME_MONOTONIC) + HOLD_MOST_NS;
        if (!yarn_commands_run(recorder))
            return false;
        yarn_futex_wait(&recorder->requests.wanted, 0, HOLD_NS);
        if (yarn_clock_ns(YARN_TIME_MONOTONIC) >= end_ns)
            yarn_state_clear_execs(&recorder->state);
    }
    yarn_deferred_start_subtract_from_parent(recorder);
    yarn_commands_open_socket(recorder);
    return true;
}

/* Once, when the host has set its filter. Why a warning: the dump will have no end. */
static void note_filter(struct yarn_recorder *recorder)
{
    if (!yarn_state_set(&recorder->state, YARN_STATE_BEHIND_FILTER, false))
        return;
    YARN_WARN(&recorder->messages, "the host has set a seccomp filter: its children are not "
                                   "recorded, its end is not waited for");
}

/* Once, where each occurrence counts. */
static void note_late_start(struct yarn_recorder *recorder)
{
    if (!atomic_load(&recorder->is_late))
        return;
    atomic_store(&recorder->is_late, false);
    YARN_WARN(&recorder->messages, "the recording began after the program did: of events that "
                                   "count single things the first occurrences are missing");
}

enum { SIGNAL_STATUS = 128 }; /* as a shell shows a death by signal */

enum outcome { END_REQUESTED, ALONE, BROKEN };

/* Takes the marks that host threads have stored. */
static void take_marks(struct yarn_recorder *recorder)
{
    const struct yarn_mark *mark;
    while ((mark = yarn_marks_next(&recorder->marks))) {
        yarn_recording_mark(&recorder->recording, mark->time_ns, mark->tid, mark->text);
        recorder->has_unsaved = true;
        yarn_marks_free(&recorder->marks, mark);
    }
}

/* The host wants something of each of its tasks, and waits until each has done it or is gone: the
 * reader cannot, so it goes. By another signal than the one that wakes it this is seen once a
 * flush.
 */
static bool is_asked_as_a_task(struct yarn_recorder *recorder,
                               const struct yarn_ring_reader *reader, bool has_flushed)
{
    int woken_fd = reader->is_woken ? reader->wake_fd : -1;
    if (!yarn_thread_clear_wakes(&recorder->thread, woken_fd) &&
        !(has_flushed && yarn_thread_is_asked(&recorder->thread)))
        return false;
    YARN_WARN(&recorder->messages,
              "the recording ended: the host asks each of its tasks for "
              "something by a signal (libpsx), which the reader cannot answer");
    atomic_store(&recorder->end, (uint64_t)UINT32_MAX << 32 | YARN_DUMP_END_STOPPED);
    return true;
}

/* When a turn follows, at the latest. */
struct turns {
    uint64_t interval_ns;
    uint64_t flush_ns; /* one that stores what there is */
    struct yarn_idleness idleness;
    size_t nr_records; /* since a flush was due */
    unsigned nr_end_checks;
    bool is_due;
};

static enum yarn_reader_rest rest_of(const struct yarn_recorder *recorder,
                                     const struct turns *turns)
{
    const struct yarn_session *session = &recorder->recording.session;
    if (!turns->idleness.since_ns || recorder->expects_filter || turns->nr_end_checks ||
        session->soon_ns || session->switches.are_cut)
        return YARN_READER_AWAKE;
    return recorder->recording.account.coverage.is_off ? YARN_READER_UNTIL_CALL
                                                       : YARN_READER_UNTIL_WORK;
}

static uint64_t next_timeout(struct yarn_recorder *recorder, const struct turns *turns,
                             bool is_soon, uint64_t now_ns)
{
    uint64_t timeout_ns = yarn_u64_minus(turns->flush_ns, now_ns);
    if (is_soon)
        timeout_ns = yarn_u64_min(timeout_ns, SOON_NS);
    if (turns->nr_end_checks)
        timeout_ns = yarn_u64_min(timeout_ns, END_CHECK_NS);
    if (recorder->expects_filter)
        timeout_ns = yarn_u64_min(timeout_ns, FILTER_NS);
    timeout_ns =
        yarn_u64_min(timeout_ns, yarn_recording_off_cpu_timeout_ns(&recorder->recording, now_ns,
                                                                   rest_of(recorder, turns)));
    if (!turns->idleness.since_ns)
        timeout_ns =
            yarn_u64_min(timeout_ns, yarn_recording_watch_code(&recorder->recording, now_ns));
    timeout_ns = yarn_u64_min(timeout_ns, yarn_recording_confirm(&recorder->recording, now_ns));
    return yarn_schedule_wait_ns(&recorder->schedule, now_ns, timeout_ns);
}

static void watch(struct yarn_recorder *recorder, struct yarn_ring_reader *reader,
                  enum yarn_reader_rest rest)
{
    struct pollfd visitors[YARN_CONTROL_FDS_MAX];
    size_t count = yarn_control_socket_watch(&recorder->control, visitors);
    yarn_reader_watch(reader, visitors, count);
    yarn_reader_rest(reader, rest);
    yarn_state_set(&recorder->state, YARN_STATE_POLLING, reader->polls);
}

static bool has_news(struct yarn_recorder *recorder, const struct yarn_ring_reader *reader)
{
    return atomic_load(&recorder->requests.wanted) || reader->has_visitor || reader->woke_early ||
           reader->has_end || yarn_marks_next(&recorder->marks);
}

/* Once; while the host sleeps, again and again until there is something to do. Why not the whole
 * turn each time: in a host of many threads that would be work. False where it asks the reader. */
static bool wait_for_work(struct yarn_recorder *recorder, struct yarn_ring_reader *reader,
                          struct turns *turns, uint64_t timeout_ns)
{
    struct yarn_idleness *idleness = &turns->idleness;
    uint64_t end_ns = yarn_clock_ns(YARN_TIME_MONOTONIC) + timeout_ns;
    for (;;) {
        enum yarn_reader_rest rest = rest_of(recorder, turns);
        watch(recorder, reader, rest);
        atomic_store(&recorder->is_asleep, reader->rest);
        yarn_reader_wait(
            reader, yarn_u64_min(timeout_ns, reader->rest ? REST_MOST_NS : turns->interval_ns));
        atomic_store(&recorder->is_asleep, false);
        if (is_asked_as_a_task(recorder, reader, turns->is_due || rest))
            return false;
        timeout_ns = yarn_u64_minus(end_ns, yarn_clock_ns(YARN_TIME_MONOTONIC));
        if (!reader->rest || has_news(recorder, reader)) {
            idleness->since_ns = 0;
            return true;
        }
        if (!timeout_ns || (!reader->sees_end && yarn_recording_is_alone(&recorder->recording)) ||
            (rest == YARN_READER_UNTIL_WORK &&
             yarn_idleness_is_over(idleness, yarn_clock_cpu_bounds_of_others())))
            return true;
    }
}

/* Where a flush is due: when the next one is. */
static void flush(struct yarn_recorder *recorder, struct turns *turns, uint64_t now_ns)
{
    struct yarn_recording *recording = &recorder->recording;
    struct yarn_cpu_bounds cpu = yarn_clock_cpu_bounds_of_others();
    bool is_off = recording->account.coverage.is_off;
    if (is_off)
        cpu.least_ns = 0; /* work is nothing to wake for */
    /* While it is stopped there is nothing to say again and again. */
    if (!is_off || recorder->has_unsaved ||
        atomic_load(&recorder->messages.count) != recording->dump.nr_messages_written)
        yarn_recording_flush(recording, false);
    recorder->has_unsaved = false;
    uint64_t pause_ns = yarn_idleness_pause_ns(&turns->idleness, cpu, turns->nr_records, now_ns,
                                               turns->interval_ns);
    turns->flush_ns = now_ns + yarn_u64_max(pause_ns, turns->interval_ns);
}

static bool is_over(struct yarn_recorder *recorder, struct turns *turns)
{
    struct yarn_recording *recording = &recorder->recording;
    bool is_quiet = turns->is_due && !turns->nr_records;
    bool is_seen = recording->pipeline.saw_thread_end || turns->nr_end_checks;
    turns->nr_end_checks -= turns->nr_end_checks > 0;
    if (turns->is_due)
        turns->nr_records = 0;
    return (is_quiet || is_seen) && yarn_recording_is_alone(recording);
}

static enum outcome loop(struct yarn_recorder *recorder, struct yarn_ring_reader *reader)
{
    struct yarn_recording *recording = &recorder->recording;
    struct turns turns = {.interval_ns = recorder->job.options.interval_ns};
    uint64_t now_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    uint64_t timeout_ns = yarn_schedule_wait_ns(&recorder->schedule, now_ns, turns.interval_ns);
    turns.flush_ns = now_ns + turns.interval_ns;
    for (;;) {
        bool has_rest;
        if (yarn_state_nr_in_exec(&recorder->state) && !hold(recorder))
            return END_REQUESTED;
        yarn_recording_unseal(recording);
        bool was_idle = turns.idleness.since_ns;
        if (!wait_for_work(recorder, reader, &turns, timeout_ns))
            return END_REQUESTED;
        if (reader->has_end)
            turns.nr_end_checks = END_CHECKS;
        if (was_idle && !turns.idleness.since_ns)
            yarn_recording_wake(recording);
        yarn_commands_run_urgent(recorder);
        take_marks(recorder);
        note_filter(recorder);
        note_late_start(recorder);
        turns.nr_records += yarn_recording_drain(recording, &has_rest);
        now_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
        if (!turns.idleness.since_ns)
            turns.flush_ns = yarn_u64_min(turns.flush_ns, now_ns + turns.interval_ns);
        turns.is_due = now_ns + turns.interval_ns / FLUSH_SLACK_SHARE >= turns.flush_ns;
        bool is_queue_empty = yarn_recording_store_queued(recording, turns.is_due);
        if (!yarn_commands_run(recorder))
            return END_REQUESTED;
        if (yarn_state_nr_in_exec(&recorder->state))
            continue;
        yarn_commands_serve(recorder);
        yarn_commands_keep_schedule(recorder, now_ns);
        if (turns.is_due && (is_queue_empty || now_ns >= turns.flush_ns + turns.interval_ns))
            flush(recorder, &turns, now_ns);
        if (is_over(recorder, &turns))
            return ALONE;
        if (recording->failure.what)
            return BROKEN;
        timeout_ns = is_queue_empty
                         ? next_timeout(recorder, &turns, has_rest && reader->woke_early, now_ns)
                         : 0;
    }
}

/* The exit code for the reader: where it is the last thread, the process ends with it. */
static int finish(struct yarn_recorder *recorder, enum outcome outcome)
{
    struct yarn_recording *recording = &recorder->recording;
    enum yarn_dump_end_reason reason = YARN_DUMP_END_EXIT_RAW;
    int status = -1;
    take_marks(recorder);
    note_late_start(recorder);
    if (outcome == ALONE) {
        status = recording->leader.exit_status;
        recorder->host_signal = recording->leader.exit_signal;
        if (recorder->host_signal)
            status = SIGNAL_STATUS + recorder->host_signal;
    } else if (outcome == END_REQUESTED) {
        reason = (enum yarn_dump_end_reason)(uint32_t)atomic_load(&recorder->end);
        status = (int32_t)(atomic_load(&recorder->end) >> 32);
        if (recorder->stop_reason)
            yarn_messages_add(&recorder->messages,
                              reason == YARN_DUMP_END_SECCOMP ? YARN_DUMP_MESSAGE_WARNING
                                                              : YARN_DUMP_MESSAGE_INFO,
                              false, "the recording ended: %s", recorder->stop_reason);
    } else if (outcome == BROKEN) {
        reason = YARN_DUMP_END_FAILED;
        recording->failure.is_reported = true;
        yarn_messages_add(&recorder->messages, YARN_DUMP_MESSAGE_ERROR, false,
                          "the recording ended early: %s", recording->failure.what);
    }
    yarn_recording_halt(recording);
    yarn_deferred_start_add_to_parent(recorder);
    yarn_recording_end(recording, reason, status);
    if (reason == YARN_DUMP_END_EXIT && !yarn_process_dump_is_begun(&recording->dump))
        yarn_deferred_start_remove_names(recorder);
    yarn_control_socket_close(&recorder->control);
    return outcome == ALONE ? status : 0;
}

/* A process that exits takes everything along at once. To close it one by one, beside the host's
 * running thread, cost a third of what the reader did for a compiler: an interrupt of the other
 * core for each mapping and event. One that does not go after all gets it back a moment later. */
static void wait_for_exit(struct yarn_recorder *recorder)
{
    _Atomic uint32_t never = 0;
    yarn_state_become(&recorder->state, YARN_PHASE_ENDED, 0);
    yarn_futex_wait(&never, 0, EXIT_NS);
}

/* What the thread has of the host's and need not: rights, descriptors, a place in real time. */
static int become_own(struct yarn_recorder *recorder)
{
    const struct yarn_seccomp_probe *seccomp = &recorder->job.seccomp;
    if (!seccomp->deadly[YARN_SECCOMP_RIGHTS])
        yarn_ids_renounce_exec();
    yarn_commands_drop_bounds(recorder);
    int err = seccomp->is_apart ? 0 : yarn_own_files_open(false);
    if (!err && !seccomp->deadly[YARN_SECCOMP_LATENCY])
        yarn_process_prefer_latency();
    return err;
}

int yarn_reader_thread_run(void *argument)
{
    struct yarn_recorder *recorder = argument;
    struct yarn_recording *recording = &recorder->recording;
    struct yarn_ring_reader reader;
    /* Why a child's does so later: most end before. */
    bool is_child = recorder->is_deferred && recorder->job.facts.lineage.forked_by;
    /* Born with copies of the host's descriptors, it keeps none open that the host closes. */
    int err = recorder->job.seccomp.is_apart ? yarn_own_files_open(true) : 0;
    if (is_child && !yarn_deferred_start_wait(recorder))
        return 0;
    if (!err)
        err = become_own(recorder);
    if (err)
        return fail(recorder, "the reader could not get a descriptor table of its own", err);
    if (!is_child && !yarn_deferred_start_wait(recorder))
        return 0;
    err = yarn_recording_open(recording, &recorder->job, &recorder->messages);
    if (err)
        return fail(recorder, "the recording could not be opened", err);
    err = yarn_reader_open(&reader, recording->request.reader != YARN_READER_TIMED,
                           &recording->session, &recorder->requests.wanted);
    if (err) {
        yarn_recording_end(recording, YARN_DUMP_END_FAILED, -1);
        yarn_recording_close(recording);
        return fail(recorder, "the rings could not be watched", err);
    }
    yarn_commands_open_socket(recorder);
    yarn_commands_begin(recorder);
    enum outcome outcome = loop(recorder, &reader);
    int status = finish(recorder, outcome);
    bool may_leave =
        !recorder->job.probe_sites.is_open; /* probes' definitions outlive the process */
    if (may_leave && outcome == END_REQUESTED &&
        (uint32_t)atomic_load(&recorder->end) == YARN_DUMP_END_EXIT)
        wait_for_exit(recorder);
    yarn_recording_close(recording);
    yarn_reader_close(&reader);
    if ((uint32_t)atomic_load(&recorder->end) != YARN_DUMP_END_STOPPED) /* no other follows */
        yarn_probe_sites_close(&recorder->job.probe_sites);
    yarn_state_become(&recorder->state, YARN_PHASE_ENDED, 0);
    /* A filter ended the host's last thread, which alone would have been the whole process. */
    if (recorder->host_signal)
        yarn_signal_die_of(recorder->host_signal);
    return status;
}
