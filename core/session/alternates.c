/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/alternates.h"

#include "core/session/core_rings.h"
#include "core/session/probe.h"
#include "core/sys/clock.h"
#include "core/sys/perf.h"

/* Of the period of the other: neither is near a multiple or a part of the other. */
enum { LONGER_PERMILLE = 1060, AS_ASKED = 1000 };
enum { TURN_COST_SHARE = 200, GOLDEN = 633, CIRCLE = 1024 };
enum { LIGHT_BYTES = 8 * 1024 };
#define TURN_NS (50 * YARN_NS_PER_MS)
#define TURN_ALONE_NS (100 * YARN_NS_PER_MS)
#define PAUSE_MOST_NS (YARN_NS_PER_MS / 8)

/* Multiples of the golden ratio fall evenly on a circle: neighbours in time are far apart, and no
 * part comes again. In 1024ths. */
enum { WHOLE = 1024, LEAST = 922, RANGE = 205, ENOUGH_SAMPLES = 64 };

static uint64_t period_of(const struct yarn_session *session, uint32_t number)
{
    return yarn_record_fixed_period(&session->merge.decoder.attrs[number]);
}

void yarn_period_jitter_change(struct yarn_period_jitter *jitter, struct yarn_session *session,
                               enum yarn_side side, const struct yarn_event *events,
                               size_t nr_events, bool is_over)
{
    bool has_part = jitter->part && jitter->part != WHOLE;
    if (is_over ? !has_part : jitter->nr_samples < ENOUGH_SAMPLES)
        return;
    jitter->former = jitter->part ? jitter->part : WHOLE;
    jitter->part = WHOLE;
    if (!is_over)
        jitter->part = LEAST + RANGE * (++jitter->step * GOLDEN % CIRCLE) / CIRCLE;
    jitter->at_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    jitter->nr_samples = 0;
    for (size_t i = 0; i < nr_events; i++) {
        uint32_t number = events[i].number;
        if (yarn_switches_is_of(&events[i]) || yarn_alternates_side(session, number) != side ||
            !yarn_plan_may_vary(&session->statuses[number].spec))
            continue;
        yarn_perf_set_period(events[i].fd, period_of(session, number) * jitter->part / WHOLE);
        session->dropped_ns += period_of(session, number);
    }
}

uint64_t yarn_period_jitter_weigh(struct yarn_period_jitter *jitter,
                                  const struct yarn_session *session,
                                  const struct yarn_typed_record *record)
{
    uint64_t period = period_of(session, record->event);
    jitter->nr_samples++;
    /* A thread that inherited it meanwhile says its own. */
    if (!jitter->part || record->perf.period != period ||
        !yarn_plan_may_vary(&session->statuses[record->event].spec))
        return record->perf.period;
    return period * (record->perf.time >= jitter->at_ns ? jitter->part : jitter->former) / WHOLE;
}

/* ---- which ---- */

static bool is_wanted(const struct yarn_session *session, const struct yarn_event_status *event,
                      const struct yarn_plan *plan)
{
    bool is_deeper = plan->stack_bytes > session->report.got.stack_bytes &&
                     !event->spec.has_callgraph && !event->copies_instead;
    return !event->error && yarn_plan_wants_alternate(session->request, &event->spec) &&
           (is_deeper || yarn_plan_may_vary(&event->spec));
}

/* Of the same period. */
static struct yarn_event_status *add(struct yarn_session *session, uint32_t number,
                                     const struct yarn_plan *plan)
{
    struct yarn_alternates *alternates = &session->alternates;
    uint32_t place = alternates->first + alternates->count++;
    struct yarn_event_status *event = &session->statuses[number];
    struct yarn_event_status *other = &session->statuses[place];
    event->alternate = place;
    *other = *event;
    other->alternate = 0;
    other->alternate_of = number + 1;
    yarn_plan_rate_event(plan, &other->spec);
    return other;
}

static void add_other(struct yarn_session *session, uint32_t number, const struct yarn_plan *plan)
{
    struct yarn_event_status *other = add(session, number, plan);
    if (!yarn_plan_may_vary(&other->spec))
        return;
    other->spec.period = other->spec.period * LONGER_PERMILLE / AS_ASKED;
    session->turns.may_vary = true;
}

void yarn_alternates_choose(struct yarn_session *session)
{
    struct yarn_plan plan = yarn_plan_of_alternate(
        session->request, session->nr_cpus, &session->report.got, session->growth.ring_bytes);
    size_t nr_wanted = 0;
    for (size_t i = 0; i < session->request->nr_events; i++)
        nr_wanted += is_wanted(session, &session->statuses[i], &plan);
    bool can = yarn_plan_can_alternate(session->request, session->nr_cpus, nr_wanted) &&
               !session->may_drop_events && session->request->strategy != YARN_STRATEGY_CORES;
    for (uint32_t i = 0; i < session->request->nr_events; i++) {
        struct yarn_event_status *event = &session->statuses[i];
        if (!is_wanted(session, event, &plan))
            continue;
        if (can)
            add_other(session, i, &plan);
        else if (!event->reason)
            event->reason = "without an alternate clock, which would cost too much here: stack "
                            "copies do not deepen, and what is in phase with it goes unnoticed";
    }
    session->alternates.stack_bytes = plan.stack_bytes;
}

/* A tree's, of few cores: each process that is made costs what its events on all cores cost. */
void yarn_alternates_choose_light(struct yarn_session *session)
{
    uint32_t first = yarn_probe_first_on(session, -1);
    struct yarn_plan plan = session->report.got;
    const struct yarn_event_spec *spec = &session->statuses[first].spec;
    if (session->nr_cpus > YARN_TREE_CPUS_FEW || !spec->is_clock || spec->group ||
        session->may_drop_events)
        return;
    if (session->request->may_deepen)
        plan.stack_bytes = plan.stack_bytes < LIGHT_BYTES ? plan.stack_bytes : LIGHT_BYTES;
    session->alternates.stack_bytes = plan.stack_bytes;
    (void)add(session, first, &plan);
}

static uint64_t now(void)
{
    return yarn_clock_ns(YARN_TIME_MONOTONIC);
}

static enum yarn_side other(enum yarn_side side)
{
    return side == YARN_SIDE_FIRST ? YARN_SIDE_ALTERNATES : YARN_SIDE_FIRST;
}

bool yarn_alternates_rests(const struct yarn_session *session, uint32_t number)
{
    return yarn_alternates_side(session, number) == other(session->turns.side);
}

/* Whether the process has one thread: a new period reaches an event's first object, not those
 * that other threads inherited. */
static bool is_alone(const struct yarn_session *session)
{
    return session->report.nr_threads == 1 && !session->nr_births;
}

/* ---- turns ---- */

static void turn(const struct yarn_session *session, enum yarn_side side, bool is_on)
{
    for (size_t i = 0; i < session->nr_events; i++) {
        const struct yarn_event *event = &session->events[i];
        if (yarn_alternates_side(session, event->number) == side)
            yarn_perf_turn(event->fd, is_on);
    }
}

/* Why the one before the other: between the two all run, and no mapping or birth is missed. */
static void swap(struct yarn_session *session)
{
    struct yarn_turns *turns = &session->turns;
    struct yarn_turn *latest = &turns->latest[turns->count++ % YARN_TURNS_KEPT];
    turns->side = latest->side = other(turns->side);
    latest->from_ns = now();
    turn(session, turns->side, true);
    latest->at_ns = now();
    turn(session, other(turns->side), false);
    latest->to_ns = now();
}

/* A thread that was born at the moment of the turn may have missed it, and have exchanged its
 * events with its maker since. */
static void confirm(const struct yarn_session *session)
{
    turn(session, session->turns.side, true);
    turn(session, other(session->turns.side), false);
}

static void take(struct yarn_session *session)
{
    swap(session);
    session->turns.is_unconfirmed = !is_alone(session);
    if (session->turns.is_unconfirmed)
        confirm(session);
}

/* The rest of its period goes on after a pause, at another phase of what the host does, as long as
 * no pause is like the one before. Why not asleep: a busy machine would make it long. */
static void change_phase(struct yarn_session *session)
{
    struct yarn_turns *turns = &session->turns;
    uint64_t from_ns = now();
    swap(session);
    uint64_t until_ns = now() + PAUSE_MOST_NS * (turns->count * GOLDEN % CIRCLE) / CIRCLE;
    while (now() < until_ns)
        continue;
    take(session);
    session->dropped_ns += session->nr_cores * (now() - from_ns);
}

/* ---- when ---- */

static void deepen(struct yarn_session *session)
{
    struct yarn_turns *turns = &session->turns;
    session->report.got.stack_bytes = session->alternates.stack_bytes;
    session->nr_changes++;
    if (turns->side == YARN_SIDE_FIRST)
        take(session);
    turns->deep_ns = now();
}

static void begin_turn(struct yarn_session *session, bool alone)
{
    struct yarn_turns *turns = &session->turns;
    enum yarn_side next = turns->deep_ns ? turns->side : other(turns->side);
    if (alone)
        yarn_period_jitter_change(&turns->jitter[next], session, next, session->events,
                                  session->nr_events, false);
    if (turns->deep_ns && !alone)
        change_phase(session);
    if (turns->deep_ns)
        return;
    session->nr_changes += !turns->count;
    take(session);
}

void yarn_alternates_lighten(struct yarn_session *session)
{
    session->report.got.stack_bytes = session->alternates.stack_bytes;
    session->nr_changes++;
    take(session);
}

void yarn_alternates_confirm(struct yarn_session *session)
{
    if (session->turns.is_unconfirmed)
        confirm(session);
    session->turns.is_unconfirmed = false;
}

void yarn_alternates_after_drain(struct yarn_session *session)
{
    struct yarn_turns *turns = &session->turns;
    bool alone = is_alone(session);
    if (!turns->can_begin || !session->is_enabled)
        return;
    for (enum yarn_side side = 0; !alone && side < YARN_SIDE_NONE; side++)
        yarn_period_jitter_change(&turns->jitter[side], session, side, session->events,
                                  session->nr_events, true);
    if (session->growth.is_moving)
        return;
    yarn_alternates_confirm(session);
    if (turns->is_deep_wanted && !turns->deep_ns)
        deepen(session);
    uint64_t now_ns = now(), cpu_ns = yarn_clock_ns(YARN_TIME_THREAD_CPU);
    if (!turns->may_vary || now_ns < turns->next_ns || session->nr_samples == turns->nr_samples)
        return;
    begin_turn(session, alone);
    turns->nr_samples = session->nr_samples;
    cpu_ns = yarn_clock_ns(YARN_TIME_THREAD_CPU) - cpu_ns;
    turns->next_ns =
        now_ns + yarn_u64_max(alone ? TURN_ALONE_NS : TURN_NS, cpu_ns * TURN_COST_SHARE);
}

void yarn_alternates_deepen(struct yarn_session *session)
{
    session->turns.is_deep_wanted =
        session->alternates.stack_bytes > session->report.got.stack_bytes &&
        session->alternates.count;
}

/* ---- their records ---- */

bool yarn_alternates_exclude(const struct yarn_session *session,
                             const struct yarn_typed_record *record)
{
    const struct yarn_turns *turns = &session->turns;
    bool is_sample = record->type == YARN_RECORD_SAMPLE;
    if (!turns->count || record->type > YARN_RECORD_EXIT) /* not of an event that takes turns */
        return false;
    uint32_t number =
        is_sample ? record->event : yarn_table_find(&session->numbers, record->perf.id);
    if (number == YARN_RECORD_NO_EVENT)
        number = YARN_SWITCHES_NUMBER;
    enum yarn_side side = yarn_alternates_side(session, number);
    if (is_sample && turns->deep_ns && record->perf.time > turns->deep_ns)
        return side == YARN_SIDE_FIRST;
    for (unsigned i = 0; i < YARN_TURNS_KEPT; i++) {
        const struct yarn_turn *one = &turns->latest[i];
        if (record->perf.time >= one->from_ns && record->perf.time <= one->to_ns)
            return side == (record->perf.time < one->at_ns ? one->side : other(one->side));
    }
    return false;
}

uint64_t yarn_alternates_weigh(struct yarn_session *session, const struct yarn_typed_record *record)
{
    bool is_alternates = yarn_alternates_is_one(session, record->event);
    return yarn_period_jitter_weigh(&session->turns.jitter[is_alternates], session, record);
}

/* ---- where they write ---- */

static int redirect_side(const struct yarn_session *session, enum yarn_side side)
{
    int err = 0;
    for (size_t i = 0; !err && i < session->nr_events; i++) {
        const struct yarn_event *event = &session->events[i];
        if (yarn_alternates_side(session, event->number) == side)
            err = yarn_event_redirect(event, yarn_core_rings_leader(session, event->cpu));
    }
    return err;
}

int yarn_alternates_begin(struct yarn_session *session)
{
    int err = redirect_side(session, YARN_SIDE_ALTERNATES);
    if (err || !session->alternates.count)
        return err;
    session->turns.can_begin = true;
    take(session);
    for (size_t i = 0; i < session->nr_events; i++)
        if (yarn_alternates_side(session, session->events[i].number) == YARN_SIDE_FIRST)
            yarn_perf_detach(session->events[i].fd);
    return 0;
}

int yarn_alternates_attach_resting(struct yarn_session *session)
{
    return redirect_side(session, YARN_SIDE_FIRST);
}
