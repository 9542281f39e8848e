/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/session.h"

#include "core/event/machine.h"
#include "core/session/alternates.h"
#include "core/session/attach.h"
#include "core/session/crowd.h"
#include "core/session/doubles.h"
#include "core/session/group_reads.h"
#include "core/session/probe.h"
#include "core/session/switches.h"
#include "core/session/thread_rings.h"
#include "core/sys/clock.h"
#include "core/sys/file.h"
#include "core/sys/process.h"

/* Descriptors that the reader needs later: to be woken, for the dump, for the files that it reads
 * one or two at a time. */
enum { CPUS_MAX = 1024, LOW_FILES = 16, SPARE_FILES = 4 };
/* Beside what grows with threads, cores and events: the lists of the samplers that have a ring a
 * thread, which are as long as they may ever be. */
enum { ARENA_BYTES = 4 * 1024 * 1024, ARENA_EVENT_BYTES = 1024 * 1024, ARENA_THREADS = 128 };

/* The request, and the cores and threads that its events have to be attached to: counted once, for
 * the choice of the strategy, for the memory, and for each try. */
struct wanted {
    const struct yarn_session_request *request;
    int cpus[CPUS_MAX];
    size_t nr_cpus, nr_threads;
};

/* Tracepoints, probes among them: how the raw bytes of their samples are to be read, as tracefs
 * says it, and one disabled event of each, open as long as the session. Why: whenever the last
 * event of a tracepoint is closed the kernel waits for 40 ms, of a probe for 90; without these that
 * would be at each probing of an event. At the end it is, unless another process has it open. */

enum { FORMAT_MAX = 60 * 1024 /* what a dump holds */ };

/* SYSTEM:NAME */
static int path_of(const char *event, char ret_path[YARN_MACHINE_PATH_MAX])
{
    const char *colon = strchr(event, ':');
    if (!colon)
        return -ENOENT;
    const struct yarn_span parts[] = {
        yarn_span_of_text("events"),
        yarn_span_of(event, (size_t)(colon - event)),
        yarn_span_of_text(colon + 1),
        yarn_span_of_text("format"),
    };
    return yarn_machine_path(yarn_event_machine_here.tracing, parts, YARN_COUNT_OF(parts),
                             ret_path);
}

/* In the session's memory; left empty where it cannot be read. */
static void read_format(struct yarn_session *session, struct yarn_event_status *state)
{
    char path[YARN_MACHINE_PATH_MAX];
    size_t mark = session->arena.used;
    char *text = yarn_arena_alloc(&session->arena, FORMAT_MAX, 1);
    int size = text ? path_of(state->spec.event, path) : -ENOMEM;
    if (!size)
        size = yarn_machine_read(path, text, FORMAT_MAX);
    yarn_arena_rewind(&session->arena, mark + (size > 0 ? (size_t)size + 1 : 0));
    if (size > 0)
        state->format = yarn_span_of(text, (size_t)size);
}

/* On the reader's own thread, where it never counts. What is refused here is refused again where it
 * is probed. */
static void hold(struct yarn_event *holder, const struct yarn_event_spec *spec)
{
    struct perf_event_attr attr = {
        .type = spec->type,
        .size = sizeof attr,
        .config = spec->config,
        .disabled = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
    if (yarn_event_open(holder, &attr, UINT32_MAX, 0, -1))
        *holder = YARN_EVENT_CLOSED;
}

/* Where the event is one: its `format`, and the one that holds it. */
static void open_tracepoint(struct yarn_session *session, struct yarn_event_status *state)
{
    if (state->spec.kind != YARN_EVENT_TRACEPOINT || state->spec.refusal)
        return;
    read_format(session, state);
    hold(&state->holder, &state->spec);
}

static void count(struct wanted *ret_wanted, const struct yarn_session_request *request)
{
    int nr_threads = request->follows_tree
                         ? yarn_target_threads(request->target, request->pid, NULL, 0)
                         : yarn_process_nr_threads();
    ret_wanted->request = request;
    ret_wanted->nr_cpus = yarn_process_present_cpus(ret_wanted->cpus, CPUS_MAX);
    ret_wanted->nr_threads = yarn_size_max(nr_threads > 0 ? (size_t)nr_threads : 1,
                                           request->attaches_later ? request->max_threads : 0);
}

static int init_cpus(struct yarn_session *session, const struct wanted *wanted)
{
    session->cpus = YARN_ARENA_NEW(&session->arena, int, wanted->nr_cpus);
    if (!session->cpus)
        return -ENOMEM;
    memcpy(session->cpus, wanted->cpus, wanted->nr_cpus * sizeof wanted->cpus[0]);
    session->nr_cpus = wanted->nr_cpus;
    return 0;
}

/* Of a breakpoint: addresses change from run to run. */
static void find_site(const struct yarn_session_request *request, struct yarn_event_spec *event)
{
    uint64_t address;
    if (event->kind == YARN_EVENT_BREAKPOINT && event->site.symbol && !event->config1 &&
        request->find_symbol && request->find_symbol(event->site.symbol, &address))
        event->config1 = address + event->site.offset;
}

static int init_specs(struct yarn_session *session)
{
    const struct yarn_session_request *request = session->request;
    session->alternates.first = (uint32_t)yarn_size_max(request->next_number, request->nr_events);
    session->statuses = YARN_ARENA_NEW(&session->arena, struct yarn_event_status,
                                       session->alternates.first + request->nr_events);
    if (!session->statuses)
        return -ENOMEM;
    for (size_t i = 0; i < request->nr_events; i++) {
        session->statuses[i] = (struct yarn_event_status){
            .spec = request->events[i], .program = -1, .holder = YARN_EVENT_CLOSED};
        find_site(request, &session->statuses[i].spec);
        open_tracepoint(session, &session->statuses[i]);
    }
    return 0;
}

static int init_decoder(struct yarn_session *session)
{
    const uint32_t end = session->alternates.first + session->alternates.count;
    struct perf_event_attr *attrs = YARN_ARENA_NEW(&session->arena, struct perf_event_attr, end);
    session->merge.decoder.room = yarn_arena_alloc(&session->arena, YARN_RECORD_BYTES_MAX, 1);
    if (!attrs || !session->merge.decoder.room)
        return -ENOMEM;
    for (uint32_t i = 0; i < end; i++)
        attrs[i] = yarn_probe_attr(session, i, -1);
    session->merge.decoder.attrs = attrs;
    session->merge.decoder.numbers = &session->numbers;
    return 0;
}

static int init_reads(struct yarn_session *session)
{
    for (uint32_t i = 0; i < session->request->nr_events && !session->reads; i++)
        if (!session->statuses[i].error && session->statuses[i].spec.reads_group)
            session->reads = YARN_ARENA_NEW(&session->arena, struct yarn_group_reads, 1);
    return session->reads ? yarn_group_reads_open(session->reads) : 0;
}

static int init_doubles(struct yarn_session *session)
{
    if (!session->report.nr_late_threads && !session->request->attaches_later)
        return 0;
    session->doubles = YARN_ARENA_NEW(&session->arena, struct yarn_session_doubles, 1);
    return session->doubles ? yarn_session_doubles_open(session->doubles) : -ENOMEM;
}

/* Why not simply much: some hosts have a limit of address space, and count on all of it. */
static size_t arena_bytes(const struct wanted *wanted)
{
    size_t nr_events = 2 * wanted->request->nr_events + wanted->request->records_switches;
    size_t threads = ARENA_THREADS + wanted->nr_threads;
    size_t per_cpu = 2 * sizeof(struct yarn_session_core) + 2 * sizeof(struct yarn_merge_source) +
                     threads * nr_events * sizeof(struct yarn_event);
    return ARENA_BYTES + nr_events * ARENA_EVENT_BYTES + wanted->nr_cpus * per_cpu;
}

static int open_by(struct yarn_session *session, const struct wanted *wanted,
                   const struct yarn_attachment *attachment, bool may_drop_events)
{
    const struct yarn_session_request *request = wanted->request;
    *session = YARN_SESSION_CLOSED;
    session->request = request;
    session->may_drop_events = may_drop_events;
    session->own_tid = request->includes_reader ? 0 : yarn_process_tid();
    session->nr_threads = wanted->nr_threads;
    session->report = (struct yarn_session_report){
        .asked = yarn_plan_first(request),
        .got = yarn_plan_first(request),
        .features = request->follows_tree
                        ? YARN_ATTR_ALL & ~(YARN_ATTR_INHERIT_THREAD | YARN_ATTR_REMOVE_ON_EXEC)
                        : YARN_ATTR_ALL,
        .attachment = attachment,
    };
    yarn_arena_open(&session->arena, arena_bytes(wanted));
    int (*const steps[])(struct yarn_session *) = {init_specs, attachment->open, init_decoder,
                                                   init_reads, init_doubles};
    int err = init_cpus(session, wanted);
    for (size_t i = 0; !err && i < YARN_COUNT_OF(steps); i++)
        err = steps[i](session);
    if (!err)
        return 0;
    if (!session->report.failure)
        yarn_probe_fail(session, "no memory for the session", err);
    yarn_session_close(session);
    return err;
}

static int open_with_spare_files(struct yarn_session *session, const struct wanted *wanted,
                                 const struct yarn_attachment *attachment)
{
    int err = open_by(session, wanted, attachment, false);
    if (err || yarn_process_has_spare_files(SPARE_FILES))
        return err;
    yarn_session_close(session);
    return yarn_probe_fail(session, yarn_event_refusal(-EMFILE), -EMFILE);
}

/* With `nr_spare` descriptors to spare, of the lowest numbers. */
static int open_short(struct yarn_session *session, const struct wanted *wanted,
                      const struct yarn_attachment *attachment, size_t nr_spare)
{
    int kept[LOW_FILES];
    size_t count = 0;
    while (count < nr_spare && (kept[count] = yarn_file_open_folder(YARN_FILE_CWD, "/")) >= 0)
        count++;
    int err = count == nr_spare ? open_by(session, wanted, attachment, true) : -EMFILE;
    while (count > 0)
        yarn_file_close(kept[--count]);
    return err;
}

/* With ever fewer descriptors: what the soft limit refuses may be opened under the hard one, while
 * the host waits; then fewer events.
 * Why low numbers are kept free: with the soft limit back, those are what files are opened with. */
static int open_perf(struct yarn_session *session, const struct wanted *wanted,
                     const struct yarn_attachment *attachment)
{
    struct yarn_file_limit before;
    int err = open_with_spare_files(session, wanted, attachment);
    if (!yarn_probe_lacks_files(err))
        return err;
    bool is_raised = wanted->request->host_waits && yarn_process_raise_files(&before);
    err = open_short(session, wanted, attachment, is_raised ? LOW_FILES : SPARE_FILES);
    if (is_raised)
        yarn_process_restore_files(&before);
    return err;
}

/* Makes no system call. */
static int refuse_perf(struct yarn_session *session, const struct yarn_session_request *request,
                       const struct yarn_attachment *attachment)
{
    *session = YARN_SESSION_CLOSED;
    session->request = request;
    session->report = (struct yarn_session_report){.attachment = attachment};
    return yarn_probe_fail(session, request->perf_refusal, -EPERM);
}

int yarn_session_open(struct yarn_session *session, const struct yarn_session_request *request)
{
    struct wanted wanted;
    count(&wanted, request);
    if (request->sampler == YARN_SAMPLER_TIMER)
        return open_by(session, &wanted, &yarn_attach_timer, false);
    struct yarn_plan_estimate estimate = yarn_plan_strategy(request, wanted.nr_cpus);
    const struct yarn_attachment *attachment =
        estimate.is_per_thread ? &yarn_attach_per_thread : &yarn_attach_per_core;
    int err = request->perf_refusal ? refuse_perf(session, request, attachment)
                                    : open_perf(session, &wanted, attachment);
    session->report.estimate = estimate;
    if (!err || request->sampler == YARN_SAMPLER_PERF)
        return err;
    struct yarn_session_report refused = session->report;
    int second_err = open_by(session, &wanted, &yarn_attach_timer, false);
    memcpy(session->report.sentence, refused.sentence, sizeof refused.sentence);
    session->report.refusal = refused.failure;
    session->report.refusal_error = refused.failure_error;
    /* What the timer sampler does not have at all is perf's failure to report. */
    if (second_err == -EOPNOTSUPP)
        session->report = refused;
    return second_err == -EOPNOTSUPP ? err : second_err;
}

int yarn_session_attach_thread(struct yarn_session *session, pid_t tid)
{
    return session->report.attachment->attach(session, tid);
}

void yarn_session_enable(struct yarn_session *session)
{
    session->report.attachment->enable(session);
    yarn_switches_follow(session);
}

void yarn_session_disable(struct yarn_session *session)
{
    session->report.attachment->disable(session);
}

void yarn_session_pause(struct yarn_session *session)
{
    session->report.attachment->pause(session);
}

void yarn_session_deepen(struct yarn_session *session)
{
    if (session->report.attachment->deepen)
        session->report.attachment->deepen(session);
}

void yarn_session_check_signals(struct yarn_session *session)
{
    if (session->report.attachment->check_signals)
        session->report.attachment->check_signals(session);
}

/* A group's reading becomes a sample of each member that has counted. */
static void observe_sample(struct yarn_session *session, const struct yarn_typed_record *record)
{
    struct yarn_typed_record weighed = *record;
    if (session->report.attachment->weigh)
        weighed.perf.period = session->report.attachment->weigh(session, record);
    session->nr_samples++;
    if (record->perf.values.size && session->reads)
        yarn_group_reads_report(session->reads, &session->numbers, &weighed, session->listener);
    else
        session->listener->record(session->listener->self, &weighed);
}

static bool samples_each(const struct yarn_event_spec *spec)
{
    bool is_at_once = spec->kind == YARN_EVENT_SOFTWARE || spec->kind == YARN_EVENT_TRACEPOINT ||
                      spec->kind == YARN_EVENT_PROBE;
    return is_at_once && spec->period == 1 && !spec->frequency;
}

/* A clock of a whole core is nobody's second one. */
static bool is_double(const struct yarn_session *session, const struct yarn_typed_record *record)
{
    if (!session->doubles)
        return false;
    bool is_sample = record->type == YARN_RECORD_SAMPLE;
    uint32_t number =
        is_sample ? record->event : yarn_table_find(&session->numbers, record->perf.id);
    if (number == YARN_RECORD_NO_EVENT)
        return session->request->follows_tree &&
               yarn_session_doubles_has(session->doubles, record, YARN_SWITCHES_NUMBER, false);
    return !yarn_cpu_wide_is(session, number) &&
           yarn_session_doubles_has(session->doubles, record, number,
                                    samples_each(&session->statuses[number].spec));
}

/* Counts what goes by. */
static void observe(void *self, const struct yarn_typed_record *record)
{
    struct yarn_session *session = self;
    if (is_double(session, record) || yarn_alternates_exclude(session, record))
        return;
    if (record->type == YARN_RECORD_SAMPLE) {
        observe_sample(session, record);
        return;
    }
    if (record->type == YARN_RECORD_SWITCH)
        yarn_switches_observe(session, record);
    session->switches.are_many |= session->request->times_tree && record->type == YARN_RECORD_LOST;
    if (record->type == YARN_RECORD_EXIT && session->reads)
        yarn_group_reads_remove_thread(session->reads, record->task.tid);
    session->nr_births +=
        record->type == YARN_RECORD_FORK && record->task.pid == (uint32_t)session->request->pid;
    session->listener->record(session->listener->self, record);
}

static void observe_malformed(void *self, uint32_t kernel_type, size_t size)
{
    const struct yarn_session *session = self;
    session->listener->malformed(session->listener->self, kernel_type, size);
}

size_t yarn_session_drain(struct yarn_session *session, bool is_last,
                          const struct yarn_record_listener *listener, bool *ret_has_news)
{
    uint64_t until_ns = UINT64_MAX;
    if (!is_last)
        until_ns = yarn_clock_ns(YARN_TIME_MONOTONIC) - YARN_MERGE_MARGIN_NS;
    return yarn_session_drain_until(session, until_ns, listener, ret_has_news);
}

size_t yarn_session_drain_until(struct yarn_session *session, uint64_t until_ns,
                                const struct yarn_record_listener *listener, bool *ret_has_news)
{
    const struct yarn_record_listener seen = {session, observe, observe_malformed};
    session->listener = listener;
    if (session->report.attachment->gather)
        session->report.attachment->gather(session, &seen);
    size_t count = yarn_merge_pass(&session->merge, until_ns, &seen, ret_has_news);
    if (until_ns != UINT64_MAX) {
        yarn_switches_after_drain(session);
        yarn_crowd_after_drain(session);
        if (session->report.attachment->after_drain)
            session->report.attachment->after_drain(session);
    }
    return count;
}

size_t yarn_session_watched(const struct yarn_session *session, struct pollfd *ret_fds, size_t size)
{
    const struct yarn_attachment *attachment = session->report.attachment;
    size_t count = attachment->watched ? attachment->watched(session, ret_fds, size) : 0;
    return count == YARN_NOT_WATCHED ? 0 : count;
}

bool yarn_session_can_count(const struct yarn_session *session)
{
    return session->nr_events || session->timer || session->threads;
}

bool yarn_session_watches_others(const struct yarn_session *session)
{
    return session->watches_machine;
}

struct yarn_perf_count yarn_session_count(const struct yarn_session *session, uint32_t number)
{
    const struct yarn_attachment *attachment = session->report.attachment;
    return attachment->count ? attachment->count(session, number) : (struct yarn_perf_count){0};
}

bool yarn_session_counts_twice(const struct yarn_session *session)
{
    return session->doubles && session->doubles->has_any;
}

uint64_t yarn_session_switching_ns(struct yarn_session *session, uint32_t number, uint64_t cpu_ns)
{
    const struct yarn_attachment *attachment = session->report.attachment;
    return attachment->switching_ns ? attachment->switching_ns(session, number, cpu_ns) : 0;
}

uint64_t yarn_session_blocked_ns(const struct yarn_session *session)
{
    const struct yarn_attachment *attachment = session->report.attachment;
    return attachment->blocked_ns ? attachment->blocked_ns(session) : 0;
}

uint64_t yarn_session_thread_cpu_ns(const struct yarn_session *session, pid_t tid)
{
    const struct yarn_attachment *attachment = session->report.attachment;
    return attachment->thread_cpu_ns ? attachment->thread_cpu_ns(session, tid) : 0;
}

const char *yarn_session_sampler_name(const struct yarn_session *session)
{
    return yarn_sampler_words[session->report.attachment->sampler];
}

const char *yarn_session_strategy_name(const struct yarn_session *session)
{
    enum yarn_strategy strategy = session->report.attachment->strategy;
    bool has_cores = session->wide.is_on || session->request->of_cores;
    return yarn_strategy_words[has_cores ? YARN_STRATEGY_CORES : strategy];
}

bool yarn_session_needs_time(const struct yarn_session *session)
{
    return !session->report.attachment->watched;
}

bool yarn_session_sends_signals(const struct yarn_session *session)
{
    return session->report.attachment->check_signals;
}

size_t yarn_session_list_threads(const struct yarn_session *session, pid_t *ret_tids, size_t size)
{
    size_t kept = 0;
    const struct yarn_session_request *request = session->request;
    int count = yarn_target_threads(request->target, request->pid, ret_tids, size);
    for (size_t i = 0; count > 0 && i < yarn_size_min((size_t)count, size); i++)
        if (ret_tids[i] != session->own_tid)
            ret_tids[kept++] = ret_tids[i];
    return kept;
}

size_t yarn_session_ring_bytes(const struct yarn_session *session)
{
    const struct yarn_attachment *attachment = session->report.attachment;
    return attachment->ring_bytes ? attachment->ring_bytes(session) : 0;
}

/* Events and rings lie in the arena, too: without their close they are the kernel's. */
static void free_memory(struct yarn_session *session)
{
    yarn_table_close(&session->numbers);
    if (session->reads)
        yarn_group_reads_close(session->reads);
    session->reads = NULL;
    if (session->doubles)
        yarn_session_doubles_close(session->doubles);
    session->doubles = NULL;
    session->statuses = NULL;
    yarn_arena_close(&session->arena);
}

void yarn_session_close(struct yarn_session *session)
{
    if (session->report.attachment)
        session->report.attachment->close(session);
    for (size_t i = 0; session->statuses && i < session->request->nr_events; i++) {
        yarn_event_close(&session->statuses[i].holder);
        yarn_file_close(session->statuses[i].program);
    }
    free_memory(session);
}

void yarn_session_after_fork(struct yarn_session *session)
{
    if (session->threads)
        yarn_thread_rings_free(session);
    free_memory(session);
    *session = YARN_SESSION_CLOSED;
}

uint64_t yarn_session_timed_until_ns(const struct yarn_session *session)
{
    if (!session->request->times_tree)
        return 0;
    return session->switches.are_cut ? session->switches.changed_ns : UINT64_MAX;
}

bool yarn_session_records_switches(const struct yarn_session *session)
{
    return session->switches.is_open && !session->switches.reason;
}

const char *yarn_session_switches_refusal(const struct yarn_session *session)
{
    if (session->switches.reason)
        return session->switches.reason;
    if (session->switches.is_open)
        return NULL;
    return session->timer ? "the timer sampler has no switch records"
                          : "this strategy has no switch records";
}

/* Of its tracepoints: the most that one of them has. */
static enum yarn_sched_kind tracepoints_of(const struct yarn_session *session,
                                           const char **ret_reason)
{
    enum yarn_sched_kind kind = YARN_SCHED_OFF;
    *ret_reason = "there are no tracepoints of the scheduler here, or no room for them behind "
                  "YARN_EVENTS";
    for (size_t i = 0; i < session->request->nr_events; i++) {
        const struct yarn_event_status *event = &session->statuses[i];
        if (event->spec.is_scheduling && event->reason)
            *ret_reason = event->reason;
        if (event->spec.is_scheduling && !event->error && kind != YARN_SCHED_TRACEPOINTS_ALL)
            kind = event->spec.is_of_machine ? YARN_SCHED_TRACEPOINTS_ALL : YARN_SCHED_TRACEPOINTS;
    }
    return kind;
}

struct yarn_sched yarn_session_sched(const struct yarn_session *session,
                                     const struct yarn_sched *asked, const char **ret_reason)
{
    struct yarn_sched got = *asked;
    const char *reason = NULL;
    bool has_switches = asked->kind != YARN_SCHED_OFF && yarn_session_records_switches(session);
    if (asked->kind >= YARN_SCHED_TRACEPOINTS)
        got.kind = tracepoints_of(session, &reason);
    if (got.kind <= YARN_SCHED_SWITCH || asked->kind < YARN_SCHED_TRACEPOINTS)
        got.kind = has_switches ? YARN_SCHED_SWITCH : YARN_SCHED_OFF;
    if (got.kind == YARN_SCHED_OFF && asked->kind != YARN_SCHED_OFF && !reason)
        reason = yarn_session_switches_refusal(session);
    bool is_auto = asked->kind == YARN_SCHED_AUTO;
    bool is_as_asked = got.kind == (is_auto ? YARN_SCHED_TRACEPOINTS_ALL : asked->kind);
    *ret_reason = is_as_asked ? NULL : reason;
    return got;
}

/* Of tracepoints, too, where YARN_SCHED is recorded by them. */
uint64_t yarn_session_switches_lost(const struct yarn_session *session)
{
    uint64_t lost = yarn_switches_lost(session);
    for (uint32_t i = 0; i < session->request->nr_events; i++)
        if (session->statuses[i].spec.is_scheduling && !session->statuses[i].error &&
            yarn_session_can_count(session))
            lost += yarn_session_count(session, i).lost;
    return lost;
}
