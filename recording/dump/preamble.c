/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/dump/preamble.h"

#include <linux/hw_breakpoint.h>

#include "core/sys/ancestors.h"
#include "core/sys/process.h"

enum { DESCRIPTION_BYTES = 1024, REASON_BYTES = 256, PAGE_BYTES = 4096 };
#define TICK_NS (10 * YARN_NS_PER_MS) /* how exact a process's start is known */

_Static_assert((int)YARN_CLOCK_MONOTONIC_RAW == YARN_DUMP_CLOCK_MONOTONIC_RAW &&
                   (int)YARN_CLOCK_COUNT == YARN_DUMP_CLOCK_COUNT,
               "clocks have the dump's numbers");

/* Which image was before an exec the new one cannot know: who reads both dumps finds it by this. */
static uint64_t birth_ns_of(const struct yarn_facts *facts)
{
    if (facts->lineage.forked_by || facts->lineage.predecessor)
        return 0;
    uint64_t birth_ns = yarn_process_birth_ns(facts->pid);
    return yarn_u64_minus(birth_ns, facts->boottime_offset_ns + TICK_NS);
}

/* Whom processes of one run have in common, where it has no name. */
static struct yarn_ancestor root_of(const struct yarn_job *job)
{
    const struct yarn_facts *facts = &job->facts;
    if (job->options.run[0])
        return (struct yarn_ancestor){0};
    return yarn_ancestors_root(facts->pid, facts->parent_pid, "libyarn_preload.so");
}

static void write_process(struct yarn_dump_writer *writer, const struct yarn_job *job)
{
    struct yarn_machine_facts asked;
    const struct yarn_machine_facts *machine = job->machine ? job->machine : &asked;
    const struct yarn_facts *facts = &job->facts;
    const struct yarn_ancestor root = root_of(job);
    if (!job->machine)
        yarn_machine_facts_take(&asked);
    struct yarn_dump_process process = {
        .pid = (uint32_t)facts->pid,
        .ppid = (uint32_t)facts->parent_pid,
        .start_ns = facts->start_ns,
        .start_realtime_ns = facts->start_realtime_ns,
        .boottime_offset_ns = facts->boottime_offset_ns,
        .monotonic_raw_offset_ns = facts->monotonic_raw_offset_ns,
        .clock = job->options.clock,
        .cpus_present = machine->cpus_present,
        .cpus_online = machine->cpus_online,
        .page_bytes = PAGE_BYTES,
        .exe = yarn_span_of_text(facts->exe),
        .cmdline = facts->cmdline,
        .host = yarn_span_of_text(facts->system.node),
        .kernel = yarn_span_of_text(facts->system.release),
        .arch = yarn_span_of_text(facts->system.machine),
        .parent_pid = (uint32_t)facts->lineage.forked_by,
        .parent_start_ns = facts->lineage.forked_by_start_ns,
        .predecessor_pid = (uint32_t)facts->lineage.predecessor,
        .predecessor_start_ns = facts->lineage.predecessor_start_ns,
        .boot_id = yarn_span_of_text(machine->boot_id),
        .birth_ns = birth_ns_of(facts),
        .rank = yarn_span_of_text(job->rank ? job->rank : ""),
        .root_pid = (uint32_t)root.pid,
        .root_birth_ns = root.birth_ns,
        .name = yarn_span_of_text(facts->name ? facts->name : ""),
    };
    yarn_dump_write_process(writer, &process);
}

static void write_options(struct yarn_dump_writer *writer, const struct yarn_options *options)
{
    for (enum yarn_option i = yarn_options_next_changed(options, 0); i < YARN_OPTION_COUNT;
         i = yarn_options_next_changed(options, i + 1)) {
        struct yarn_dump_option option = {
            .name = yarn_span_of_text(yarn_option_row(i)->name),
            .value = yarn_span_of_text(options->texts[i]),
        };
        yarn_dump_write_option(writer, &option);
    }
}

/* What was refused, the kernel's answer, and why or what would help. */
static void add_refusal(struct yarn_text *text, const char *what, int err, const char *more)
{
    static const char *const names[] = {
        [EPERM] = "EPERM",   [EACCES] = "EACCES", [ENOSYS] = "ENOSYS", [EMFILE] = "EMFILE",
        [ENFILE] = "ENFILE", [ENOMEM] = "ENOMEM", [EINVAL] = "EINVAL", [ENOENT] = "ENOENT",
    };
    size_t number = (size_t)-err;
    const char *name = number < YARN_COUNT_OF(names) ? names[number] : NULL;
    yarn_text_add_format(text, "%s (%s", what, name ? name : "errno ");
    if (!name)
        yarn_text_add_u64(text, number);
    yarn_text_add_format(text, "): %s", more);
}

/* Why the strategy is what `auto` does not take on most machines. */
static void add_strategy(struct yarn_text *text, const struct yarn_plan_estimate *estimate)
{
    yarn_text_add_format(
        text,
        "per-thread: a thread's birth and end would cost it about %lu us per core, "
        "and the cores' rings %lu MiB; a ring of its own costs the profiler %lu us",
        estimate->core_birth_ns / 1000, estimate->core_ring_bytes / YARN_MIB(1),
        estimate->thread_birth_ns / 1000);
}

/* Of the strategy `cores`. */
static void add_cores(struct yarn_text *text, const struct yarn_cpu_wide *wide)
{
    if (wide->is_on)
        yarn_text_add(text, "clocks of whole cores, filtered to this process");
    else if (wide->error == -ENOENT)
        yarn_text_add(text, "per-core: whole cores take one clock with a period");
    else
        add_refusal(text, "per-core: clocks of whole cores were refused", wide->error,
                    "CAP_PERFMON or perf_event_paranoid 0 permits them");
}

/* Why there are fewer samples than requested. */
static void add_rate(struct yarn_text *text, const struct yarn_session *session)
{
    const struct yarn_plan *got = &session->report.got;
    yarn_text_add_format(text,
                         "the limit of locked memory leaves rings of %lu KiB a core, which hold "
                         "%lu of 1,000 samples that were asked for",
                         got->ring_bytes / YARN_KIB(1), (unsigned long)got->rate_permille);
}

/* Why the strategy is not the requested one, or not the usual one of `auto`. */
static void add_choice(struct yarn_text *text, const struct yarn_session *session)
{
    const struct yarn_session_report *report = &session->report;
    const struct yarn_plan_estimate *estimate = &report->estimate;
    if (session->wide.is_on || session->wide.error)
        add_cores(text, &session->wide);
    else if (report->got.rate_permille)
        add_rate(text, session);
    else if (report->refusal)
        add_refusal(text, "perf was refused", report->refusal_error, report->refusal);
    else if (estimate->is_per_thread && !estimate->is_asked)
        add_strategy(text, estimate);
}

/* As fields of tracepoints number it; 0: that is unknown, or of no use. */
static uint32_t own_tid(const struct yarn_session *session)
{
    const struct yarn_session_request *request = session->request;
    bool has_fields = false;
    for (size_t i = 0; i < request->nr_events; i++)
        has_fields |= request->events[i].kind == YARN_EVENT_TRACEPOINT;
    return has_fields && yarn_process_is_in_first_namespace() ? (uint32_t)session->own_tid : 0;
}

void yarn_preamble_write_sampler(struct yarn_dump_writer *writer, const struct yarn_job *job,
                                 const struct yarn_session *session)
{
    const struct yarn_session_report *report = &session->report;
    char bytes[REASON_BYTES];
    struct yarn_text reason = yarn_text_of(bytes, sizeof bytes);
    add_choice(&reason, session);
    bool is_timed = session->request->reader == YARN_READER_TIMED;
    struct yarn_dump_sampler sampler = {
        .asked = yarn_span_of_text(job->options.texts[YARN_OPTION_SAMPLER]),
        .got = yarn_span_of_text(yarn_session_sampler_name(session)),
        .reason = yarn_span_of(reason.data, reason.size),
        .strategy = yarn_span_of_text(yarn_session_strategy_name(session)),
        .reader =
            yarn_span_of_text(yarn_reader_words[is_timed ? YARN_READER_TIMED : YARN_READER_POLL]),
        .ring_asked_bytes = session->request->ring_bytes,
        .ring_got_bytes = report->got.ring_bytes,
        .stack_asked_bytes = report->asked.stack_bytes,
        .stack_got_bytes = report->got.stack_bytes,
        .nr_rings = (uint32_t)report->nr_rings,
        .own_tid = own_tid(session),
    };
    yarn_dump_write_sampler(writer, &sampler);
}

static void write_sched(struct yarn_dump_writer *writer, const struct yarn_job *job,
                        const struct yarn_session *session)
{
    char bytes[64];
    const char *why;
    struct yarn_text got = yarn_text_of(bytes, sizeof bytes);
    struct yarn_sched recorded = yarn_session_sched(session, &job->options.sched, &why);
    yarn_sched_describe(&recorded, &got);
    struct yarn_dump_sched sched = {
        .asked = yarn_span_of_text(job->options.texts[YARN_OPTION_SCHED]),
        .got = yarn_span_of(got.data, got.size),
        .reason = why ? yarn_span_of_text(why) : YARN_SPAN_EMPTY,
    };
    yarn_dump_write_sched(writer, &sched);
}

static bool is_call(const struct yarn_event_spec *spec)
{
    return spec->kind == YARN_EVENT_BREAKPOINT && spec->breakpoint == HW_BREAKPOINT_X;
}

/* `request`: whose event it is; NULL: not the session's, but one that has stacks by itself. */
static void write_event(struct yarn_dump_writer *writer, uint32_t number,
                        const struct yarn_session_request *request, const struct yarn_plan *plan,
                        const struct yarn_event_spec *asked, const struct yarn_event_status *got)
{
    char description[DESCRIPTION_BYTES];
    struct yarn_text text = yarn_text_of(description, sizeof description);
    struct yarn_event_spec rated = got->spec;
    const struct yarn_event_spec *spec = &rated;
    if (!got->alternate_of) /* which has its own */
        yarn_plan_rate_event(plan, &rated);
    yarn_event_spec_describe(spec, &text);
    bool has_stacks = !request || yarn_session_request_stack(request, spec) != YARN_STACKS_NONE;
    struct yarn_dump_event event = {
        .number = number,
        .name = yarn_span_of_text(spec->name),
        .asked = yarn_span_of_text(asked->asked),
        .got = got->error ? YARN_SPAN_EMPTY : yarn_span_of(text.data, text.size),
        .unit = yarn_span_of_text(spec->unit),
        .reason = got->reason ? yarn_span_of_text(got->reason) : YARN_SPAN_EMPTY,
        .error = (uint32_t)got->error,
        .flags = (spec->is_clock ? YARN_DUMP_EVENT_IS_CLOCK : 0u) |
                 (spec->frequency ? YARN_DUMP_EVENT_IS_FREQUENCY : 0u) |
                 (spec->exclude_kernel ? YARN_DUMP_EVENT_EXCLUDES_KERNEL : 0u) |
                 (spec->exclude_user ? YARN_DUMP_EVENT_EXCLUDES_USER : 0u) |
                 (spec->kind == YARN_EVENT_OFF_CPU ? YARN_DUMP_EVENT_IS_OFF_CPU : 0u) |
                 (spec->is_counted ? YARN_DUMP_EVENT_IS_COUNTED : 0u) |
                 (spec->is_scheduling ? YARN_DUMP_EVENT_IS_SCHEDULING : 0u) |
                 (spec->is_of_machine ? YARN_DUMP_EVENT_IS_OF_MACHINE : 0u) |
                 (has_stacks ? 0u : YARN_DUMP_EVENT_WITHOUT_STACKS) |
                 (is_call(spec) ? YARN_DUMP_EVENT_IS_CALL : 0u) |
                 (got->is_kernel_refused ? YARN_DUMP_EVENT_KERNEL_REFUSED : 0u),
        .type = spec->type,
        .config = spec->config,
        .period = spec->period,
        .frequency = spec->frequency,
        .format = got->format,
        .group = spec->group,
        .alternate_of = got->alternate_of,
        .filter = spec->filter ? yarn_span_of_text(spec->filter) : YARN_SPAN_EMPTY,
    };
    yarn_dump_write_event(writer, &event);
}

void yarn_preamble_write(struct yarn_dump_writer *writer, const struct yarn_job *job,
                         const struct yarn_session *session)
{
    const struct yarn_plan *plan = &session->report.got;
    write_process(writer, job);
    write_options(writer, &job->options);
    yarn_preamble_write_sampler(writer, job, session);
    write_sched(writer, job, session);
    for (uint32_t i = 0; i < session->request->nr_events; i++)
        write_event(writer, i, session->request, plan, &session->request->events[i],
                    &session->statuses[i]);
    yarn_preamble_write_alternates(writer, session);
}

void yarn_preamble_write_alternates(struct yarn_dump_writer *writer,
                                    const struct yarn_session *session)
{
    const struct yarn_alternates *alternates = &session->alternates;
    for (uint32_t i = 0; session->turns.count && i < alternates->count; i++) {
        const struct yarn_event_status *got = &session->statuses[alternates->first + i];
        write_event(writer, alternates->first + i, session->request, &session->report.got,
                    &session->request->events[got->alternate_of - 1], got);
    }
}

void yarn_preamble_write_off_cpu(struct yarn_dump_writer *writer, const struct yarn_job *job,
                                 const struct yarn_event_status *off_cpu)
{
    const struct yarn_plan plan = {.rate_permille = 0};
    uint32_t number = (uint32_t)job->nr_perf_events;
    if (off_cpu)
        write_event(writer, number, NULL, &plan, &job->events.specs[number], off_cpu);
}
