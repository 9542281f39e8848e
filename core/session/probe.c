/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/probe.h"

#include <linux/perf_event.h>

#include "core/event/sample_filter.h"
#include "core/session/attach.h"

enum { HITS_A_READING = 500 }; /* see is_missed_by_clock */

int yarn_filters_prepare(const struct yarn_session *session, struct yarn_event_status *state,
                         const char **ret_why)
{
    if (!yarn_event_spec_has_sample_filter(&state->spec) || state->program >= 0)
        return 0;
    *ret_why = session->request->bpf_refusal;
    if (*ret_why)
        return -EPERM;
    *ret_why = "a group that is read with each sample (:S) has no filter: samples would be missing";
    if (state->spec.reads_group)
        return -EOPNOTSUPP;
    int program = yarn_sample_filter_load(state->spec.filter);
    *ret_why = yarn_sample_filter_refusal(program);
    if (program < 0)
        return program;
    state->program = program;
    return 0;
}

int yarn_filters_set(const struct yarn_event_status *state, int fd)
{
    int err = !state->spec.filter  ? 0
              : state->program < 0 ? yarn_perf_set_filter(fd, state->spec.filter)
                                   : yarn_perf_set_program(fd, state->program);
    return err ? -EDOM : 0;
}

void yarn_usable_refuse(struct yarn_event_status *state, int err, const char *why)
{
    state->error = err == -EDOM || err == -ETIME ? EINVAL : -err;
    state->reason = why;
}

void yarn_usable_copy_instead(struct yarn_event_status *state, const char *why)
{
    state->copies_instead = true;
    state->reason = why;
}

/* What the kernel cannot be asked about, and what asking for would promise too much. */
static void refuse_unusable(const struct yarn_session *session, struct yarn_event_status *state)
{
    struct yarn_event_spec *spec = &state->spec;
    const char *why;
    int err = state->error ? -state->error : yarn_event_spec_check(spec, &why);
    if (!err)
        err = yarn_filters_prepare(session, state, &why);
    if (err && !state->error)
        yarn_usable_refuse(state, err, why);
    if (err)
        return;
    if (!yarn_event_spec_can_be_precise(spec) && (spec->precise || spec->is_most_precise))
        state->reason = "precise means nothing to an event that no counter counts";
    if (yarn_session_request_stack(session->request, spec) != YARN_STACKS_CALLS || spec->is_counted)
        return;
    if (!yarn_event_spec_can_be_precise(spec))
        yarn_usable_copy_instead(state,
                                 "stacks are copied: only counters of the cpu have call-graph=lbr");
    else if (spec->branches)
        yarn_usable_copy_instead(
            state, "stacks are copied: one event has branch= or call-graph=lbr, not both");
}

/* Only rings of cores can hold what other threads do on them. */
static void refuse_of_machine(const struct yarn_session *session, struct yarn_event_status *state)
{
    if (!state->spec.is_of_machine || state->error)
        return;
    state->spec.is_if_permitted |= session->request->machine_refusal != NULL;
    if (session->request->machine_refusal)
        yarn_usable_refuse(state, -EBUSY, session->request->machine_refusal);
    else if (session->report.attachment != &yarn_attach_per_core)
        yarn_usable_refuse(
            state, -EOPNOTSUPP,
            "whole cores need rings of cores: YARN_STRATEGY=per-core and descriptors for them");
}

static bool is_sampled(const struct yarn_session *session, uint32_t number)
{
    const struct yarn_event_spec *spec = &session->statuses[number].spec;
    return !session->statuses[number].error && !spec->is_counted &&
           (!spec->reads_group || yarn_group_first(session, number) == number);
}

/* Which come out of one occurrence. */
static bool can_be_at_once(const struct yarn_event_spec *a, const struct yarn_event_spec *b)
{
    return a->type == PERF_TYPE_SOFTWARE && b->type == a->type && b->config == a->config &&
           !a->is_clock &&
           !((a->exclude_user || b->exclude_user) && (a->exclude_kernel || b->exclude_kernel));
}

/* Linux 6.2 to 6.18 at least prepare the sample of an occurrence once for all events of it: those
 * of the second carry the identifier of the first, so its layout too. */
static void refuse_alike(const struct yarn_session *session, uint32_t number)
{
    for (uint32_t i = 0; i < number; i++)
        if (is_sampled(session, i) && is_sampled(session, number) &&
            can_be_at_once(&session->statuses[i].spec, &session->statuses[number].spec))
            yarn_usable_refuse(
                &session->statuses[number], -EEXIST,
                "the same event stands before it, and the kernel cannot tell their samples "
                "apart: ask for it once, or with :u and :k");
}

void yarn_usable_check(struct yarn_session *session, uint32_t number)
{
    refuse_unusable(session, &session->statuses[number]);
    refuse_of_machine(session, &session->statuses[number]);
    refuse_alike(session, number);
}

int yarn_probe_fail(struct yarn_session *session, const char *what, int err)
{
    session->report.failure = yarn_probe_lacks_files(err) ? yarn_event_refusal(err) : what;
    session->report.failure_error = err;
    return err;
}

const char *yarn_probe_thread_reason(int err)
{
    switch (err) {
    case -ENOSPC:
        return "there are more than can be followed";
    case -EAGAIN:
        return "no timer for them: raise the limit of pending signals";
    case -EBUSY:
        return "they block every signal";
    default:
        return yarn_event_refusal(err);
    }
}

bool yarn_probe_lacks_files(int err)
{
    return err == -EMFILE || err == -ENFILE;
}

bool yarn_probe_drop_event(struct yarn_session *session, int err)
{
    uint32_t kept = yarn_probe_first_on(session, -1);
    for (uint32_t i = (uint32_t)session->request->nr_events; i-- > 0;)
        if (!session->statuses[i].error && session->statuses[i].spec.is_clock)
            kept = i;
    for (uint32_t i = (uint32_t)session->request->nr_events; i-- > 0;) {
        uint32_t first = yarn_group_first(session, i);
        if (session->statuses[i].error || first == yarn_group_first(session, kept))
            continue;
        for (uint32_t member = first; member <= i; member++) {
            session->statuses[member].error = -err;
            session->statuses[member].reason = yarn_event_refusal(err);
        }
        session->report.failure = NULL; /* it goes on without */
        return true;
    }
    return false;
}

bool yarn_probe_give_up_feature(struct yarn_session *session, int err)
{
    uint32_t features = session->report.features;
    if ((err != -EINVAL && err != -E2BIG) || !features)
        return false;
    session->report.features = yarn_attr_without_newest(features);
    return true;
}

/* The timer sampler has copies only. */
static enum yarn_stacks stack_of(const struct yarn_session *session,
                                 const struct yarn_event_status *state)
{
    enum yarn_stacks stack = yarn_session_request_stack(session->request, &state->spec);
    bool is_copy = (session->timer && stack == YARN_STACKS_CHAIN) ||
                   (stack == YARN_STACKS_CALLS && (session->timer || state->copies_instead));
    return is_copy ? YARN_STACKS_COPY : stack;
}

uint32_t yarn_probe_copy_bytes(const struct yarn_session *session, uint32_t number,
                               uint32_t got_bytes)
{
    const struct yarn_event_spec *event = &session->statuses[number].spec;
    uint32_t asked_bytes = yarn_session_request_copy_bytes(session->request, event);
    bool may_be_deeper = !event->has_callgraph && got_bytes > session->report.asked.stack_bytes;
    return may_be_deeper || got_bytes < asked_bytes ? got_bytes : asked_bytes;
}

/* The leader, a clock without the kernel, does not tick where what the member counts keeps its
 * thread: in the kernel. So the member has samples of its own, too, with the group's reading. */
static bool is_missed_by_clock(const struct yarn_session *session, uint32_t number)
{
    const struct yarn_event_spec *event = &session->statuses[number].spec;
    const struct yarn_event_spec *leader =
        &session->statuses[yarn_group_first(session, number)].spec;
    return event->group && event->reads_group && leader != event && !event->is_counted &&
           leader->is_clock && leader->exclude_kernel && event->kind == YARN_EVENT_SOFTWARE &&
           !event->is_clock;
}

struct yarn_attr_options yarn_probe_attr_options(const struct yarn_session *session,
                                                 uint32_t number)
{
    const struct yarn_event_spec *event = &session->statuses[number].spec;
    bool reads = event->group && event->reads_group;
    bool is_sampled = !reads || yarn_group_first(session, number) == number ||
                      is_missed_by_clock(session, number);
    struct yarn_attr_options options = {
        .features = session->report.features,
        .stack_bytes = yarn_probe_copy_bytes(session, number,
                                             yarn_alternates_is_one(session, number)
                                                 ? session->alternates.stack_bytes
                                                 : session->report.got.stack_bytes),
        .is_single = session->threads != NULL,
        .starts_at_exec = session->request->starts_at_exec && !session->request->starts_paused &&
                          !yarn_alternates_is_one(session, number),
        .has_switches = session->request->times_tree && !yarn_switches_follow_tree(session),
        .reads_members = reads && is_sampled,
        .is_read = !is_sampled,
    };
    if (options.is_read)
        return options;
    switch (stack_of(session, &session->statuses[number])) {
    case YARN_STACKS_COPY:
        options.sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
        options.registers_mask = yarn_attr_unwind_registers();
        if (!session->timer && !event->exclude_kernel)
            options.sample_type |= PERF_SAMPLE_CALLCHAIN;
        break;
    case YARN_STACKS_CHAIN:
        options.sample_type = PERF_SAMPLE_CALLCHAIN;
        options.has_user_chain = true;
        break;
    case YARN_STACKS_CALLS:
        options.has_call_branches = true;
        options.sample_type = event->exclude_kernel ? 0 : PERF_SAMPLE_CALLCHAIN;
        break;
    case YARN_STACKS_NONE:
        break;
    }
    return options;
}

struct perf_event_attr yarn_probe_attr(const struct yarn_session *session, uint32_t number, int cpu)
{
    struct yarn_attr_options options = yarn_probe_attr_options(session, number);
    options.has_side_band =
        (!yarn_switches_follow_tree(session) || yarn_alternates_is_one(session, number)) &&
        yarn_alternates_first(session, number) == yarn_probe_first_on(session, cpu);
    options.is_single |= yarn_session_is_of_core(session, number);
    struct yarn_event_spec event = session->statuses[number].spec;
    if (is_missed_by_clock(session, number))
        event.period = HITS_A_READING;
    if (!yarn_alternates_is_one(session, number))
        yarn_plan_rate_event(&session->report.got, &event);
    event.exclude_idle |= session->request->of_cores; /* a core's clock runs on then */
    return yarn_attr_of(&event, &options);
}

/* ---- what the kernel says ---- */

int yarn_probe_open(const struct yarn_session *session, const struct perf_event_attr *attr,
                    uint32_t number, pid_t tid, int cpu, const struct yarn_event *leader,
                    struct yarn_event *ret_event)
{
    int err = leader ? yarn_event_open_member(ret_event, attr, number, leader)
                     : yarn_event_open(ret_event, attr, number, tid, cpu);
    if (err)
        return err;
    err = yarn_filters_set(&session->statuses[number], ret_event->fd);
    if (err)
        yarn_event_close(ret_event);
    return err;
}

int yarn_switches_open(const struct yarn_session *session, pid_t tid, int cpu,
                       const struct yarn_event *leader, struct yarn_event *ret_event)
{
    struct yarn_attr_options options = {
        .features = session->report.features,
        .is_single = session->threads != NULL || session->request->of_cores,
        .starts_at_exec = session->request->starts_at_exec,
        .has_side_band = session->request->follows_tree,
        .has_switches = session->request->times_tree || !session->request->follows_tree,
    };
    struct perf_event_attr attr = yarn_attr_of_switches(&options);
    int err = yarn_event_open(ret_event, &attr, YARN_SWITCHES_NUMBER, tid, cpu);
    if (err)
        return err;
    err = yarn_event_redirect(ret_event, leader);
    if (err)
        yarn_event_close(ret_event);
    return err;
}

/* Which features this kernel knows, found out with an event that it cannot refuse for others: once,
 * where one was refused. True where there are fewer now. */
static bool probe_features(struct yarn_session *session, pid_t tid, int cpu)
{
    const struct yarn_event_spec dummy = {
        .kind = YARN_EVENT_SOFTWARE,
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_DUMMY,
        .exclude_kernel = true,
        .exclude_hv = true,
    };
    const uint32_t before = session->report.features;
    int err = session->has_probed_features ? 0 : -EINVAL;
    while (err) {
        struct yarn_attr_options options = {
            .features = session->report.features,
            .is_single = session->threads != NULL,
        };
        struct perf_event_attr attr = yarn_attr_of(&dummy, &options);
        struct yarn_event event = YARN_EVENT_CLOSED;
        err = yarn_event_open(&event, &attr, UINT32_MAX, tid, cpu);
        yarn_event_close(&event);
        if (err && !yarn_probe_give_up_feature(session, err))
            break;
    }
    session->has_probed_features = true;
    return session->report.features != before;
}

/* The events of one recording have one clock: is that what the kernel does not take? */
static bool lacks_clock(struct perf_event_attr attr, uint32_t number, pid_t tid, int cpu)
{
    struct yarn_event event = YARN_EVENT_CLOSED;
    bool is_refused =
        attr.use_clockid && yarn_event_open(&event, &attr, number, tid, cpu) == -EINVAL;
    yarn_event_close(&event);
    attr.use_clockid = 0;
    attr.clockid = 0;
    bool is_taken = is_refused && !yarn_event_open(&event, &attr, number, tid, cpu);
    yarn_event_close(&event);
    return is_taken;
}

/* Features that the kernel does not know are dropped, its own part is given up where that is not
 * permitted, and `auto` falls back on the way. */
static int open_as_may_be(struct yarn_session *session, uint32_t number, struct yarn_event *event,
                          const struct yarn_event *leader)
{
    struct yarn_event_status *state = &session->statuses[number];
    pid_t tid = event->tid;
    const int cpu = event->cpu;
    for (;;) {
        struct perf_event_attr attr = yarn_probe_attr(session, number, -1);
        int err = yarn_probe_open(session, &attr, number, tid, cpu, leader, event);
        if (!err || err == -ESRCH)
            return err;
        if ((err == -EINVAL || err == -E2BIG) && probe_features(session, tid, cpu))
            continue;
        if ((err == -EACCES || err == -EPERM) && yarn_event_spec_leave_kernel(&state->spec)) {
            state->is_kernel_refused = true;
            continue;
        }
        if ((err == -EOPNOTSUPP || err == -EINVAL) &&
            stack_of(session, state) == YARN_STACKS_CALLS) {
            yarn_usable_copy_instead(state,
                                     "stacks are copied: this cpu notes no calls (call-graph=lbr)");
            continue;
        }
        if ((err == -EOPNOTSUPP || err == -EINVAL) && yarn_event_spec_lower_precise(&state->spec)) {
            state->reason = "less precise than asked: the kernel takes no more";
            continue;
        }
        if (state->spec.is_if_permitted && state->spec.is_of_machine) {
            state->spec.is_of_machine = false;
            state->reason = yarn_event_refusal(err);
            tid = session->request->pid;
            continue;
        }
        if (!state->spec.is_auto || state->spec.kind == YARN_EVENT_CLOCK)
            return err == -EINVAL && lacks_clock(attr, number, tid, cpu) ? -ETIME : err;
        yarn_event_spec_fall_back(&state->spec);
        yarn_event_spec_apply_rate(&state->spec, session->request->frequency_hz);
        state->reason = "no hardware counter of cycles is to be had: cpu-clock instead";
    }
}

/* ---- groups ---- */

/* As a whole, for the sake of `culprit`. */
static void refuse_group(struct yarn_session *session, uint32_t first, uint32_t culprit)
{
    const struct yarn_event_status *refused = &session->statuses[culprit];
    uint32_t end = yarn_group_end(session, first);
    for (uint32_t i = first; i < end; i++) {
        struct yarn_event_status *state = &session->statuses[i];
        if (i == culprit)
            continue;
        struct yarn_text why = yarn_text_of(state->why, sizeof state->why);
        yarn_text_add(&why, "its group is opened whole or not at all, and ");
        yarn_text_add(&why, refused->spec.name);
        yarn_text_add(&why, " was refused");
        yarn_usable_refuse(state, -refused->error, state->why);
    }
}

/* Each member alone; where they go so from then on. */
static int dissolve(struct yarn_session *session, uint32_t first, const char *reason)
{
    uint32_t end = yarn_group_end(session, first);
    for (uint32_t i = first; i < end; i++) {
        struct yarn_event_status *state = &session->statuses[i];
        state->spec.group = 0;
        state->spec.reads_group = false;
        if (!state->error)
            state->reason = reason;
    }
    return -EAGAIN;
}

static const char *reason_in_group(const struct yarn_session *session, uint32_t first,
                                   uint32_t number, int err)
{
    bool is_member = session->statuses[first].spec.group;
    if (err == -EDOM)
        return "the kernel does not take its filter";
    if (err == -ETIME)
        return "its PMU does not know CLOCK_MONOTONIC, by which all samples are ordered";
    if (is_member && err == -EINVAL && session->statuses[first].spec.reads_group && number == first)
        return "groups that are read with each sample, of all threads, need Linux 6.12";
    if (is_member && err == -EINVAL && number != first)
        return "the kernel does not take it beside the other members of its group";
    return yarn_event_refusal(err);
}

/* Opens a group, or one event, beside those of `events` that are open. -ESRCH: the thread has gone.
 */
static int probe_group(struct yarn_session *session, uint32_t first, struct yarn_event *events)
{
    uint32_t end = yarn_group_end(session, first), number = first;
    int err = 0;
    for (; !err && number < end; number++) {
        err = -session->statuses[number].error;
        if (!err)
            err = open_as_may_be(session, number, &events[number],
                                 number > first ? &events[first] : NULL);
    }
    if (!err || err == -ESRCH)
        return err;
    number--;
    for (uint32_t i = first; i < number; i++)
        yarn_event_close(&events[i]);
    if (session->statuses[first].spec.is_weak && end > first + 1)
        return dissolve(session, first,
                        "its group does not fit on the counters: the members go alone");
    if (err == -EINVAL && number == first && session->statuses[first].spec.is_counted &&
        session->statuses[first].spec.reads_group)
        return dissolve(session, first, "counts of each thread need Linux 6.12: the sum alone");
    if (!session->statuses[number].error)
        yarn_usable_refuse(&session->statuses[number], err,
                           reason_in_group(session, first, number, err));
    refuse_group(session, first, number);
    return 0;
}

/* All at once, as they are to be: some kinds are few. */
static int probe_all(struct yarn_session *session, struct yarn_event *events)
{
    for (uint32_t first = 0; first < session->request->nr_events;) {
        uint32_t end = yarn_group_end(session, first);
        int err = probe_group(session, first, events);
        if (err == -EAGAIN)
            continue;
        if (err)
            return err;
        first = end;
    }
    return 0;
}

/* An event that is read with another's samples has none of its own. */
static void leave_rates_to_leaders(struct yarn_session *session)
{
    for (uint32_t i = 0; i < session->request->nr_events; i++) {
        struct yarn_event_spec *spec = &session->statuses[i].spec;
        if (spec->reads_group && yarn_group_first(session, i) != i)
            spec->period = spec->frequency = 0;
    }
}

static int check_what_is_left(struct yarn_session *session)
{
    size_t nr_events = session->request->nr_events;
    struct yarn_session_report *report = &session->report;
    struct yarn_text text = yarn_text_of(report->sentence, sizeof report->sentence);
    const struct yarn_event_status *refused = &session->statuses[nr_events - 1];
    if (yarn_probe_first_on(session, -1) < nr_events)
        return 0;
    yarn_text_add(&text, refused->reason);
    return yarn_probe_fail(session, report->sentence, -refused->error);
}

/* A core that the event's PMU counts on, where that is not all of them. */
static int cpu_for(const struct yarn_session *session, uint32_t number, int cpu)
{
    const struct yarn_event_spec *spec = &session->statuses[number].spec;
    for (size_t i = 0; cpu >= 0 && i < session->nr_cpus; i++)
        if (!yarn_event_spec_is_on(spec, cpu))
            cpu = session->cpus[i];
    return cpu;
}

int yarn_probe_specs(struct yarn_session *session, pid_t tid, int cpu)
{
    size_t nr_events = session->request->nr_events;
    struct yarn_event *events = YARN_ARENA_NEW(&session->arena, struct yarn_event, nr_events);
    if (!events)
        return -ENOMEM;
    for (size_t i = 0; i < nr_events; i++) {
        events[i] = YARN_EVENT_CLOSED;
        yarn_usable_check(session, (uint32_t)i);
        bool is_of_core = session->request->of_cores || session->statuses[i].spec.is_of_machine;
        events[i].tid = is_of_core ? YARN_EVENT_EVERY_THREAD : tid;
        events[i].cpu = cpu_for(session, (uint32_t)i, cpu);
    }
    int err = probe_all(session, events);
    for (size_t i = 0; i < nr_events; i++)
        yarn_event_close(&events[i]);
    if (err)
        return err;
    leave_rates_to_leaders(session);
    return check_what_is_left(session);
}

uint32_t yarn_probe_first_on(const struct yarn_session *session, int cpu)
{
    uint32_t number = 0;
    while (number < session->request->nr_events &&
           (session->statuses[number].error || session->statuses[number].spec.is_of_machine ||
            (cpu >= 0 && !yarn_event_spec_is_on(&session->statuses[number].spec, cpu))))
        number++;
    return number;
}
