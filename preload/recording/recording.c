/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/recording/recording.h"

#include "core/sys/clock.h"
#include "recording/dump/preamble.h"

enum {
    CONFIRM_FACTOR = 8,
    STORE_SHARE = 8, /* of the time in which a ring fills */
};

#define CONFIRM_FIRST_NS (2 * YARN_NS_PER_MS)
#define CONFIRM_LAST_NS (2 * YARN_NS_PER_SECOND)

/* ---- switch records, where they are recorded ---- */

static void start_runs(struct yarn_recording *recording, uint64_t time_ns)
{
    yarn_switch_runs_start(recording->pipeline.runs, time_ns);
    yarn_off_cpu_start(&recording->pipeline.off_cpu);
}

static void stop_runs(struct yarn_recording *recording, uint64_t time_ns)
{
    yarn_switch_runs_stop(recording->pipeline.runs, time_ns);
    yarn_off_cpu_stop(&recording->pipeline.off_cpu, time_ns);
}

/* They come from now on. */
static void start_switches(struct yarn_recording *recording)
{
    if (recording->pipeline.runs && !recording->drained_ns)
        yarn_thread_times_begin(&recording->times, recording->request.pid);
    if (recording->pipeline.runs && !recording->session.switches.are_cut)
        start_runs(recording, yarn_clock_ns(YARN_TIME_MONOTONIC));
}

static void note_switches(struct yarn_recording *recording, uint64_t time_ns, bool is_on)
{
    struct yarn_dump_switches switches = {.time_ns = time_ns, .is_on = is_on};
    if (yarn_process_dump_begin(&recording->dump))
        yarn_dump_write_switches(recording->dump.writer, &switches);
}

/* Only once the records from before the cut have been read. */
static void cut_switches(struct yarn_recording *recording)
{
    uint64_t since_ns = recording->session.switches.changed_ns;
    stop_runs(recording, since_ns);
    note_switches(recording, since_ns, false);
    yarn_off_cpu_go_by_clock(&recording->pipeline.off_cpu);
    recording->is_cut_noted = true;
}

/* What the session has cut out or turned on again. */
static void follow_switches(struct yarn_recording *recording)
{
    const bool are_cut = recording->session.switches.are_cut;
    const uint64_t since_ns = recording->session.switches.changed_ns;
    if (!recording->pipeline.runs)
        return;
    yarn_thread_times_read_due(&recording->times, recording->drained_ns);
    if (!yarn_session_records_switches(&recording->session)) /* given up meanwhile */
        yarn_off_cpu_stop(&recording->pipeline.off_cpu, recording->drained_ns);
    if (!are_cut && recording->is_cut_noted) {
        recording->is_cut_noted = false;
        note_switches(recording, since_ns, true);
        start_runs(recording, since_ns);
    }
    if (are_cut && !recording->is_cut_noted &&
        recording->drained_ns >= since_ns + YARN_MERGE_MARGIN_NS)
        cut_switches(recording);
}

/* They come no more and have been read. */
static void stop_switches(struct yarn_recording *recording, uint64_t time_ns)
{
    if (!recording->pipeline.runs)
        return;
    if (recording->session.switches.are_cut && !recording->is_cut_noted)
        cut_switches(recording);
    stop_runs(recording, time_ns);
}

/* Their runs, and the threads' schedstat, into the dump. */
static void write_switches(struct yarn_recording *recording, bool is_last)
{
    struct yarn_switch_runs *runs = recording->pipeline.runs;
    if (!runs)
        return;
    uint64_t read_ns = yarn_u64_minus(recording->drained_ns, YARN_MERGE_MARGIN_NS);
    if (recording->session.switches.are_cut)
        read_ns = yarn_u64_min(read_ns, recording->session.switches.changed_ns);
    if (!is_last)
        yarn_switch_runs_divide(runs, read_ns);
    yarn_switch_runs_write(runs, recording->dump.writer);
    yarn_thread_times_write(&recording->times, recording->dump.writer, is_last);
}

/* ---- the recording ---- */

/* False where it may still be filled. */
static bool remove_left(void *self, const struct yarn_child_dump *dump)
{
    const struct yarn_recording *recording = self;
    const struct yarn_job *job = recording->job;
    struct yarn_facts facts = job->facts;
    facts.pid = dump->pid;
    facts.start_realtime_ns = dump->start_realtime_ns;
    return yarn_dump_file_remove_left(job->options.output, &facts, job->envp, dump->number);
}

static void confirm_later(struct yarn_recording *recording, uint64_t now_ns)
{
    recording->confirm_step_ns = CONFIRM_FIRST_NS;
    recording->confirm_at_ns = now_ns + CONFIRM_FIRST_NS;
}

static void read_notes(struct yarn_recording *recording, bool is_due)
{
    yarn_thread_snapshot_read_notes(&recording->account.threads, recording->dump.writer,
                                    recording->drained_ns, is_due);
}

uint64_t yarn_recording_off_cpu_timeout_ns(const struct yarn_recording *recording, uint64_t now_ns,
                                           bool is_asleep)
{
    const struct yarn_waits *waits = &recording->pipeline.off_cpu.waits;
    uint64_t due_ns = is_asleep ? waits->grown_ns : waits->due_ns;
    if (!waits->is_on || due_ns == UINT64_MAX)
        return UINT64_MAX;
    return yarn_u64_minus(due_ns, now_ns) + (is_asleep ? YARN_MERGE_MARGIN_NS : 0);
}

uint64_t yarn_recording_watch_code(struct yarn_recording *recording, uint64_t now_ns)
{
    yarn_unwinder_watch_code(recording->pipeline.unwinder, now_ns);
    return yarn_u64_minus(yarn_unwinder_watch_ns(recording->pipeline.unwinder), now_ns);
}

/* The kernel reports what it lost with the next record that it writes, which may be much later:
 * what ran when a ring was full is not known to have gone on. */
static size_t drain(struct yarn_recording *recording, bool is_last, bool *ret_has_news)
{
    struct yarn_record_listener listener = yarn_pipeline_listener(&recording->pipeline);
    struct yarn_merge *merge = &recording->session.merge;
    size_t count = yarn_session_drain(&recording->session, is_last, &listener, ret_has_news);
    if (merge->was_full)
        yarn_pipeline_lose(&recording->pipeline, yarn_clock_ns(YARN_TIME_MONOTONIC));
    merge->was_full = false;
    return count;
}

size_t yarn_recording_drain(struct yarn_recording *recording, bool *ret_has_news)
{
    const uint32_t nr_changes = recording->session.nr_changes;
    const uint32_t stack_bytes = recording->session.report.got.stack_bytes;
    recording->drained_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    size_t count = drain(recording, false, ret_has_news);
    if (yarn_walks_are_cut(&recording->pipeline.walks))
        yarn_session_deepen(&recording->session);
    yarn_recording_report_deeper(recording, stack_bytes);
    if (recording->session.nr_changes != nr_changes) {
        confirm_later(recording, recording->drained_ns);
        if (recording->dump.writer) /* has the preamble, and none of their samples yet */
            yarn_preamble_write_alternates(recording->dump.writer, &recording->session);
    }
    read_notes(recording, false);
    follow_switches(recording);
    (void)yarn_off_cpu_sample_due(&recording->pipeline.off_cpu,
                                  recording->drained_ns - YARN_MERGE_MARGIN_NS);
    yarn_recording_report_failures(recording);
    return count;
}

void yarn_recording_drain_all(struct yarn_recording *recording)
{
    bool has_news;
    drain(recording, true, &has_news);
    yarn_module_map_rest(recording->pipeline.map);
}

bool yarn_recording_store_queued(struct yarn_recording *recording, bool is_due)
{
    uint64_t while_ns =
        yarn_plan_fill_ns(&recording->request, &recording->session.report.got) / STORE_SHARE;
    bool is_queue_empty = (!is_due && !yarn_queue_is_filling(&recording->pipeline.queue)) ||
                          yarn_pipeline_store_queued(&recording->pipeline,
                                                     yarn_clock_ns(YARN_TIME_MONOTONIC) + while_ns);
    if (is_due)
        yarn_module_map_read_tables(recording->pipeline.map);
    yarn_module_map_rest(recording->pipeline.map);
    return is_queue_empty;
}

/* Of how samples are taken. */
static void write_change(struct yarn_recording *recording)
{
    if (recording->nr_changes_reported == recording->session.nr_changes)
        return;
    recording->nr_changes_reported = recording->session.nr_changes;
    yarn_preamble_write_sampler(recording->dump.writer, recording->job, &recording->session);
}

static void warn_without_samples(struct yarn_recording *recording)
{
    if (recording->has_reported_no_samples || !yarn_account_lacks_samples(&recording->account))
        return;
    recording->has_reported_no_samples = true;
    YARN_WARN(recording->messages,
              "CPU time passed without a sample: it was the kernel's, or that "
              "of threads too short to be sampled (YARN_STRATEGY=cores sees those)");
}

/* What there is so far is worth a dump, or it has one. */
static bool has_dump(struct yarn_recording *recording)
{
    struct yarn_process_dump *dump = &recording->dump;
    const char *sched = recording->job->options.texts[YARN_OPTION_SCHED];
    bool is_asked =
        recording->pipeline.runs && sched != yarn_option_row(YARN_OPTION_SCHED)->default_text;
    bool is_wanted = is_asked || yarn_process_dump_has_warning(dump) ||
                     recording->job->options.empty == YARN_EMPTY_KEEP ||
                     recording->job->options.counters[0] ||
                     yarn_account_has_children(&recording->account);
    if (is_wanted && !yarn_process_dump_begin(dump))
        return false;
    if (is_wanted || recording->account.totals.value[YARN_DUMP_TOTAL_SAMPLES])
        dump->is_early = false;
    return yarn_process_dump_is_begun(dump);
}

static void write_counters(struct yarn_recording *recording)
{
    const struct yarn_options *options = &recording->job->options;
    uint64_t now_ns = options->counters[0] ? yarn_clock_ns(YARN_TIME_MONOTONIC) : 0;
    if (now_ns < recording->counters_at_ns || !now_ns)
        return;
    recording->counters_at_ns = now_ns + options->counter_interval_ns;
    yarn_account_write_counts(&recording->account, recording->dump.writer, true);
}

void yarn_recording_wake(struct yarn_recording *recording)
{
    yarn_off_cpu_wake(&recording->pipeline.off_cpu);
    if (yarn_process_dump_is_begun(&recording->dump))
        write_counters(recording);
}

void yarn_recording_flush(struct yarn_recording *recording, bool is_last)
{
    yarn_child_times_visit_dumps(recording->account.child_times, remove_left, recording);
    yarn_pipeline_flush(&recording->pipeline, is_last);
    read_notes(recording, true);
    warn_without_samples(recording);
    if (!has_dump(recording))
        return;
    yarn_coverage_write(&recording->account.coverage, recording->dump.writer);
    write_change(recording);
    write_counters(recording);
    yarn_frame_names_write_late(&recording->pipeline.names, recording->dump.writer,
                                yarn_clock_cpu_ns_of_others(), recording->is_halted);
    write_switches(recording, recording->is_halted);
    yarn_process_dump_flush(&recording->dump);
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
    if (yarn_process_dump_begin(&recording->dump))
        yarn_dump_write_message(recording->dump.writer, &message);
}

uint64_t yarn_recording_confirm(struct yarn_recording *recording, uint64_t now_ns)
{
    if (!recording->confirm_step_ns)
        return UINT64_MAX;
    if (now_ns < recording->confirm_at_ns)
        return recording->confirm_at_ns - now_ns;
    if (recording->account.coverage.is_off)
        yarn_session_disable(&recording->session);
    else
        yarn_session_enable(&recording->session);
    recording->confirm_step_ns *= CONFIRM_FACTOR;
    if (recording->confirm_step_ns > CONFIRM_LAST_NS) {
        recording->confirm_step_ns = 0;
        return UINT64_MAX;
    }
    recording->confirm_at_ns = now_ns + recording->confirm_step_ns;
    return recording->confirm_step_ns;
}

/* Why the mappings after the events: one may be seen twice so, but none can be missed. */
static void enable(struct yarn_recording *recording)
{
    start_switches(recording);
    yarn_session_enable(&recording->session);
    yarn_recording_report_failures(recording);
    if (yarn_module_map_read_proc(recording->pipeline.map, yarn_clock_ns(YARN_TIME_MONOTONIC)))
        YARN_WARN(recording->messages, "/proc/self/maps could not be read: frames of modules that "
                                       "were loaded before the start are unknown");
}

void yarn_recording_begin(struct yarn_recording *recording)
{
    yarn_coverage_begin(&recording->account.coverage);
    enable(recording);
    confirm_later(recording, yarn_clock_ns(YARN_TIME_MONOTONIC));
}

void yarn_recording_halt(struct yarn_recording *recording)
{
    yarn_session_disable(&recording->session);
    uint64_t end_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    yarn_coverage_end(&recording->account.coverage);
    yarn_recording_drain_all(recording);
    stop_switches(recording, end_ns);
    recording->is_halted = true;
    yarn_recording_flush(recording, true);
}

void yarn_recording_pause(struct yarn_recording *recording, enum yarn_dump_coverage_cause cause)
{
    if (recording->account.coverage.is_off)
        return;
    yarn_thread_snapshot_take(&recording->account.threads);
    yarn_session_disable(&recording->session);
    uint64_t now_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    yarn_coverage_stop(&recording->account.coverage, now_ns, cause);
    yarn_recording_drain_all(recording);
    stop_switches(recording, now_ns);
    yarn_recording_flush(recording, false);
    confirm_later(recording, now_ns);
}

void yarn_recording_resume(struct yarn_recording *recording, enum yarn_dump_coverage_cause cause)
{
    if (!recording->account.coverage.is_off)
        return;
    uint64_t now_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    yarn_coverage_start(&recording->account.coverage, now_ns, cause);
    enable(recording);
    yarn_thread_snapshot_compare(&recording->account.threads, recording->dump.writer, now_ns);
    confirm_later(recording, now_ns);
}

bool yarn_recording_is_alone(struct yarn_recording *recording)
{
    recording->pipeline.saw_thread_end = false;
    return !yarn_process_read_leader(recording->own_stat, &recording->leader) &&
           recording->leader.is_dead && recording->leader.nr_threads <= 2;
}

void yarn_recording_leave_root(struct yarn_recording *recording)
{
    if (!yarn_process_dump_begin(&recording->dump) || recording->own_stat >= 0)
        return;
    recording->own_stat = yarn_process_open_own_stat();
    yarn_pipeline_load_modules(&recording->pipeline);
}

static void end_dump(struct yarn_recording *recording, enum yarn_dump_end_reason reason, int status)
{
    if (yarn_process_dump_is_begun(&recording->dump))
        yarn_stacks_write_modules(&recording->pipeline.stacks, recording->dump.writer);
    yarn_process_dump_end(&recording->dump, reason, status);
    if (!yarn_process_dump_is_begun(&recording->dump))
        yarn_process_dump_close(&recording->dump);
}

void yarn_recording_seal(struct yarn_recording *recording)
{
    /* Why not perf's events: the kernel takes them away at the exec. A signal that was on its way
     * would meet the new program, which knows nothing of it, and end it. */
    recording->is_held =
        yarn_session_sends_signals(&recording->session) && !recording->account.coverage.is_off;
    if (recording->is_held)
        yarn_session_disable(&recording->session);
    uint64_t now_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    yarn_recording_drain_all(recording);
    recording->holds_off_cpu |= recording->pipeline.off_cpu.waits.is_on;
    yarn_off_cpu_stop(&recording->pipeline.off_cpu, now_ns);
    /* Why not once more, for a second thread that execs: the first may succeed at any moment. What
     * is new and the end that follows it are one write. */
    if (!recording->is_sealed)
        yarn_recording_flush(recording, true);
    recording->is_sealed = yarn_process_dump_is_begun(&recording->dump);
    yarn_process_dump_release(&recording->dump);
    end_dump(recording, YARN_DUMP_END_EXEC, -1);
}

void yarn_recording_unseal(struct yarn_recording *recording)
{
    if (recording->is_held)
        enable(recording);
    if (recording->holds_off_cpu)
        yarn_off_cpu_start(&recording->pipeline.off_cpu);
    recording->is_held = recording->is_sealed = recording->holds_off_cpu = false;
}

void yarn_recording_end(struct yarn_recording *recording, enum yarn_dump_end_reason reason,
                        int status)
{
    if (!recording->is_halted)
        yarn_recording_halt(recording);
    if (recording->dump.writer && reason == YARN_DUMP_END_EXIT)
        yarn_thread_snapshot_end(&recording->account.threads, recording->dump.writer);
    yarn_recording_report_final(recording);
    end_dump(recording, reason, status);
}
