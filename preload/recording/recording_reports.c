/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/probe.h"
#include "preload/recording/recording.h"

/* Each step down that the kernel forced, once. */
static void add_steps(struct yarn_recording *recording)
{
    const struct yarn_session *session = &recording->session;
    const struct yarn_session_report *report = &session->report;
    for (uint32_t bit = 1; bit < YARN_ATTR_ALL; bit <<= 1)
        if (!(report->features & bit))
            YARN_INFORM(recording->messages, "not in this kernel: %s", yarn_attr_feature_name(bit));
    if (report->got.stack_bytes < report->asked.stack_bytes)
        YARN_INFORM(recording->messages, "stack copies are smaller than asked for: the limit of "
                                         "locked memory leaves no room");
    if (report->refusal)
        YARN_INFORM(recording->messages, "perf was refused, timers take the samples: %s",
                    report->refusal);
    if (yarn_session_sends_signals(session) && session->request->stack == YARN_STACKS_CHAIN)
        YARN_INFORM(recording->messages,
                    "YARN_CALLGRAPH: the timer sampler copies stacks: dwarf instead");
    if (report->nr_late_threads)
        YARN_WARN(recording->messages, "threads appeared while events were attached: totals of "
                                       "events may have some of them twice; samples do not");
    for (size_t i = 0; i < session->request->nr_events; i++)
        if (session->statuses[i].error && !session->statuses[i].spec.is_if_permitted)
            YARN_WARN(recording->messages, "%s: %s", session->request->events[i].name,
                      session->statuses[i].reason);
}

void yarn_recording_report_opening(struct yarn_recording *recording)
{
    const struct yarn_options *options = &recording->job->options;
    for (size_t i = 0; i < options->nr_warnings; i++)
        YARN_WARN(recording->messages, "%s", options->warnings[i]);
    add_steps(recording);
}

/* The times in which the timer sampler sent no signals. */
static void note_holds(struct yarn_recording *recording, uint32_t holds)
{
    static const struct {
        enum yarn_session_hold hold;
        const char *what;
    } all[] = {
        {YARN_SESSION_HOLD_TRACER, "while a debugger traced the process, or valgrind ran it: a "
                                   "signal for each sample would have disturbed them"},
        {YARN_SESSION_HOLD_STACK, "since an alternate stack was set that is small: a signal while "
                                  "a handler of the host's is on it would have found no room"},
        {YARN_SESSION_HOLD_SIGNAL, "while the host handles signal 32 by itself: it is the C "
                                   "library's, and the timer sampler's"},
        {YARN_SESSION_HOLD_MASK, "while threads blocked signal 32: it is the C library's, which "
                                 "blocks it for moments only"},
    };
    recording->reported_holds |= holds;
    for (size_t i = 0; i < YARN_COUNT_OF(all); i++)
        if (holds & all[i].hold)
            yarn_messages_add(recording->messages, YARN_DUMP_MESSAGE_WARNING, true,
                              "not sampled %s", all[i].what);
}

/* Whether it is so for the first time. */
static bool is_first(bool is_so, bool *was_so)
{
    bool is_new = is_so && !*was_so;
    *was_so |= is_so;
    return is_new;
}

void yarn_recording_report_failures(struct yarn_recording *recording)
{
    const struct yarn_session_report *report = &recording->session.report;
    if (report->failure)
        yarn_failure_note(&recording->failure, report->failure, report->failure_error);
    note_holds(recording, report->holds & ~recording->reported_holds);
    if (is_first(report->has_core_back, &recording->has_reported_core_back))
        YARN_WARN(recording->messages,
                  "a core came online: its scheduler events are missing up to then: the kernel "
                  "ends events of a whole core that goes offline; they were opened again, up to "
                  "100 ms later");
    if (is_first(report->nr_refused_threads, &recording->has_reported_refused_threads))
        YARN_WARN(recording->messages, "threads were not sampled: %s",
                  yarn_probe_thread_reason(report->thread_refusal));
}

void yarn_recording_report_deeper(struct yarn_recording *recording, uint32_t before)
{
    uint32_t stack_bytes = recording->session.report.got.stack_bytes;
    if (stack_bytes <= yarn_size_max(before, recording->session.request->stack_bytes))
        return;
    YARN_INFORM(recording->messages,
                "stacks are copied up to %lu bytes deep from now on: many did not fit into the "
                "copies asked for",
                (uint64_t)stack_bytes);
}

/* Each record of a burst has a whole copy of the stack. */
static void add_lost_bursts(struct yarn_recording *recording)
{
    const struct yarn_session *session = &recording->session;
    for (uint32_t i = 0; i < session->request->nr_events; i++) {
        const struct yarn_event_status *event = &session->statuses[i];
        if (event->error || !yarn_plan_may_burst(&event->spec) ||
            !yarn_session_request_copy_bytes(session->request, &event->spec) ||
            !yarn_session_can_count(session) || !yarn_session_count(session, i).lost)
            continue;
        YARN_WARN(recording->messages,
                  "samples of %s were lost: they came in bursts: each has a copy of the stack: "
                  "call-graph=fp or no makes them small",
                  event->spec.name);
    }
}

/* Of threads without a ring, or with a smaller one, and of rings that were too small. */
void yarn_recording_report_final(struct yarn_recording *recording)
{
    const struct yarn_session_report *report = &recording->session.report;
    if (report->has_smaller_rings)
        YARN_INFORM(recording->messages, "stack copies of some threads were smaller than asked "
                                         "for: the limit of locked memory leaves no room");
    add_lost_bursts(recording);
    if (report->lacks_growth)
        YARN_INFORM(recording->messages,
                    "rings stayed as small as they were at first: the limit "
                    "of locked memory leaves no room for larger ones beside them");
    if (report->nr_refused_threads)
        YARN_WARN(recording->messages, "threads that were not sampled, at most at once: %lu",
                  report->nr_refused_threads);
}
