/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/pages.h"
#include "core/sys/ancestors.h"
#include "core/sys/file.h"
#include "core/sys/valgrind.h"
#include "preload/recording/recording.h"
#include "unwind/symbol/place.h"

void yarn_recording_close(struct yarn_recording *recording)
{
    yarn_process_dump_close(&recording->dump);
    yarn_pipeline_close(&recording->pipeline);
    yarn_session_close(&recording->session);
    yarn_file_close(recording->own_stat);
    recording->own_stat = -1;
}

/* Of a filter that the program was started behind: what would end it is not tried. */
static void follow_filter(struct yarn_recording *recording)
{
    const struct yarn_seccomp_probe *probe = &recording->job->seccomp;
    if (probe->deadly[YARN_SECCOMP_PERF])
        recording->request.perf_refusal =
            "the program was started behind a seccomp filter that ends it for what perf needs";
    if (probe->deadly[YARN_SECCOMP_BPF])
        recording->request.bpf_refusal =
            "its filter is a BPF program, and a seccomp filter ends who loads one";
    if (probe->deadly[YARN_SECCOMP_TIMER])
        recording->request.sampler = YARN_SAMPLER_PERF;
    recording->request.may_sleep = !probe->deadly[YARN_SECCOMP_TIMER] &&
                                   !probe->deadly[YARN_SECCOMP_ENDS] &&
                                   !yarn_valgrind_is_processor();
    recording->request.may_set_turns = !probe->deadly[YARN_SECCOMP_LATENCY];
    for (size_t i = 0; i < YARN_SECCOMP_PART_COUNT; i++)
        if (probe->deadly[i])
            YARN_INFORM(recording->messages, "a seccomp filter would end the program for: %s",
                        probe->deadly[i]);
}

static bool is_recorded(const void *self, const char *exe)
{
    const struct yarn_job *job = self;
    return yarn_job_is_for(&job->options, exe);
}

/* What threads of the whole machine do is recorded once in a tree of processes: by the first. */
static const char *machine_refusal(const struct yarn_job *job)
{
    bool wants = false;
    if (job->machine_refusal)
        return job->machine_refusal;
    for (size_t i = 0; i < job->events.count; i++)
        wants |= job->events.specs[i].is_of_machine;
    return wants && yarn_ancestors_have_mapped("libyarn_preload.so", is_recorded, job)
               ? "a process that this one descends from records the whole machine"
               : NULL;
}

static int open_session(struct yarn_recording *recording)
{
    const struct yarn_options *options = &recording->job->options;
    recording->request = (struct yarn_session_request){
        .events = recording->job->events.specs,
        .nr_events = recording->job->nr_perf_events,
        .next_number = (uint32_t)recording->job->events.count,
        .frequency_hz = options->frequency_hz,
        .sampler = options->sampler,
        .strategy = options->strategy,
        .stack = yarn_session_stack_kind(&options->callgraph),
        .stack_bytes = options->callgraph.stack_bytes,
        .may_deepen = options->callgraph.kind == YARN_CALLGRAPH_AUTO,
        .ring_bytes = options->ring_bytes,
        .interval_ns = options->interval_ns,
        .reader = options->reader,
        .watches_waits = recording->job->nr_perf_events < recording->job->events.count,
        .records_switches = options->sched.kind != YARN_SCHED_OFF,
        .switch_rate_max_hz = options->sched.rate_max_hz,
        .pid = recording->job->facts.pid,
        .target = &yarn_target_self,
        .host_waits = recording->job->host_waits,
        .leader_end = recording->job->facts.leader_end,
        .find_symbol = yarn_symbol_place_find,
        .machine_refusal = machine_refusal(recording->job),
    };
    follow_filter(recording);
    if (!recording->request.stack_bytes)
        recording->request.stack_bytes = YARN_STACK_BYTES_DEFAULT;
    int err = yarn_session_open(&recording->session, &recording->request);
    if (err)
        return yarn_failure_note(&recording->failure, recording->session.report.failure, err);
    if (yarn_session_needs_time(&recording->session))
        recording->request.reader = YARN_READER_TIMED;
    return 0;
}

/* Why that is not recorded what off-cpu needs; NULL where it is. */
static const char *why_no_off_cpu(const struct yarn_recording *recording)
{
    if (recording->job->options.sched.kind == YARN_SCHED_OFF)
        return "off-cpu needs the switch records that YARN_SCHED=off leaves out";
    if (yarn_session_sends_signals(&recording->session))
        return "off-cpu needs perf's switch records, and perf was refused";
    if (yarn_session_records_switches(&recording->session))
        return NULL;
    const char *why = yarn_session_switches_refusal(&recording->session);
    return why ? why : "off-cpu needs switch records, which are not to be had";
}

/* The event off-cpu, where it is asked for. */
static int open_off_cpu(struct yarn_recording *recording)
{
    struct yarn_pipeline *pipeline = &recording->pipeline;
    int err = yarn_off_cpu_open(&pipeline->off_cpu, &recording->dump, pipeline->unwinder,
                                &pipeline->stacks, why_no_off_cpu(recording));
    return err ? yarn_failure_note(&recording->failure, "no memory for off-cpu", err) : 0;
}

int yarn_recording_open(struct yarn_recording *recording, const struct yarn_job *job,
                        struct yarn_messages *messages)
{
    yarn_pages_clear(recording, sizeof *recording);
    recording->job = job;
    recording->messages = messages;
    recording->own_stat = -1;
    recording->session = YARN_SESSION_CLOSED;
    recording->dump.job = job;
    recording->dump.session = recording->times.session = &recording->session;
    recording->dump.messages = messages;
    recording->dump.account = &recording->account;
    recording->dump.failure = &recording->failure;
    recording->dump.file.fd = -1;
    struct yarn_dump_file *file = &recording->dump.file;
    int err = yarn_dump_file_prepare(file, job->options.output, &job->facts, job->envp);
    if (err)
        yarn_failure_note(&recording->failure, "the dump's folder cannot be written to", err);
    if (!err)
        err = open_session(recording);
    if (!err) {
        yarn_account_init(&recording->account, &recording->session);
        err = yarn_pipeline_open(&recording->pipeline, &recording->dump, NULL);
        if (err)
            yarn_failure_note(&recording->failure, "no memory for unwinding", err);
    }
    if (!err)
        err = open_off_cpu(recording);
    if (err) {
        yarn_recording_close(recording);
        return err;
    }
    yarn_recording_report_opening(recording);
    if (file->path[0] != '/') /* it leads there now, perhaps not later */
        yarn_process_dump_reserve(&recording->dump);
    return 0;
}
