/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/control/commands.h"

#include "core/sys/clock.h"
#include "core/sys/file.h"
#include "core/sys/landlock.h"
#include "preload/control/deferred_start.h"

/* ---- starting and stopping ---- */

static void stop(struct yarn_recorder *recorder, enum yarn_dump_coverage_cause cause)
{
    yarn_recording_pause(&recorder->recording, cause);
    yarn_schedule_stopped(&recorder->schedule);
    yarn_state_become(&recorder->state, YARN_PHASE_PAUSED, cause);
}

static void start(struct yarn_recorder *recorder, enum yarn_dump_coverage_cause cause)
{
    yarn_recording_resume(&recorder->recording, cause);
    yarn_schedule_started(&recorder->schedule, yarn_clock_ns(YARN_TIME_MONOTONIC));
    yarn_state_become(&recorder->state, YARN_PHASE_RUNNING, 0);
}

void yarn_commands_begin(struct yarn_recorder *recorder)
{
    if (!recorder->starts_paused)
        yarn_recording_begin(&recorder->recording);
    yarn_deferred_start_end(recorder);
    if (!recorder->starts_paused) {
        yarn_state_become(&recorder->state, YARN_PHASE_RUNNING, 0);
        return;
    }
    bool is_from_birth = yarn_deferred_start_counts_for_parent(recorder);
    yarn_coverage_begin_off(&recorder->recording.account.coverage, recorder->job.facts.start_ns,
                            is_from_birth ? 0 : yarn_clock_cpu_ns_of_others(),
                            YARN_DUMP_COVERAGE_OPTION);
    yarn_state_become(&recorder->state, YARN_PHASE_PAUSED, YARN_DUMP_COVERAGE_OPTION);
}

void yarn_commands_keep_schedule(struct yarn_recorder *recorder, uint64_t now_ns)
{
    const struct yarn_schedule *schedule = &recorder->schedule;
    if (yarn_schedule_wait_ns(schedule, now_ns, UINT64_MAX))
        return;
    if (schedule->start_at_ns)
        start(recorder, YARN_DUMP_COVERAGE_DELAY);
    else
        stop(recorder, YARN_DUMP_COVERAGE_DURATION);
}

/* ---- host threads ---- */

static void flush(struct yarn_recorder *recorder)
{
    yarn_recording_drain_all(&recorder->recording);
    yarn_recording_flush(&recorder->recording, false);
}

/* The parent of this process removes the file, where nothing comes and we may not any more. */
static void reserve_dump(struct yarn_recorder *recorder)
{
    const struct yarn_recording *recording = &recorder->recording;
    const struct yarn_facts *facts = &recorder->job.facts;
    struct yarn_child_dump dump = {
        .pid = facts->pid,
        .start_realtime_ns = facts->start_realtime_ns,
    };
    if (!yarn_process_dump_reserve(&recorder->recording.dump) ||
        recorder->job.seccomp.deadly[YARN_SECCOMP_CONTROL] ||
        !yarn_file_lock(recording->dump.file.fd))
        return;
    dump.number = recording->dump.file.number;
    yarn_child_times_add_dump(atomic_load(&recorder->above), &dump);
}

static void follow_ids(struct yarn_recorder *recorder)
{
    struct yarn_recording *recording = &recorder->recording;
    const struct yarn_ids *ids;
    while ((ids = yarn_ids_queue_next(&recorder->ids))) {
        int err = 0;
        if (!yarn_ids_are_own(ids)) {
            reserve_dump(recorder);
            yarn_module_map_read_tables(recording->pipeline.map);
            err = yarn_ids_take(ids);
        }
        yarn_ids_queue_free(&recorder->ids, ids);
        if (err)
            yarn_failure_note(&recording->failure,
                              "the reader could not give up the rights that the host gave up", err);
    }
}

static void follow_rules(struct yarn_recorder *recorder)
{
    uint64_t rules = atomic_exchange(&recorder->rules, 0);
    if (!rules)
        return;
    int err = yarn_landlock_take((pid_t)(rules >> 32), (int)(uint32_t)rules);
    if (err)
        yarn_failure_note(&recorder->recording.failure,
                          "the reader could not take the rules of Landlock that the host took",
                          err);
}

void yarn_commands_drop_bounds(struct yarn_recorder *recorder)
{
    if (yarn_state_has(&recorder->state, YARN_STATE_DROPS_BOUNDS) &&
        !recorder->job.seccomp.deadly[YARN_SECCOMP_RIGHTS])
        yarn_ids_drop_bounds();
}

static void seal(struct yarn_recorder *recorder)
{
    if (!yarn_state_nr_in_exec(&recorder->state))
        return; /* the exec has failed already: its thread no longer waited */
    yarn_control_socket_close(&recorder->control);
    yarn_recording_seal(&recorder->recording);
    yarn_deferred_start_subtract_from_parent(recorder); /* of the seal before */
    yarn_deferred_start_add_to_parent(recorder);
}

static void carry_out(struct yarn_recorder *recorder, enum yarn_recorder_command command)
{
    switch (command) {
    case YARN_RECORDER_FOLLOW_IDS:
        follow_ids(recorder);
        follow_rules(recorder);
        break;
    case YARN_RECORDER_LEAVE_ROOT:
        reserve_dump(recorder);
        yarn_recording_leave_root(&recorder->recording);
        break;
    case YARN_RECORDER_CHECK_SIGNALS:
        yarn_commands_drop_bounds(recorder);
        yarn_session_check_signals(&recorder->recording.session);
        yarn_recording_report_failures(&recorder->recording);
        break;
    case YARN_RECORDER_EXPECT_FILTER:
        recorder->expects_filter = true;
        flush(recorder);
        break;
    case YARN_RECORDER_RESUME:
        start(recorder, YARN_DUMP_COVERAGE_PROGRAM);
        break;
    case YARN_RECORDER_PAUSE:
        stop(recorder, YARN_DUMP_COVERAGE_PROGRAM);
        break;
    case YARN_RECORDER_FLUSH:
        flush(recorder);
        break;
    case YARN_RECORDER_EXEC:
        seal(recorder);
        break;
    case YARN_RECORDER_END:
    case YARN_RECORDER_COMMAND_COUNT:
        break;
    }
}

bool yarn_commands_run(struct yarn_recorder *recorder)
{
    uint32_t wanted = yarn_requests_take(&recorder->requests);
    if (!wanted)
        return true;
    if (wanted >> YARN_RECORDER_END & 1) {
        yarn_requests_put(&recorder->requests, wanted, 0); /* for the next reading */
        return false;
    }
    for (uint32_t command = 0; command < YARN_RECORDER_COMMAND_COUNT; command++)
        if (wanted >> command & 1)
            carry_out(recorder, command);
    /* Otherwise the reader ends, and a thread that waits for its rights waits for that. */
    if (!(wanted >> YARN_RECORDER_FOLLOW_IDS & 1) || !recorder->recording.failure.what)
        yarn_requests_finish(&recorder->requests);
    return true;
}

void yarn_commands_run_urgent(struct yarn_recorder *recorder)
{
    follow_ids(recorder);
    if (atomic_load(&recorder->requests.wanted) == 1U << YARN_RECORDER_FOLLOW_IDS &&
        !yarn_commands_run(recorder))
        return; /* the end was requested meanwhile; the next reading finds it */
}

/* ---- the control socket ---- */

void yarn_commands_open_socket(struct yarn_recorder *recorder)
{
    const struct yarn_job *job = &recorder->job;
    const char *pattern = job->options.control, *path = recorder->control.path;
    if (!*pattern)
        return;
    int err = -EPERM;
    if (!job->seccomp.deadly[YARN_SECCOMP_CONTROL])
        err = yarn_control_socket_open(&recorder->control, pattern, &job->facts, job->envp);
    /* Why aside: each child of a process with a fixed name would leave a dump for it. */
    if (err == -EADDRINUSE)
        yarn_messages_add(
            &recorder->messages, YARN_DUMP_MESSAGE_WARNING, job->facts.lineage.forked_by,
            "YARN_CONTROL: the name is taken, so this process takes no commands: %s", path);
    else if (err)
        YARN_WARN(&recorder->messages, "YARN_CONTROL: %s: %s (errno %d)",
                  err == -ENAMETOOLONG ? "a socket's path has at most 107 bytes, this one has more"
                                       : "the socket could not be made",
                  path, -err);
}

static void add_status(struct yarn_text *text, const struct yarn_recorder *recorder)
{
    const struct yarn_recording *recording = &recorder->recording;
    const uint64_t *totals = recording->account.totals.value;
    bool is_off = recording->account.coverage.is_off;
    yarn_text_add_format(text, "state=%s pid=%d samples=%lu lost=%lu dump=%s",
                         is_off ? "stopped" : "recording", recorder->job.facts.pid,
                         totals[YARN_DUMP_TOTAL_SAMPLES], totals[YARN_DUMP_TOTAL_LOST],
                         recording->dump.writer ? recording->dump.file.path : "none");
}

static int answer_client(void *self, const struct yarn_control_command *command,
                         struct yarn_text *reply)
{
    struct yarn_recorder *recorder = self;
    struct yarn_recording *recording = &recorder->recording;
    char mark[YARN_CONTROL_MARK_MAX + 1];
    struct yarn_text text = yarn_text_of(mark, sizeof mark);
    switch (command->verb) {
    case YARN_CONTROL_START:
        start(recorder, YARN_DUMP_COVERAGE_SOCKET);
        yarn_text_add(reply, "recording");
        break;
    case YARN_CONTROL_STOP:
        stop(recorder, YARN_DUMP_COVERAGE_SOCKET);
        yarn_text_add(reply, "stopped");
        break;
    case YARN_CONTROL_MARK:
        yarn_control_add_line(&text, command->text);
        yarn_recording_mark(recording, yarn_clock_ns(YARN_TIME_MONOTONIC), 0, mark);
        recorder->has_unsaved = true;
        yarn_text_add(reply, "marked");
        break;
    case YARN_CONTROL_FLUSH:
        flush(recorder);
        yarn_text_add(reply, "flushed");
        break;
    case YARN_CONTROL_STATUS:
        add_status(reply, recorder);
        break;
    case YARN_CONTROL_VERB_COUNT:
        return -EINVAL;
    }
    if (!recording->failure.what)
        return 0;
    *reply = yarn_text_of(reply->data, reply->capacity);
    yarn_text_add(reply, recording->failure.what);
    yarn_messages_add_error(reply, recording->failure.error);
    return -EIO;
}

void yarn_commands_serve(struct yarn_recorder *recorder)
{
    yarn_control_socket_serve(&recorder->control, answer_client, recorder);
}
