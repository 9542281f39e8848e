/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/recording/recording.h"

#include "core/base/text.h"
#include "core/session/probe.h"
#include "core/sys/clock.h"
#include "core/sys/file.h"
#include "preload/dump/preamble.h"
#include "preload/dump/predecessor.h"
#include "preload/recording/dump_end.h"
#include "preload/recording/intake.h"
#include "preload/recording/totals.h"

enum {
    CONFIRM_FACTOR = 8,
    SETTLE_SHARE = 8, /* of the time in which a ring fills */
};

#define CONFIRM_FIRST_NS (2 * YARN_NS_PER_MS)
#define CONFIRM_LAST_NS (2 * YARN_NS_PER_SECOND)

/* Looked for by the image itself, and only where there is a dump to say so in. */
static struct yarn_lineage lineage_of(const struct yarn_recording *recording)
{
    const struct yarn_facts *facts = &recording->job->facts;
    struct yarn_lineage lineage = facts->lineage;
    if (lineage.forked_by || lineage.predecessor)
        return lineage;
    uint64_t birth_ns = yarn_process_birth_ns(facts->pid);
    if (birth_ns > facts->boottime_offset_ns)
        yarn_predecessor_find(&recording->file, facts, birth_ns - facts->boottime_offset_ns,
                              &lineage);
    return lineage;
}

static bool has_file(struct yarn_recording *recording)
{
    if (recording->has_tried_dump)
        return recording->file.fd >= 0;
    recording->has_tried_dump = true;
    recording->lineage = lineage_of(recording);
    int fd = yarn_dump_file_create(&recording->file);
    if (fd < 0)
        yarn_recording_fail(recording, "the dump could not be created", fd);
    return fd >= 0;
}

bool yarn_recording_begin_dump(struct yarn_recording *recording)
{
    if (recording->writer)
        return true;
    if (!has_file(recording))
        return false;
    int fd = recording->file.fd;
    recording->file.fd = -1;
    int err = yarn_dump_writer_new(&recording->writer, fd, NULL);
    if (err) {
        yarn_file_close(fd);
        yarn_dump_file_remove(&recording->file);
        yarn_recording_fail(
            recording,
            err == -ENOMEM ? "no memory for the dump's tables" : yarn_dump_end_failure(err), err);
        return false;
    }
    recording->stacks.writer = recording->writer;
    recording->stacks.epoch = yarn_dump_writer_epoch(recording->writer);
    yarn_preamble_write(recording->writer, recording->job, &recording->lineage,
                        &recording->session);
    yarn_thread_snapshot_begin(recording);
    yarn_coverage_write(&recording->coverage, recording->writer);
    return true;
}

bool yarn_recording_reserve(struct yarn_recording *recording)
{
    if (recording->has_tried_dump || !has_file(recording))
        return false;
    recording->is_early = true;
    return true;
}

/* False where it may still be filled. */
static bool remove_left(void *self, const struct yarn_charges_dump *dump)
{
    const struct yarn_recording *recording = self;
    const struct yarn_job *job = recording->job;
    struct yarn_facts facts = job->facts;
    facts.pid = dump->pid;
    facts.start_ns = dump->start_ns;
    facts.start_realtime_ns = dump->start_realtime_ns;
    return yarn_dump_file_remove_left(job->options.output, &facts, job->envp, dump->number);
}

/* The times in which the timer sampler sent no signals. */
static void note_holds(struct yarn_recording *recording, uint32_t holds)
{
    static const struct {
        enum yarn_session_hold hold;
        const char *what, *why;
    } all[] = {
        {YARN_SESSION_HOLD_TRACER,
         "not sampled while a debugger traced the process, or valgrind ran it",
         "a signal for each sample would have disturbed them"},
        {YARN_SESSION_HOLD_STACK, "not sampled since an alternate stack was set that is small",
         "a signal while a handler of the host's is on it would have found no room"},
        {YARN_SESSION_HOLD_SIGNAL, "not sampled while the host handles signal 32 by itself",
         "it is the C library's, and the timer sampler's"},
        {YARN_SESSION_HOLD_MASK, "not sampled while threads blocked signal 32",
         "it is the C library's, which blocks it for moments only"},
    };
    recording->reported_holds |= holds;
    for (size_t i = 0; i < YARN_COUNT_OF(all); i++)
        if (holds & all[i].hold)
            yarn_messages_add_aside(recording->messages, YARN_MESSAGE_WARNING, all[i].what,
                                    all[i].why, true);
}

/* What went wrong in a session that was running. */
static void note_failure(struct yarn_recording *recording)
{
    const struct yarn_session_report *report = &recording->session.report;
    if (report->failure)
        yarn_recording_fail(recording, report->failure, report->failure_error);
    note_holds(recording, report->holds & ~recording->reported_holds);
    if (!report->nr_refused_threads || recording->has_reported_refused_threads)
        return;
    recording->has_reported_refused_threads = true;
    const char *why = yarn_probe_thread_reason(report->thread_refusal);
    yarn_messages_add(recording->messages, YARN_MESSAGE_WARNING, "threads were not sampled", why);
}

static void confirm_later(struct yarn_recording *recording, uint64_t now_ns)
{
    recording->confirm_step_ns = CONFIRM_FIRST_NS;
    recording->confirm_at_ns = now_ns + CONFIRM_FIRST_NS;
}

/* Where they are now, but were not `before`. */
static void tell_deeper(struct yarn_recording *recording, uint32_t before)
{
    uint32_t stack_bytes = recording->session.report.got.stack_bytes;
    if (stack_bytes <= yarn_size_max(before, recording->spec.stack_bytes))
        return;
    char bytes[64];
    struct yarn_text text = yarn_text_of(bytes, sizeof bytes);
    yarn_text_add(&text, "stacks are copied up to ");
    yarn_text_add_u64(&text, stack_bytes);
    yarn_text_add(&text, " bytes deep from now on");
    yarn_messages_add(recording->messages, YARN_MESSAGE_INFO, bytes,
                      "many did not fit into the copies asked for");
}

size_t yarn_recording_drain(struct yarn_recording *recording, bool *ret_has_news)
{
    struct yarn_record_listener listener = yarn_intake_of(recording);
    const uint32_t nr_changes = recording->session.nr_changes;
    const uint32_t stack_bytes = recording->session.report.got.stack_bytes;
    recording->drained_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    size_t count = yarn_session_drain(&recording->session, false, &listener, ret_has_news);
    if (yarn_walks_are_cut(&recording->walks))
        yarn_session_deepen(&recording->session);
    tell_deeper(recording, stack_bytes);
    if (recording->session.nr_changes != nr_changes)
        confirm_later(recording, recording->drained_ns);
    yarn_thread_snapshot_read_notes(recording, recording->drained_ns, false);
    note_failure(recording);
    return count;
}

void yarn_recording_drain_all(struct yarn_recording *recording, bool *ret_has_news)
{
    struct yarn_record_listener listener = yarn_intake_of(recording);
    yarn_session_drain(&recording->session, true, &listener, ret_has_news);
    yarn_module_map_rest(recording->map);
}

bool yarn_recording_settle(struct yarn_recording *recording, bool is_due)
{
    uint64_t while_ns =
        yarn_plan_fill_ns(&recording->spec, &recording->session.report.got) / SETTLE_SHARE;
    bool is_settled = (!is_due && !yarn_queue_is_filling(&recording->queue)) ||
                      yarn_intake_settle(recording, yarn_clock_ns(YARN_TIME_MONOTONIC) + while_ns);
    yarn_module_map_rest(recording->map);
    return is_settled;
}

static bool is_worth_a_dump(const struct yarn_message *message)
{
    return message->level <= YARN_MESSAGE_WARNING && !message->is_aside;
}

/* Of how samples are taken. */
static void tell_change(struct yarn_recording *recording)
{
    if (recording->nr_changes_reported == recording->session.nr_changes)
        return;
    recording->nr_changes_reported = recording->session.nr_changes;
    yarn_preamble_write_sampler(recording->writer, recording->job, &recording->session);
}

/* Nothing waits to be named. Why a module's file stays until the next time: the rings have been
 * drained by then of all that was sampled in it. */
static void sweep(struct yarn_recording *recording)
{
    yarn_module_map_sweep(recording->map);
    yarn_symbols_sweep(recording->names.symbols);
    yarn_module_map_rest(recording->map);
}

void yarn_recording_flush(struct yarn_recording *recording)
{
    yarn_charges_visit(recording->charges, remove_left, recording);
    yarn_intake_settle(recording, UINT64_MAX);
    sweep(recording);
    yarn_thread_snapshot_read_notes(recording, recording->drained_ns, true);
    bool has_warning = false;
    if (!recording->has_reported_no_samples && yarn_totals_lacks_samples(recording)) {
        recording->has_reported_no_samples = true;
        yarn_messages_add(recording->messages, YARN_MESSAGE_WARNING,
                          "CPU time passed without a sample",
                          "it was the kernel's, or that of threads too short to be sampled "
                          "(YARN_STRATEGY=cores sees those)");
    }
    uint32_t count = atomic_load(&recording->messages->count);
    for (uint32_t i = 0; i < count && (!recording->writer || recording->is_early); i++)
        has_warning |= is_worth_a_dump(&recording->messages->message[i]);
    bool is_wanted = has_warning || recording->job->options.empty == YARN_EMPTY_KEEP ||
                     yarn_totals_has_children(recording);
    if (is_wanted)
        yarn_recording_begin_dump(recording);
    if (is_wanted || recording->totals.value[YARN_DUMP_TOTAL_SAMPLES])
        recording->is_early = false;
    if (!recording->writer || recording->is_early)
        return;
    yarn_coverage_write(&recording->coverage, recording->writer);
    tell_change(recording);
    yarn_frame_names_write_late(&recording->names, recording->writer, yarn_coverage_host_cpu_ns());
    yarn_totals_write(recording);
    yarn_dump_writer_flush(recording->writer);
    int err = yarn_dump_writer_error(recording->writer);
    if (err)
        yarn_recording_fail(recording, yarn_dump_end_failure(err), err);
    else
        recording->nr_messages_kept = recording->nr_messages_written;
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

uint64_t yarn_recording_confirm(struct yarn_recording *recording, uint64_t now_ns)
{
    if (!recording->confirm_step_ns)
        return UINT64_MAX;
    if (now_ns < recording->confirm_at_ns)
        return recording->confirm_at_ns - now_ns;
    if (recording->coverage.is_off)
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

/* Why the mappings after the events: one may be seen twice so, but none can be missed (KF 20). */
static void enable(struct yarn_recording *recording)
{
    yarn_session_enable(&recording->session);
    note_failure(recording);
    if (yarn_module_map_read_proc(recording->map, yarn_clock_ns(YARN_TIME_MONOTONIC)))
        yarn_messages_add(recording->messages, YARN_MESSAGE_WARNING,
                          "/proc/self/maps could not be read",
                          "frames of modules that were loaded before the start are unknown");
}

void yarn_recording_begin(struct yarn_recording *recording)
{
    yarn_coverage_begin(&recording->coverage);
    enable(recording);
    confirm_later(recording, yarn_clock_ns(YARN_TIME_MONOTONIC));
}

void yarn_recording_begin_off(struct yarn_recording *recording, uint64_t used_ns)
{
    yarn_coverage_begin_off(&recording->coverage, recording->job->facts.start_ns,
                            yarn_coverage_host_cpu_ns() - used_ns);
}

void yarn_recording_halt(struct yarn_recording *recording)
{
    bool has_news;
    yarn_session_disable(&recording->session);
    yarn_coverage_end(&recording->coverage);
    yarn_recording_drain_all(recording, &has_news);
    yarn_recording_flush(recording);
}

void yarn_recording_heed(struct yarn_recording *recording)
{
    yarn_session_heed(&recording->session);
    note_failure(recording);
}

void yarn_recording_pause(struct yarn_recording *recording, enum yarn_dump_coverage_cause cause)
{
    bool has_news;
    if (recording->coverage.is_off)
        return;
    yarn_thread_snapshot_take(recording);
    yarn_session_disable(&recording->session);
    uint64_t now_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    yarn_coverage_stop(&recording->coverage, now_ns, cause);
    yarn_recording_drain_all(recording, &has_news);
    yarn_recording_flush(recording);
    confirm_later(recording, now_ns);
}

void yarn_recording_resume(struct yarn_recording *recording, enum yarn_dump_coverage_cause cause)
{
    if (!recording->coverage.is_off)
        return;
    uint64_t now_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    yarn_coverage_start(&recording->coverage, now_ns, cause);
    enable(recording);
    yarn_thread_snapshot_compare(recording, now_ns);
    confirm_later(recording, now_ns);
}

bool yarn_recording_is_alone(struct yarn_recording *recording)
{
    recording->saw_thread_end = false;
    return !yarn_process_read_leader(recording->own_stat, &recording->leader) &&
           recording->leader.is_dead && recording->leader.nr_threads <= 2;
}

void yarn_recording_leave_root(struct yarn_recording *recording)
{
    if (!yarn_recording_begin_dump(recording) || recording->own_stat >= 0)
        return;
    recording->own_stat = yarn_process_open_own_stat();
    for (uint32_t i = 0; i < yarn_module_map_count(recording->map); i++)
        yarn_module_map_find(recording->map, yarn_module_map_at(recording->map, i)->start);
    yarn_module_map_rest(recording->map);
}

void yarn_recording_seal(struct yarn_recording *recording, enum yarn_dump_end_reason reason,
                         int status)
{
    bool has_news;
    /* Why not perf's events: the kernel takes them away at the exec. A signal that was on its way
     * would meet the new program, which knows nothing of it, and end it. */
    recording->is_held =
        yarn_session_sends_signals(&recording->session) && !recording->coverage.is_off;
    if (recording->is_held)
        yarn_session_disable(&recording->session);
    yarn_recording_drain_all(recording, &has_news);
    /* Why not once more, for a second thread that execs: the first may succeed at any moment. What
     * is new and the end that follows it are one write. */
    if (!recording->is_sealed)
        yarn_recording_flush(recording);
    recording->is_sealed = recording->writer && !recording->is_early;
    yarn_dump_end_write(recording, reason, status);
}

void yarn_recording_unseal(struct yarn_recording *recording)
{
    if (recording->is_held)
        enable(recording);
    recording->is_held = recording->is_sealed = false;
}

/* Of the threads that found no place. */
static void tell_how_many(struct yarn_recording *recording)
{
    char number[32] = "";
    struct yarn_text text = yarn_text_of(number, sizeof number - 1);
    const struct yarn_session_report *report = &recording->session.report;
    if (report->has_smaller_rings)
        yarn_messages_add(recording->messages, YARN_MESSAGE_INFO,
                          "stack copies of some threads were smaller than asked for",
                          "the limit of locked memory leaves no room");
    if (!report->nr_refused_threads)
        return;
    yarn_text_add_u64(&text, report->nr_refused_threads);
    yarn_messages_add(recording->messages, YARN_MESSAGE_WARNING,
                      "threads that were not sampled, at most at once", number);
}

void yarn_recording_end(struct yarn_recording *recording, enum yarn_dump_end_reason reason,
                        int status)
{
    yarn_recording_halt(recording);
    if (recording->writer && reason == YARN_DUMP_END_EXIT)
        yarn_thread_snapshot_end(recording);
    tell_how_many(recording);
    yarn_dump_end_write(recording, reason, status);
    if (recording->is_early)
        yarn_dump_file_remove(&recording->file);
    yarn_recording_close(recording);
}
