/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/usable.h"

#include <linux/perf_event.h>

#include "core/session/attach.h"
#include "core/session/filters.h"
#include "core/session/groups.h"

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
