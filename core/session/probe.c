/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/probe.h"

int yarn_probe_fail(struct yarn_session *session, const char *what, int err)
{
    session->report.failure = what;
    session->report.failure_error = err;
    return err;
}

const char *yarn_probe_reason(int err)
{
    switch (err) {
    case -EACCES:
    case -EPERM:
        return "not permitted: lower kernel.perf_event_paranoid or give the process CAP_PERFMON";
    case -ENOSYS:
        return "perf_event_open is not to be had: a kernel, or a filter around it, without perf";
    case -ENOENT:
    case -ENODEV:
    case -EOPNOTSUPP:
        return "this machine has no such counter";
    case -ENOSPC:
        return "all counters of this kind are in use";
    case -EMFILE:
    case -ENFILE:
        return "no free descriptor: raise the limit of open files";
    case -ENOMEM:
        return "no memory for a ring: raise the limit of locked memory";
    case -EINVAL:
        return "the kernel does not take this event with these terms";
    default:
        return "the kernel refused the event";
    }
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
        return yarn_probe_reason(err);
    }
}

bool yarn_probe_lacks_files(int err)
{
    return err == -EMFILE || err == -ENFILE;
}

bool yarn_probe_drop_event(struct yarn_session *session, int err)
{
    uint32_t kept = yarn_probe_first(session);
    for (uint32_t i = (uint32_t)session->spec->nr_events; i-- > 0;)
        if (!session->specs[i].error && session->specs[i].spec.is_clock)
            kept = i;
    for (uint32_t i = (uint32_t)session->spec->nr_events; i-- > 0;) {
        if (session->specs[i].error || i == kept)
            continue;
        session->specs[i].error = -err;
        session->specs[i].reason = yarn_probe_reason(err);
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
static enum yarn_session_stack stack_of(const struct yarn_session *session,
                                        const struct yarn_event_spec *event)
{
    enum yarn_session_stack stack = yarn_session_spec_stack(session->spec, event);
    bool is_copy = session->timer && stack == YARN_SESSION_STACK_CHAIN;
    return is_copy ? YARN_SESSION_STACK_COPY : stack;
}

uint32_t yarn_probe_copy_bytes(const struct yarn_session *session, uint32_t spec,
                               uint32_t got_bytes)
{
    const struct yarn_event_spec *event = &session->specs[spec].spec;
    uint32_t asked_bytes = yarn_session_spec_copy_bytes(session->spec, event);
    bool may_be_deeper = !event->has_callgraph && got_bytes > session->report.asked.stack_bytes;
    return may_be_deeper || got_bytes < asked_bytes ? got_bytes : asked_bytes;
}

struct yarn_attr_options yarn_probe_attr_options(const struct yarn_session *session, uint32_t spec)
{
    const struct yarn_event_spec *event = &session->specs[spec].spec;
    struct yarn_attr_options options = {
        .features = session->report.features,
        .stack_bytes = yarn_probe_copy_bytes(session, spec, session->report.got.stack_bytes),
        .is_single = session->threads != NULL,
        .has_side_band = spec == yarn_probe_first(session),
    };
    switch (stack_of(session, event)) {
    case YARN_SESSION_STACK_COPY:
        options.sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
        options.registers_mask = yarn_attr_unwind_registers();
        if (!session->timer && !event->exclude_kernel)
            options.sample_type |= PERF_SAMPLE_CALLCHAIN;
        break;
    case YARN_SESSION_STACK_CHAIN:
        options.sample_type = PERF_SAMPLE_CALLCHAIN;
        options.has_user_chain = true;
        break;
    case YARN_SESSION_STACK_NONE:
        break;
    }
    return options;
}

struct yarn_event_spec yarn_probe_event(const struct yarn_session *session, uint32_t spec)
{
    struct yarn_event_spec event = session->specs[spec].spec;
    yarn_plan_rate_event(&session->report.got, &event);
    return event;
}

struct perf_event_attr yarn_probe_attr(const struct yarn_session *session, uint32_t spec)
{
    struct yarn_attr_options options = yarn_probe_attr_options(session, spec);
    struct yarn_event_spec event = yarn_probe_event(session, spec);
    return yarn_attr_of(&event, &options);
}

/* Opens one event of the spec for a moment: what the kernel says, with unknown features dropped,
 * the kernel's part given up where it is not permitted, and `auto` fallen back on the way. */
static int probe_spec(struct yarn_session *session, uint32_t number, pid_t tid, int cpu)
{
    struct yarn_session_event *state = &session->specs[number];
    int missing = yarn_event_spec_check(&state->spec, &state->reason);
    if (missing) {
        state->error = -missing;
        return missing;
    }
    for (;;) {
        struct yarn_attr_options options = yarn_probe_attr_options(session, number);
        struct perf_event_attr attr = yarn_attr_of(&state->spec, &options);
        struct yarn_event event = YARN_EVENT_CLOSED;
        int err = yarn_event_open(&event, &attr, number, tid, cpu);
        yarn_event_close(&event);
        if (!err || err == -ESRCH)
            return err;
        if (yarn_probe_give_up_feature(session, err))
            continue;
        if ((err == -EACCES || err == -EPERM) && yarn_event_spec_leave_kernel(&state->spec)) {
            state->is_kernel_refused = true;
            continue;
        }
        if (state->spec.is_auto && state->spec.kind != YARN_EVENT_CLOCK) {
            yarn_event_spec_fall_back(&state->spec);
            yarn_event_spec_apply_rate(&state->spec, session->spec->frequency_hz);
            state->reason = "no hardware counter of cycles is to be had: cpu-clock instead";
            continue;
        }
        state->error = -err;
        state->reason = yarn_probe_reason(err);
        return err;
    }
}

int yarn_probe_specs(struct yarn_session *session, pid_t tid, int cpu)
{
    const struct yarn_session_event *refused = NULL;
    size_t usable = 0;
    for (uint32_t i = 0; i < session->spec->nr_events; i++) {
        int err = probe_spec(session, i, tid, cpu);
        if (err == -ESRCH)
            return err;
        if (err)
            refused = &session->specs[i];
        else
            usable++;
    }
    if (usable || !refused)
        return 0;
    return yarn_probe_fail(session, refused->reason, -refused->error);
}

uint32_t yarn_probe_first(const struct yarn_session *session)
{
    uint32_t first = 0;
    while (first + 1 < session->spec->nr_events && session->specs[first].error)
        first++;
    return first;
}
