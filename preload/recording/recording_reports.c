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
            yarn_messages_add(recording->messages, YARN_DUMP_MESSAGE_INFO, "not in this kernel",
                              yarn_attr_feature_name(bit));
    if (report->got.stack_bytes < report->asked.stack_bytes)
        yarn_messages_add(recording->messages, YARN_DUMP_MESSAGE_INFO,
                          "stack copies are smaller than asked for",
                          "the limit of locked memory leaves no room");
    if (report->refusal)
        yarn_messages_add(recording->messages, YARN_DUMP_MESSAGE_INFO,
                          "perf was refused, timers take the samples", report->refusal);
    if (yarn_session_sends_signals(session) && session->request->stack == YARN_STACKS_CHAIN)
        yarn_messages_add(recording->messages, YARN_DUMP_MESSAGE_INFO,
                          "YARN_CALLGRAPH: the timer sampler copies stacks", "dwarf instead");
    if (report->nr_late_threads)
        yarn_messages_add(recording->messages, YARN_DUMP_MESSAGE_WARNING,
                          "threads appeared while events were attached",
                          "totals of events may have some of them twice; samples do not");
    for (size_t i = 0; i < session->request->nr_events; i++)
        if (session->statuses[i].error && !session->statuses[i].spec.is_if_permitted)
            yarn_messages_add(recording->messages, YARN_DUMP_MESSAGE_WARNING,
                              session->request->events[i].name, session->statuses[i].reason);
}

void yarn_recording_report_opening(struct yarn_recording *recording)
{
    const struct yarn_options *options = &recording->job->options;
    for (size_t i = 0; i < options->nr_warnings; i++)
        yarn_messages_add(recording->messages, YARN_DUMP_MESSAGE_WARNING, options->warnings[i],
                          NULL);
    add_steps(recording);
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
            yarn_messages_add_aside(recording->messages, YARN_DUMP_MESSAGE_WARNING, all[i].what,
                                    all[i].why, true);
}

static void note_core_back(struct yarn_recording *recording)
{
    if (!recording->session.report.has_core_back || recording->has_reported_core_back)
        return;
    recording->has_reported_core_back = true;
    yarn_messages_add(recording->messages, YARN_DUMP_MESSAGE_WARNING,
                      "a core came online: its scheduler events are missing up to then",
                      "the kernel ends events of a whole core that goes offline; they were opened "
                      "again, up to 100 ms later");
}

void yarn_recording_report_failures(struct yarn_recording *recording)
{
    const struct yarn_session_report *report = &recording->session.report;
    if (report->failure)
        yarn_failure_note(&recording->failure, report->failure, report->failure_error);
    note_holds(recording, report->holds & ~recording->reported_holds);
    note_core_back(recording);
    if (!report->nr_refused_threads || recording->has_reported_refused_threads)
        return;
    recording->has_reported_refused_threads = true;
    const char *why = yarn_probe_thread_reason(report->thread_refusal);
    yarn_messages_add(recording->messages, YARN_DUMP_MESSAGE_WARNING, "threads were not sampled",
                      why);
}

void yarn_recording_report_deeper(struct yarn_recording *recording, uint32_t before)
{
    uint32_t stack_bytes = recording->session.report.got.stack_bytes;
    if (stack_bytes <= yarn_size_max(before, recording->session.request->stack_bytes))
        return;
    char bytes[64];
    struct yarn_text text = yarn_text_of(bytes, sizeof bytes);
    yarn_text_add_format(&text, "stacks are copied up to %lu bytes deep from now on",
                         (uint64_t)stack_bytes);
    yarn_messages_add(recording->messages, YARN_DUMP_MESSAGE_INFO, bytes,
                      "many did not fit into the copies asked for");
}

/* Each record of a burst has a whole copy of the stack. */
static void add_lost_bursts(struct yarn_recording *recording)
{
    const struct yarn_session *session = &recording->session;
    for (uint32_t i = 0; i < session->request->nr_events; i++) {
        const struct yarn_event_status *event = &session->statuses[i];
        char bytes[YARN_EVENT_NAME_MAX + 64];
        if (event->error || !yarn_plan_may_burst(&event->spec) ||
            !yarn_session_request_copy_bytes(session->request, &event->spec) ||
            !yarn_session_can_count(session) || !yarn_session_count(session, i).lost)
            continue;
        struct yarn_text text = yarn_text_of(bytes, sizeof bytes);
        yarn_text_add(&text, "samples of ");
        yarn_text_add(&text, event->spec.name);
        yarn_text_add(&text, " were lost: they came in bursts");
        yarn_messages_add(recording->messages, YARN_DUMP_MESSAGE_WARNING, bytes,
                          "each has a copy of the stack: call-graph=fp or no makes them small");
    }
}

/* Of threads without a ring, or with a smaller one, and of rings that were too small. */
void yarn_recording_report_final(struct yarn_recording *recording)
{
    char number[32] = "";
    struct yarn_text text = yarn_text_of(number, sizeof number - 1);
    const struct yarn_session_report *report = &recording->session.report;
    if (report->has_smaller_rings)
        yarn_messages_add(recording->messages, YARN_DUMP_MESSAGE_INFO,
                          "stack copies of some threads were smaller than asked for",
                          "the limit of locked memory leaves no room");
    add_lost_bursts(recording);
    if (report->lacks_growth)
        yarn_messages_add(recording->messages, YARN_DUMP_MESSAGE_INFO,
                          "rings stayed as small as they were at first",
                          "the limit of locked memory leaves no room for larger ones beside them");
    if (!report->nr_refused_threads)
        return;
    yarn_text_add_u64(&text, report->nr_refused_threads);
    yarn_messages_add(recording->messages, YARN_DUMP_MESSAGE_WARNING,
                      "threads that were not sampled, at most at once", number);
}
