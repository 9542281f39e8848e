/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/control/reader_thread.h"

#include "core/session/reader.h"
#include "core/sys/clock.h"
#include "core/sys/futex.h"
#include "core/sys/ids.h"
#include "core/sys/own_files.h"
#include "core/sys/signal.h"
#include "preload/control/commands.h"
#include "preload/control/deferred_start.h"

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

static void fail(struct yarn_recorder *recorder, const char *what, int err)
{
    yarn_failure_note(&recorder->recording.failure, what, err);
    yarn_state_become(&recorder->state, YARN_PHASE_FAILED, 0);
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
            yarn_state_forget_execs(&recorder->state);
    }
    yarn_deferred_start_refund(recorder);
    yarn_commands_open_socket(recorder);
    return true;
}

/* Once, when the host has set its filter. Why a warning: the dump will have no end. */
static void note_filter(struct yarn_recorder *recorder)
{
    if (!yarn_state_set(&recorder->state, YARN_STATE_BEHIND_FILTER, false))
        return;
    yarn_messages_add(&recorder->messages, YARN_DUMP_MESSAGE_WARNING,
                      "the host has set a seccomp filter",
                      "its children are not recorded, its end is not waited for");
}

enum { SIGNAL_STATUS = 128 }; /* as a shell shows a death by signal */

enum outcome { END_REQUESTED, ALONE, BROKEN };

/* Those that host threads have stored. */
static void take_marks(struct yarn_recorder *recorder)
{
    const struct yarn_mark *mark;
    while ((mark = yarn_marks_next(&recorder->marks))) {
        yarn_recording_mark(&recorder->recording, mark->time_ns, mark->tid, mark->text);
        recorder->has_unsaved = true;
        yarn_marks_free(&recorder->marks, mark);
    }
}

static void wait_for_work(struct yarn_recorder *recorder, struct yarn_ring_reader *reader,
                          uint64_t timeout_ns)
{
    struct pollfd visitors[YARN_CONTROL_FDS_MAX];
    size_t count = yarn_control_socket_watch(&recorder->control, visitors);
    yarn_reader_watch(reader, visitors, count);
    yarn_state_set(&recorder->state, YARN_STATE_POLLING,
                   reader->kind == &yarn_reader_poll || reader->nr_visitors);
    yarn_reader_wait(reader, timeout_ns);
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
    yarn_messages_add(&recorder->messages, YARN_DUMP_MESSAGE_WARNING, "the recording ended",
                      "the host asks each of its tasks for something by a signal (libpsx), which "
                      "the reader cannot answer");
    atomic_store(&recorder->end, (uint64_t)UINT32_MAX << 32 | YARN_DUMP_END_STOPPED);
    return true;
}

/* When to look again at the latest. */
static uint64_t next_timeout(struct yarn_recorder *recorder, bool is_soon, uint64_t now_ns,
                             uint64_t flush_ns)
{
    uint64_t timeout_ns = yarn_u64_minus(flush_ns, now_ns);
    if (is_soon)
        timeout_ns = yarn_u64_min(timeout_ns, SOON_NS);
    if (recorder->expects_filter)
        timeout_ns = yarn_u64_min(timeout_ns, FILTER_NS);
    timeout_ns = yarn_u64_min(timeout_ns, yarn_recording_looks_ns(&recorder->recording, now_ns));
    timeout_ns = yarn_u64_min(timeout_ns, yarn_recording_confirm(&recorder->recording, now_ns));
    return yarn_schedule_wait_ns(&recorder->schedule, now_ns, timeout_ns);
}

/* While it is stopped there is nothing to say again and again. */
static bool has_to_flush(const struct yarn_recorder *recorder)
{
    const struct yarn_recording *recording = &recorder->recording;
    return !recording->account.coverage.is_off || recorder->has_unsaved ||
           atomic_load(&recorder->messages.count) != recording->dump.nr_messages_written;
}

static enum outcome loop(struct yarn_recorder *recorder, struct yarn_ring_reader *reader)
{
    struct yarn_recording *recording = &recorder->recording;
    uint64_t interval_ns = recorder->job.options.interval_ns;
    uint64_t flush_ns = yarn_clock_ns(YARN_TIME_MONOTONIC) + interval_ns;
    uint64_t timeout_ns =
        yarn_schedule_wait_ns(&recorder->schedule, flush_ns - interval_ns, interval_ns);
    size_t nr_records = 0; /* since a flush was due */
    bool is_due = false;
    for (;;) {
        bool has_news;
        if (yarn_state_nr_in_exec(&recorder->state) && !hold(recorder))
            return END_REQUESTED;
        yarn_recording_unseal(recording);
        atomic_store(&recorder->is_waiting, true);
        wait_for_work(recorder, reader, timeout_ns);
        atomic_store(&recorder->is_waiting, false);
        if (is_asked_as_a_task(recorder, reader, is_due))
            return END_REQUESTED;
        yarn_commands_run_urgent(recorder);
        take_marks(recorder);
        note_filter(recorder);
        nr_records += yarn_recording_drain(recording, &has_news);
        uint64_t now_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
        is_due = now_ns + interval_ns / FLUSH_SLACK_SHARE >= flush_ns;
        bool is_settled = yarn_recording_settle(recording, is_due);
        if (!yarn_commands_run(recorder))
            return END_REQUESTED;
        if (yarn_state_nr_in_exec(&recorder->state))
            continue;
        yarn_commands_serve(recorder);
        yarn_commands_keep_schedule(recorder, now_ns);
        if (is_due && (is_settled || now_ns >= flush_ns + interval_ns)) {
            if (has_to_flush(recorder))
                yarn_recording_flush(recording);
            recorder->has_unsaved = false;
            flush_ns = now_ns + interval_ns;
        }
        bool is_quiet = is_due && !nr_records;
        if ((is_quiet || recording->pipeline.saw_thread_end) && yarn_recording_is_alone(recording))
            return ALONE;
        if (is_due)
            nr_records = 0;
        if (recording->failure.what)
            return BROKEN;
        timeout_ns = is_settled
                         ? next_timeout(recorder, has_news && reader->woke_early, now_ns, flush_ns)
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
                              "the recording ended", recorder->stop_reason);
    } else if (outcome == BROKEN) {
        reason = YARN_DUMP_END_FAILED;
        recording->failure.is_reported = true;
        yarn_messages_add(&recorder->messages, YARN_DUMP_MESSAGE_ERROR, "the recording ended early",
                          recording->failure.what);
    }
    yarn_recording_halt(recording);
    yarn_deferred_start_charge(recorder);
    yarn_recording_end(recording, reason, status);
    yarn_control_socket_close(&recorder->control);
    return outcome == ALONE ? status : 0;
}

int yarn_reader_thread_run(void *argument)
{
    struct yarn_recorder *recorder = argument;
    struct yarn_recording *recording = &recorder->recording;
    struct yarn_ring_reader reader;
    if (!yarn_deferred_start_wait(recorder))
        return 0;
    if (!recorder->job.seccomp.deadly[YARN_SECCOMP_RIGHTS])
        yarn_ids_renounce_exec();
    yarn_commands_drop_bounds(recorder);
    int err = yarn_own_files_open(recorder->job.seccomp.is_unshare_refused);
    if (err) {
        fail(recorder, "the reader could not get a descriptor table of its own", err);
        return 0;
    }
    if (!recorder->job.seccomp.deadly[YARN_SECCOMP_LATENCY])
        yarn_process_prefer_latency();
    err = yarn_recording_open(recording, &recorder->job, &recorder->messages);
    if (err) {
        fail(recorder, "the recording could not be opened", err);
        return 0;
    }
    const struct yarn_reader_kind *kind =
        recording->spec.reader == YARN_READER_TIMED ? &yarn_reader_timed : &yarn_reader_poll;
    err = yarn_reader_open(&reader, kind, &recording->session, &recorder->requests.wanted);
    if (err) {
        yarn_recording_end(recording, YARN_DUMP_END_FAILED, -1);
        fail(recorder, "the rings could not be watched", err);
        return 0;
    }
    yarn_commands_open_socket(recorder);
    yarn_commands_begin(recorder);
    int status = finish(recorder, loop(recorder, &reader));
    yarn_reader_close(&reader);
    if ((uint32_t)atomic_load(&recorder->end) != YARN_DUMP_END_STOPPED) /* no other follows */
        yarn_sites_close(&recorder->job.sites);
    yarn_state_become(&recorder->state, YARN_PHASE_ENDED, 0);
    /* A filter ended the host's last thread, which alone would have been the whole process. */
    if (recorder->host_signal)
        yarn_signal_die_of(recorder->host_signal);
    return status;
}
