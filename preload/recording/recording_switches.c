/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sys/clock.h"
#include "preload/recording/recording.h"

static void start(struct yarn_recording *recording, uint64_t time_ns)
{
    yarn_switch_runs_start(recording->pipeline.runs, time_ns);
    yarn_off_cpu_start(&recording->pipeline.off_cpu);
}

static void stop(struct yarn_recording *recording, uint64_t time_ns)
{
    yarn_switch_runs_stop(recording->pipeline.runs, time_ns);
    yarn_off_cpu_stop(&recording->pipeline.off_cpu, time_ns);
}

void yarn_recording_start_switches(struct yarn_recording *recording)
{
    if (recording->pipeline.runs && !recording->drained_ns)
        yarn_thread_times_read(&recording->times, recording->request.pid);
    if (recording->pipeline.runs && !recording->session.switches.are_cut)
        start(recording, yarn_clock_ns(YARN_TIME_MONOTONIC));
}

static void note(struct yarn_recording *recording, uint64_t time_ns, bool is_on)
{
    struct yarn_dump_switches switches = {.time_ns = time_ns, .is_on = is_on};
    if (yarn_process_dump_begin(&recording->dump))
        yarn_dump_write_switches(recording->dump.writer, &switches);
}

/* Only once the records from before the cut have been read. */
static void cut(struct yarn_recording *recording)
{
    uint64_t since_ns = recording->session.switches.changed_ns;
    stop(recording, since_ns);
    note(recording, since_ns, false);
    yarn_off_cpu_go_by_clock(&recording->pipeline.off_cpu);
    recording->is_cut_noted = true;
}

void yarn_recording_follow_switches(struct yarn_recording *recording)
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
        note(recording, since_ns, true);
        start(recording, since_ns);
    }
    if (are_cut && !recording->is_cut_noted &&
        recording->drained_ns >= since_ns + YARN_MERGE_MARGIN_NS)
        cut(recording);
}

void yarn_recording_stop_switches(struct yarn_recording *recording, uint64_t time_ns)
{
    if (!recording->pipeline.runs)
        return;
    if (recording->session.switches.are_cut && !recording->is_cut_noted)
        cut(recording);
    stop(recording, time_ns);
}

void yarn_recording_write_switches(struct yarn_recording *recording, bool is_last)
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
