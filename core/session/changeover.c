/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/changeover.h"

#include "core/session/attach.h"
#include "core/sys/clock.h"
#include "core/sys/process.h"

enum { MANY_SAMPLES = 12 };
#define AGAIN_NS (25 * YARN_NS_PER_MS)

/* Where cores have the rings, at a rate that they hold. */
static int change_to(struct yarn_session *session, struct yarn_plan *plan)
{
    if (!session->threads)
        yarn_plan_slow_down(session->spec, session->nr_cpus, plan);
    int err = session->report.attachment->change(session, plan);
    if (err)
        return err;
    session->nr_changes++;
    if (session->change.is_aside)
        session->soon_ns = 0;
    session->change.is_aside = false;
    return 0;
}

/* Of a core. */
static size_t whole_ring_bytes(const struct yarn_session *session)
{
    return yarn_plan_of_core(session->spec, session->nr_cpus).ring_bytes;
}

/* The rings that it began with have the user's budget of locked memory, all of which larger ones
 * need; those come beside them, for a moment. */
static bool is_in_the_way(const struct yarn_session *session)
{
    const struct yarn_plan *got = &session->report.got;
    struct yarn_plan begin = yarn_plan_to_begin(session->spec, session->nr_cpus);
    return !session->nr_changes && got->ring_bytes == begin.ring_bytes &&
           got->stack_bytes == begin.stack_bytes && !yarn_process_has_pinned();
}

/* Gives that budget back by way of smaller rings: -EBUSY, until the former ones are empty. */
static int step_aside(struct yarn_session *session)
{
    struct yarn_plan plan = session->report.got;
    int err = yarn_plan_aside(&plan) ? change_to(session, &plan) : -ENOMEM;
    if (err)
        return err;
    session->change.is_aside = true;
    session->soon_ns = YARN_NS_PER_MS;
    return -EBUSY;
}

/* In rings as large as there is memory for, but larger than those that there are. */
static int change_rings(struct yarn_session *session, struct yarn_plan *plan)
{
    const size_t ring_bytes = session->report.got.ring_bytes;
    for (;;) {
        int err = change_to(session, plan);
        if (err != -ENOMEM || session->threads)
            return err;
        if (plan->ring_bytes <= whole_ring_bytes(session) && is_in_the_way(session))
            return step_aside(session);
        if (plan->ring_bytes / 2 <= ring_bytes)
            return err;
        plan->ring_bytes /= 2;
    }
}

/* The best of what the rings hold that there are: deeper copies, or as few samples as they hold. */
static int change_within(struct yarn_session *session, struct yarn_plan *plan, bool deepens)
{
    const struct yarn_plan got = session->report.got;
    if (deepens && yarn_plan_deeper_within(plan, got.ring_bytes))
        return change_to(session, plan);
    *plan = got;
    yarn_plan_slow_down(session->spec, session->nr_cpus, plan);
    return plan->rate_permille == got.rate_permille ? 0 : change_to(session, plan);
}

int yarn_changeover_try(struct yarn_session *session)
{
    const struct yarn_changeover *change = &session->change;
    const struct yarn_plan got = session->report.got;
    struct yarn_plan plan =
        change->is_aside ? yarn_plan_of_core(session->spec, session->nr_cpus) : got;
    if (session->nr_former_cores)
        return -EBUSY;
    if (!session->threads)
        plan.ring_bytes = yarn_size_max(got.ring_bytes, whole_ring_bytes(session));
    bool deepens = change->wants_deeper && yarn_plan_deeper(session->spec, session->nr_cpus, &plan);
    if (!deepens && plan.ring_bytes <= got.ring_bytes)
        return 0;
    int err = change_rings(session, &plan);
    if (err != -ENOMEM || change->is_aside || session->threads)
        return err;
    return change_within(session, &plan, deepens);
}

static bool is_due(const struct yarn_session *session)
{
    const struct yarn_changeover *change = &session->change;
    bool can = (session->threads || (session->is_enabled && !session->wide.events)) &&
               yarn_plan_may_change(session->spec);
    bool is_wanted = change->wants_deeper || session->nr_samples >= MANY_SAMPLES;
    return can && (change->is_aside || (is_wanted && change->nr_tries < YARN_CHANGEOVER_TRIES)) &&
           yarn_clock_ns(YARN_TIME_MONOTONIC) >= change->after_ns;
}

/* Why more than once: threads appear meanwhile. Who stepped aside does not stay there. */
void yarn_changeover_in_time(struct yarn_session *session)
{
    struct yarn_changeover *change = &session->change;
    if (!is_due(session))
        return;
    int err = yarn_changeover_try(session);
    if (err == -EBUSY)
        return;
    change->after_ns = yarn_clock_ns(YARN_TIME_MONOTONIC) + (AGAIN_NS << 2 * change->nr_tries);
    if (err != -EAGAIN)
        change->nr_tries = YARN_CHANGEOVER_TRIES;
    else if (change->nr_tries < YARN_CHANGEOVER_TRIES)
        change->nr_tries++;
}

void yarn_changeover_want_deeper(struct yarn_session *session)
{
    struct yarn_changeover *change = &session->change;
    if (change->wants_deeper)
        return;
    change->wants_deeper = true;
    change->nr_tries = 0;
    change->after_ns = 0;
    yarn_changeover_in_time(session);
}
