/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sys/file.h"
#include "preload/recording/recording.h"

#define QUEUE_BYTES YARN_MIB(4)

int yarn_recording_fail(struct yarn_recording *recording, const char *what, int err)
{
    if (!recording->failure) {
        recording->failure = what;
        recording->failure_error = err;
    }
    return err;
}

void yarn_recording_close(struct yarn_recording *recording)
{
    yarn_file_close(recording->file.fd);
    recording->file.fd = -1;
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
    yarn_file_close(recording->own_stat);
    recording->own_stat = -1;
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
                          "YARN_CALLGRAPH: lbr is not supported by this version", "dwarf instead");
        return YARN_SESSION_STACK_COPY;
    case YARN_CALLGRAPH_AUTO:
    case YARN_CALLGRAPH_DWARF:
        break;
    }
    return YARN_SESSION_STACK_COPY;
}

/* Of a filter that the program was started behind: what would end it is not tried. */
static void follow_filter(struct yarn_recording *recording)
{
    const struct yarn_seccomp_probe *probe = &recording->job->seccomp;
    if (probe->deadly[YARN_SECCOMP_PERF])
        recording->spec.perf_refusal =
            "the program was started behind a seccomp filter that ends it for what perf needs";
    if (probe->deadly[YARN_SECCOMP_TIMER])
        recording->spec.sampler = YARN_SESSION_SAMPLER_PERF;
    for (size_t i = 0; i < YARN_SECCOMP_PART_COUNT; i++)
        if (probe->deadly[i])
            yarn_messages_add(recording->messages, YARN_MESSAGE_INFO,
                              "a seccomp filter would end the program for", probe->deadly[i]);
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
                    : options->strategy == YARN_STRATEGY_CORES    ? YARN_SESSION_STRATEGY_CORES
                                                                  : YARN_SESSION_STRATEGY_AUTO,
        .stack = stack_kind(recording),
        .stack_bytes = options->callgraph.stack_bytes,
        .may_deepen = options->callgraph.kind == YARN_CALLGRAPH_AUTO,
        .ring_bytes = options->ring_bytes,
        .interval_ns = options->interval_ns,
        .reader = options->reader == YARN_READER_TIMED ? YARN_SESSION_READER_TIMED
                                                       : YARN_SESSION_READER_POLL,
        .pid = recording->job->facts.pid,
        .host_waits = recording->job->host_waits,
    };
    follow_filter(recording);
    if (!recording->spec.stack_bytes)
        recording->spec.stack_bytes = YARN_STACK_BYTES_DEFAULT;
    int err = yarn_session_open(&recording->session, &recording->spec);
    if (err)
        return yarn_recording_fail(recording, recording->session.report.failure, err);
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
    int err = yarn_module_map_new(&recording->map, "/proc/self");
    if (!err)
        err = yarn_unwinder_new(&recording->unwinder, kind, recording->map);
    if (!err)
        err = yarn_frame_names_open(&recording->names, recording->map, &recording->job->facts);
    if (!err)
        err = yarn_walks_open(&recording->walks, recording->map, recording->unwinder,
                              &recording->spec);
    if (!err)
        err = yarn_queue_open(&recording->queue, QUEUE_BYTES);
    if (!err)
        err = yarn_stacks_open(&recording->stacks, recording->map, &recording->names);
    return err ? yarn_recording_fail(recording, "no memory for unwinding", err) : 0;
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
    if (yarn_session_sends_signals(session) && recording->spec.stack == YARN_SESSION_STACK_CHAIN)
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
        .own_tid = yarn_process_tid(),
        .own_stat = -1,
        .file.fd = -1,
        .session = YARN_SESSION_CLOSED,
    };
    int err = yarn_dump_file_prepare(&recording->file, job->options.output, &job->facts, job->envp);
    if (err)
        yarn_recording_fail(recording, "the dump's folder cannot be written to", err);
    if (!err)
        err = open_session(recording);
    if (!err)
        err = open_unwinding(recording);
    if (err) {
        yarn_recording_close(recording);
        return err;
    }
    report_options(recording);
    report_steps(recording);
    if (recording->file.path[0] != '/') /* it leads there now, perhaps not later */
        yarn_recording_reserve(recording);
    return 0;
}
