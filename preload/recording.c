/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/recording.h"

#include "core/sys/clock.h"
#include "core/sys/file.h"
#include "preload/intake.h"
#include "preload/preamble.h"
#include "preload/predecessor.h"
#include "preload/trust.h"

enum {
    THREADS_NAMED_MAX = 1024,
    COMM_BYTES = 64,
    SETTLE_SHARE = 8, /* of the time in which a ring fills */
};

#define QUEUE_BYTES YARN_MIB(4)

static int fail(struct yarn_recording *recording, const char *what, int err)
{
    if (!recording->failure) {
        recording->failure = what;
        recording->failure_error = err;
    }
    return err;
}

static void write_thread(struct yarn_recording *recording, uint32_t tid, uint32_t parent_tid,
                         uint64_t time_ns, const char *comm)
{
    struct yarn_dump_thread thread = {
        .tid = tid,
        .parent_tid = parent_tid,
        .time_ns = time_ns,
        .comm = yarn_span_of_text(comm),
    };
    yarn_dump_write_thread(recording->writer, &thread);
}

static void write_threads(struct yarn_recording *recording)
{
    pid_t tids[THREADS_NAMED_MAX];
    pid_t own = yarn_process_tid();
    uint64_t now_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    int count = yarn_process_threads(recording->task_folder, tids, THREADS_NAMED_MAX);
    for (int i = 0; i < count && i < THREADS_NAMED_MAX; i++) {
        char comm[COMM_BYTES];
        if (tids[i] == own)
            continue;
        yarn_process_thread_name(recording->task_folder, tids[i], comm, sizeof comm);
        write_thread(recording, (uint32_t)tids[i], 0, now_ns, comm);
    }
}

/* Looked for by the image itself, and only where there is a dump to say so in. */
static struct yarn_lineage lineage_of(const struct yarn_recording *recording)
{
    const struct yarn_facts *facts = &recording->job->facts;
    struct yarn_lineage lineage = facts->lineage;
    if (lineage.forked_by || lineage.predecessor)
        return lineage;
    uint64_t birth_ns = yarn_process_birth_ns(recording->task_folder, facts->pid);
    if (birth_ns > facts->boottime_offset_ns)
        yarn_predecessor_find(&recording->file, facts, birth_ns - facts->boottime_offset_ns,
                              &lineage);
    return lineage;
}

bool yarn_recording_begin_dump(struct yarn_recording *recording)
{
    if (recording->writer)
        return true;
    if (recording->has_tried_dump)
        return false;
    recording->has_tried_dump = true;
    struct yarn_lineage lineage = lineage_of(recording);
    int fd = yarn_dump_file_create(&recording->file);
    if (fd < 0) {
        fail(recording, "the dump could not be created", fd);
        return false;
    }
    int err = yarn_dump_writer_new(&recording->writer, fd, NULL);
    if (err) {
        yarn_file_close(fd);
        fail(recording, "no memory for the dump's tables", err);
        return false;
    }
    recording->stacks.writer = recording->writer;
    recording->stacks.epoch = yarn_dump_writer_epoch(recording->writer);
    yarn_preamble_write(recording->writer, recording->job, &lineage, &recording->session);
    write_threads(recording);
    return true;
}

void yarn_recording_begin_early(struct yarn_recording *recording)
{
    recording->is_early = !recording->writer && yarn_recording_begin_dump(recording);
}

static const char *why_refused(int err)
{
    switch (err) {
    case -ENOSPC:
        return "there are more than can be followed";
    case -EAGAIN:
        return "no timer for them: raise the limit of pending signals";
    case -EBUSY:
        return "they block every signal";
    case -EDQUOT:
        return "no memory for their rings: raise the limit of locked memory";
    case -EMFILE:
        return "no descriptor for them: raise the limit of open files";
    default:
        return "the kernel refused what samples them";
    }
}

/* What went wrong in a session that was running. */
static void note_failure(struct yarn_recording *recording)
{
    const struct yarn_session_report *report = &recording->session.report;
    if (report->failure)
        fail(recording, report->failure, report->failure_error);
    if (!report->nr_refused_threads || recording->has_told_refused_threads)
        return;
    recording->has_told_refused_threads = true;
    const char *why = why_refused(report->thread_refusal);
    yarn_messages_add(recording->messages, YARN_MESSAGE_WARNING, "threads were not sampled", why);
}

static void enable(struct yarn_recording *recording)
{
    recording->is_enabled = true;
    yarn_session_enable(&recording->session);
    note_failure(recording);
}

size_t yarn_recording_drain(struct yarn_recording *recording, bool *ret_has_news)
{
    struct yarn_record_listener listener = yarn_intake_of(recording);
    if (yarn_watch_is_on(&recording->walks.watch)) {
        struct yarn_record_listener glance = yarn_intake_glance_of(recording);
        yarn_merge_glance(&recording->session.merge, &glance);
    }
    size_t count = yarn_session_drain(&recording->session, false, &listener, ret_has_news);
    note_failure(recording);
    return count;
}

uint64_t yarn_recording_wait_ns(const struct yarn_recording *recording)
{
    const struct yarn_watch *watch = &recording->walks.watch;
    if (!yarn_watch_is_on(watch))
        return UINT64_MAX;
    return yarn_watch_wait_ns(watch, yarn_clock_ns(YARN_TIME_MONOTONIC));
}

void yarn_recording_drain_all(struct yarn_recording *recording, bool *ret_has_news)
{
    struct yarn_record_listener listener = yarn_intake_of(recording);
    yarn_session_drain(&recording->session, true, &listener, ret_has_news);
}

bool yarn_recording_settle(struct yarn_recording *recording, bool is_due)
{
    if (!is_due && !yarn_queue_is_filling(&recording->queue))
        return true;
    uint64_t while_ns =
        yarn_plan_fill_ns(&recording->spec, &recording->session.report.got) / SETTLE_SHARE;
    return yarn_intake_settle(recording, yarn_clock_ns(YARN_TIME_MONOTONIC) + while_ns);
}

void yarn_recording_flush(struct yarn_recording *recording)
{
    yarn_intake_settle(recording, UINT64_MAX);
    bool has_warning = false;
    if (!recording->has_told_no_samples && yarn_trust_lacks_samples(recording)) {
        recording->has_told_no_samples = true;
        yarn_messages_add(recording->messages, YARN_MESSAGE_WARNING,
                          "CPU time passed without a sample",
                          "it was the kernel's, or that of threads too short to be sampled");
    }
    uint32_t count = atomic_load(&recording->messages->count);
    for (uint32_t i = 0; i < count && (!recording->writer || recording->is_early); i++)
        has_warning |= recording->messages->message[i].level <= YARN_MESSAGE_WARNING;
    bool is_wanted = has_warning || recording->job->options.empty == YARN_EMPTY_KEEP ||
                     yarn_trust_has_children(recording);
    if (is_wanted)
        yarn_recording_begin_dump(recording);
    if (is_wanted || recording->totals.value[YARN_DUMP_TOTAL_SAMPLES])
        recording->is_early = false;
    if (!recording->writer)
        return;
    yarn_frame_names_write_late(&recording->names, recording->writer, false);
    yarn_trust_write(recording);
    yarn_dump_writer_flush(recording->writer);
    int err = yarn_dump_writer_error(recording->writer);
    if (err)
        fail(recording, "the dump could not be written", err);
}

void yarn_recording_mark(struct yarn_recording *recording, uint64_t time_ns, uint32_t tid,
                         const char *text)
{
    struct yarn_dump_message message = {
        .time_ns = time_ns,
        .kind = YARN_DUMP_MESSAGE_MARK,
        .tid = tid,
        .text = yarn_span_of_text(text),
    };
    if (yarn_recording_begin_dump(recording))
        yarn_dump_write_message(recording->writer, &message);
}

void yarn_recording_pause(struct yarn_recording *recording)
{
    bool has_news;
    recording->is_enabled = false;
    yarn_session_disable(&recording->session);
    yarn_recording_drain_all(recording, &has_news);
    yarn_recording_flush(recording);
}

void yarn_recording_yield_signal(struct yarn_recording *recording)
{
    yarn_session_yield_signal(&recording->session);
    note_failure(recording);
}

void yarn_recording_resume(struct yarn_recording *recording)
{
    enable(recording);
}

bool yarn_recording_is_alone(struct yarn_recording *recording)
{
    pid_t tids[4];
    pid_t pid = recording->job->facts.pid;
    recording->saw_thread_end = false;
    int count = yarn_process_threads(recording->task_folder, tids, YARN_COUNT_OF(tids));
    if (count < 0 || count > 2 || !yarn_process_thread_is_dead(recording->task_folder, pid))
        return false;
    /* In a PID namespace without a /proc of its own the folder has other numbers than ours: then it
     * lacks this very thread, and tells nothing. */
    return !yarn_process_thread_is_dead(recording->task_folder, yarn_process_tid());
}

static void close_all(struct yarn_recording *recording)
{
    yarn_dump_writer_free(recording->writer);
    recording->writer = NULL;
    yarn_stacks_close(&recording->stacks);
    yarn_queue_close(&recording->queue);
    yarn_walks_close(&recording->walks);
    yarn_frame_names_close(&recording->names);
    yarn_unwinder_free(recording->unwinder);
    yarn_module_map_free(recording->map);
    recording->unwinder = NULL;
    recording->map = NULL;
    yarn_session_close(&recording->session);
    yarn_file_close(recording->task_folder);
    yarn_file_close(recording->proc_self);
    recording->task_folder = recording->proc_self = -1;
}

static void write_end(struct yarn_recording *recording, enum yarn_dump_end_reason reason,
                      int status)
{
    if (!recording->writer)
        return;
    struct yarn_dump_end end = {
        .time_ns = yarn_clock_ns(YARN_TIME_MONOTONIC),
        .reason = reason,
        .status = status,
    };
    yarn_frame_names_write_late(&recording->names, recording->writer, true);
    yarn_stacks_write_modules(&recording->stacks);
    yarn_trust_write_final(recording);
    yarn_dump_write_end(recording->writer, &end);
}

void yarn_recording_seal(struct yarn_recording *recording, enum yarn_dump_end_reason reason,
                         int status)
{
    bool has_news;
    /* Why not perf's events: the kernel takes them away at the exec. A signal that was on its way
     * would meet the new program, which knows nothing of it, and end it. */
    recording->is_held = yarn_session_needs_time(&recording->session) && recording->is_enabled;
    if (recording->is_held)
        yarn_session_disable(&recording->session);
    yarn_recording_drain_all(recording, &has_news);
    yarn_recording_flush(recording);
    write_end(recording, reason, status);
}

void yarn_recording_unseal(struct yarn_recording *recording)
{
    if (recording->is_held)
        enable(recording);
    recording->is_held = false;
}

void yarn_recording_end(struct yarn_recording *recording, enum yarn_dump_end_reason reason,
                        int status)
{
    yarn_recording_pause(recording);
    write_end(recording, reason, status);
    if (recording->is_early)
        yarn_dump_file_remove(&recording->file);
    close_all(recording);
}

static int open_folders(struct yarn_recording *recording)
{
    recording->proc_self = yarn_file_open_folder(YARN_FILE_CWD, "/proc/self");
    if (recording->proc_self < 0)
        return fail(recording, "/proc/self could not be opened", recording->proc_self);
    recording->task_folder = yarn_process_open_folder(recording->proc_self, "task");
    if (recording->task_folder < 0)
        return fail(recording, "/proc/self/task could not be opened", recording->task_folder);
    return 0;
}

static enum yarn_session_stack stack_kind(const struct yarn_recording *recording)
{
    switch (recording->job->options.callgraph.kind) {
    case YARN_CALLGRAPH_NONE:
        return YARN_SESSION_STACK_NONE;
    case YARN_CALLGRAPH_FP:
        return YARN_SESSION_STACK_CHAIN;
    case YARN_CALLGRAPH_LBR:
        yarn_messages_add(recording->messages, YARN_MESSAGE_WARNING,
                          "YARN_CALLGRAPH: branch records need a hardware counter",
                          "dwarf instead");
        return YARN_SESSION_STACK_COPY;
    case YARN_CALLGRAPH_AUTO:
    case YARN_CALLGRAPH_DWARF:
        break;
    }
    return YARN_SESSION_STACK_COPY;
}

static int open_session(struct yarn_recording *recording)
{
    const struct yarn_options *options = &recording->job->options;
    recording->spec = (struct yarn_session_spec){
        .events = recording->job->events.specs,
        .nr_events = recording->job->events.count,
        .frequency_hz = options->frequency_hz,
        .sampler = options->sampler == YARN_SAMPLER_PERF    ? YARN_SESSION_SAMPLER_PERF
                   : options->sampler == YARN_SAMPLER_TIMER ? YARN_SESSION_SAMPLER_TIMER
                                                            : YARN_SESSION_SAMPLER_AUTO,
        .strategy = options->strategy == YARN_STRATEGY_PER_THREAD ? YARN_SESSION_STRATEGY_PER_THREAD
                    : options->strategy == YARN_STRATEGY_PER_CORE ? YARN_SESSION_STRATEGY_PER_CORE
                                                                  : YARN_SESSION_STRATEGY_AUTO,
        .stack = stack_kind(recording),
        .stack_bytes = options->callgraph.stack_bytes,
        .ring_bytes = options->ring_bytes,
        .interval_ns = options->interval_ns,
        .reader = options->reader == YARN_READER_TIMED ? YARN_SESSION_READER_TIMED
                                                       : YARN_SESSION_READER_POLL,
        .pid = recording->job->facts.pid,
        .blocked_signals = recording->job->facts.blocked_signals,
        .proc_self = recording->proc_self,
        .task_folder = recording->task_folder,
    };
    if (!recording->spec.stack_bytes)
        recording->spec.stack_bytes = YARN_STACK_BYTES_DEFAULT;
    int err = yarn_session_open(&recording->session, &recording->spec);
    if (err)
        return fail(recording, recording->session.report.failure, err);
    if (yarn_session_needs_time(&recording->session))
        recording->spec.reader = YARN_SESSION_READER_TIMED;
    recording->clock_event = YARN_DUMP_NONE;
    for (uint32_t i = (uint32_t)recording->spec.nr_events; i-- > 0;)
        if (!recording->session.specs[i].error && recording->session.specs[i].spec.is_clock)
            recording->clock_event = i;
    return 0;
}

static int open_unwinding(struct yarn_recording *recording)
{
    enum yarn_unwinder_kind kind = recording->job->options.unwinder == YARN_UNWINDER_LIBUNWIND
                                       ? YARN_UNWIND_BY_LIBUNWIND
                                       : YARN_UNWIND_BY_LADDER;
    int err = yarn_module_map_new(&recording->map, recording->proc_self);
    if (!err)
        err = yarn_unwinder_new(&recording->unwinder, kind, recording->map);
    if (!err)
        err = yarn_frame_names_open(&recording->names, recording->map, &recording->job->facts);
    if (!err)
        err = yarn_walks_open(&recording->walks, recording->map, recording->unwinder,
                              recording->session.merge.decoder.layout.registers_mask,
                              yarn_plan_rate(&recording->spec));
    if (!err)
        err = yarn_queue_open(&recording->queue, QUEUE_BYTES);
    if (!err)
        err = yarn_stacks_open(&recording->stacks, recording->map, &recording->names);
    return err ? fail(recording, "no memory for unwinding", err) : 0;
}

/* Each step down that the kernel forced, once. */
static void report_steps(struct yarn_recording *recording)
{
    const struct yarn_session *session = &recording->session;
    const struct yarn_session_report *report = &session->report;
    for (uint32_t bit = 1; bit < YARN_ATTR_ALL; bit <<= 1)
        if (!(report->features & bit))
            yarn_messages_add(recording->messages, YARN_MESSAGE_INFO, "not in this kernel",
                              yarn_attr_feature_name(bit));
    if (report->got.stack_bytes < report->asked.stack_bytes)
        yarn_messages_add(recording->messages, YARN_MESSAGE_INFO,
                          "stack copies are smaller than asked for",
                          "the limit of locked memory leaves no room");
    if (report->refusal)
        yarn_messages_add(recording->messages, YARN_MESSAGE_INFO,
                          "perf was refused, timers take the samples", report->refusal);
    if (yarn_session_needs_time(session) && recording->spec.stack == YARN_SESSION_STACK_CHAIN)
        yarn_messages_add(recording->messages, YARN_MESSAGE_INFO,
                          "YARN_CALLGRAPH: the timer sampler copies stacks", "dwarf instead");
    if (report->nr_late_threads)
        yarn_messages_add(recording->messages, YARN_MESSAGE_WARNING,
                          "threads appeared while events were attached",
                          "some may be counted twice");
    for (size_t i = 0; i < recording->spec.nr_events; i++)
        if (session->specs[i].error)
            yarn_messages_add(recording->messages, YARN_MESSAGE_WARNING,
                              recording->spec.events[i].name, session->specs[i].reason);
}

static void report_options(struct yarn_recording *recording)
{
    const struct yarn_options *options = &recording->job->options;
    for (size_t i = 0; i < options->nr_warnings; i++)
        yarn_messages_add(recording->messages, YARN_MESSAGE_WARNING, options->warnings[i], NULL);
}

int yarn_recording_open(struct yarn_recording *recording, const struct yarn_job *job,
                        struct yarn_messages *messages)
{
    *recording = (struct yarn_recording){
        .job = job,
        .messages = messages,
        .proc_self = -1,
        .task_folder = -1,
        .session = YARN_SESSION_CLOSED,
    };
    int err = open_folders(recording);
    if (!err) {
        err = yarn_dump_file_prepare(&recording->file, job->options.output, &job->facts, job->envp);
        if (err)
            fail(recording, "the dump's folder cannot be written to", err);
    }
    if (!err)
        err = open_session(recording);
    if (!err)
        err = open_unwinding(recording);
    if (err) {
        close_all(recording);
        return err;
    }
    report_options(recording);
    report_steps(recording);
    enable(recording);
    /* After the events are on: a mapping may then be seen twice, but none can be missed (KF 20). */
    err = yarn_module_map_read_proc(recording->map, yarn_clock_ns(YARN_TIME_MONOTONIC));
    if (err)
        yarn_messages_add(messages, YARN_MESSAGE_WARNING, "/proc/self/maps could not be read",
                          "frames of modules that were loaded before the start are unknown");
    return 0;
}
