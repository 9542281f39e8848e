/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/plan.h"

#include "core/base/callgraph.h"

enum {
    SCHEDULING_RING = 2 * 1024 * 1024, /* 100 ms of 100,000 switches and wakings a second */
    HOLD_MS = 100,
    BEGIN_HOLD_MS = 10, /* of a core's at first: some 15 samples as they are by default */
    BEGIN_HOLD_ALONE_MS =
        30, /* of events that the change to larger rings holds up (attach_per_core.c) */
    THREAD_HOLD_MS = 20,  /* of a thread's own, whose pages cost at its start */
    LATE_MS = 10,         /* the reader may come so late after it is woken: else fewer samples */
    AS_ASKED = 1000,      /* of the rate, in thousandths */
    TIMER_RECORDS = 8,    /* of full size that a timer's ring holds; most are far smaller */
    EVENTFUL_RATE = 1000, /* assumed for an event whose rate is the host's doing */
    HITS_RATE = 64000,    /* of what is hit by code, where the samples have no copies of stacks */
    PAGE_BYTES = 4096,
    BEGIN_RING_MAX = 512 * 1024, /* with its page what perf grants a user for each core */
    LOST_BYTES = 128,
    SWITCH_BYTES = 64,
    RECORD_MAX = 64 * 1024, /* its size has 16 bits */
    DEEP_RECORD_LEAST = 48 * 1024,
    STACK_LADDER_TOP = 16 * 1024,
    STACK_LADDER_END = 4 * 1024,
    RINGS_MAX = 64 * 1024 * 1024,     /* of one process */
    THREAD_SHARES = 16 * 1024 * 1024, /* of it, where each thread has a ring, while they are few */
    THREAD_RINGS_MAX = 128 * 1024 * 1024, /* where it has very many threads, of the smallest size */
    /* Measured on Linux 6.18: what an event that every new thread inherits costs at its start and
     * end; what an event and a ring cost that are opened for the thread. */
    INHERITED_EVENT_NS = 1450,
    OWN_EVENT_NS = 5000,
    OWN_RING_NS = 20000,
    OWN_RING_PAGE_NS = 1000,
    WAKE_RECORDS = 16, /* a wake-up costs 5 to 15 us, which more records than that need not share */
};

static uint64_t event_rate(const struct yarn_session_request *request,
                           const struct yarn_event_spec *event)
{
    if (event->frequency)
        return event->frequency;
    if (event->is_clock && event->period)
        return YARN_NS_PER_SECOND / event->period;
    bool is_hit = event->kind == YARN_EVENT_TRACEPOINT || event->kind == YARN_EVENT_BREAKPOINT ||
                  event->kind == YARN_EVENT_PROBE;
    return is_hit && !yarn_session_request_copy_bytes(request, event) ? HITS_RATE : EVENTFUL_RATE;
}

uint64_t yarn_plan_rate(const struct yarn_session_request *request)
{
    uint64_t rate = 0;
    for (size_t i = 0; i < request->nr_events; i++)
        rate += event_rate(request, &request->events[i]);
    return yarn_u64_max(rate, 1);
}

static size_t record_bytes(uint32_t stack_bytes)
{
    return yarn_size_min(stack_bytes + YARN_PLAN_RECORD_OVERHEAD, RECORD_MAX);
}

size_t yarn_plan_record_bytes(const struct yarn_plan *plan)
{
    return record_bytes(plan->stack_bytes);
}

/* Of the records of all events, each as often as it comes. */
static size_t mean_record_bytes(const struct yarn_session_request *request,
                                const struct yarn_plan *plan)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < request->nr_events; i++) {
        bool is_copied = yarn_session_request_copy_bytes(request, &request->events[i]);
        bytes += event_rate(request, &request->events[i]) *
                 record_bytes(is_copied ? plan->stack_bytes : 0);
    }
    return yarn_size_max((size_t)(bytes / yarn_plan_rate(request)), YARN_PLAN_RECORD_OVERHEAD);
}

static size_t power_of_two(size_t size)
{
    size_t power = PAGE_BYTES;
    while (power < size)
        power *= 2;
    return power;
}

static size_t ring_minimum(const struct yarn_plan *plan)
{
    return power_of_two(YARN_PLAN_RING_RECORDS * yarn_plan_record_bytes(plan));
}

/* With room for the records of the others. */
static size_t ring_of_one(const struct yarn_plan *plan)
{
    return power_of_two(yarn_plan_record_bytes(plan) + LOST_BYTES);
}

/* Bytes of copy of the event that has the most. */
static uint32_t deepest_copy(const struct yarn_session_request *request)
{
    uint32_t deepest = 0;
    for (size_t i = 0; i < request->nr_events; i++) {
        uint32_t bytes = yarn_session_request_copy_bytes(request, &request->events[i]);
        deepest = bytes > deepest ? bytes : deepest;
    }
    return deepest;
}

static struct yarn_plan plan_that_holds(const struct yarn_session_request *request,
                                        uint64_t hold_ms)
{
    struct yarn_plan plan = {
        .ring_bytes = request->ring_bytes,
        .stack_bytes = deepest_copy(request),
    };
    if (!plan.ring_bytes) {
        uint64_t held =
            yarn_plan_rate(request) * mean_record_bytes(request, &plan) * hold_ms / UINT64_C(1000);
        held = yarn_u64_max(yarn_u64_min(held, YARN_PLAN_RING_MAX), YARN_PLAN_RING_MIN);
        plan.ring_bytes = power_of_two((size_t)held);
    }
    size_t least = request->ring_bytes ? ring_of_one(&plan) : ring_minimum(&plan);
    plan.ring_bytes = yarn_size_max(plan.ring_bytes, least);
    return plan;
}

struct yarn_plan yarn_plan_first(const struct yarn_session_request *request)
{
    return plan_that_holds(request, THREAD_HOLD_MS);
}

static uint64_t core_rings(const struct yarn_plan *plan, size_t nr_cores)
{
    return (uint64_t)plan->ring_bytes * nr_cores;
}

/* Of an event whose samples come at the rate that was asked for. */
static bool has_rate(const struct yarn_event_spec *event)
{
    return event->frequency || (event->is_clock && event->period);
}

bool yarn_plan_may_burst(const struct yarn_event_spec *event)
{
    return !has_rate(event) && !event->is_scheduling && !event->is_counted;
}

struct yarn_plan yarn_plan_of_core(const struct yarn_session_request *request, size_t nr_cores)
{
    struct yarn_plan plan = plan_that_holds(request, HOLD_MS);
    for (size_t i = 0; i < request->nr_events && !request->ring_bytes; i++)
        if (yarn_plan_may_burst(&request->events[i]))
            plan.ring_bytes = YARN_PLAN_RING_MAX;
    while (!request->ring_bytes && core_rings(&plan, nr_cores) > RINGS_MAX &&
           plan.ring_bytes > ring_minimum(&plan))
        plan.ring_bytes /= 2;
    return plan;
}

bool yarn_plan_may_vary(const struct yarn_event_spec *event)
{
    return event->is_clock && event->period && !event->has_own_period && !event->group;
}

bool yarn_plan_wants_alternate(const struct yarn_session_request *request,
                               const struct yarn_event_spec *event)
{
    bool is_deepened = request->may_deepen && !event->has_callgraph &&
                       yarn_session_request_copy_bytes(request, event);
    return has_rate(event) && !event->group && !event->is_counted && !event->is_of_machine &&
           (is_deepened || yarn_plan_may_vary(event));
}

/* What comes in 100 ms, with the switches that are recorded beside the samples. */
static size_t most_to_begin(const struct yarn_session_request *request,
                            const struct yarn_plan *plan)
{
    uint64_t rate = request->records_switches ? request->switch_rate_max_hz : 0;
    uint64_t held =
        yarn_plan_rate(request) * mean_record_bytes(request, plan) + rate * SWITCH_BYTES;
    return yarn_size_max(power_of_two((size_t)(held * HOLD_MS / UINT64_C(1000))),
                         ring_minimum(plan));
}

struct yarn_plan yarn_plan_to_begin(const struct yarn_session_request *request, size_t nr_cores)
{
    struct yarn_plan whole = yarn_plan_of_core(request, nr_cores);
    bool has_scheduling = false;
    uint64_t hold_ms = BEGIN_HOLD_MS;
    for (size_t i = 0; i < request->nr_events; i++) {
        const struct yarn_event_spec *event = &request->events[i];
        has_scheduling |= event->is_scheduling;
        if (event->is_scheduling)
            continue;
        if (!has_rate(event))
            return whole;
        if (!yarn_plan_wants_alternate(request, event))
            hold_ms = BEGIN_HOLD_ALONE_MS;
    }
    struct yarn_plan begin = plan_that_holds(request, hold_ms);
    if (!request->ring_bytes)
        begin.ring_bytes = yarn_size_min(begin.ring_bytes, most_to_begin(request, &begin));
    if (has_scheduling)
        begin.ring_bytes = yarn_size_max(begin.ring_bytes, SCHEDULING_RING);
    if (!request->ring_bytes && begin.ring_bytes == 2 * BEGIN_RING_MAX && hold_ms == BEGIN_HOLD_MS)
        begin.ring_bytes = yarn_size_max(BEGIN_RING_MAX, ring_minimum(&begin));
    return begin.ring_bytes < whole.ring_bytes ? begin : whole;
}

struct yarn_plan_estimate yarn_plan_strategy(const struct yarn_session_request *request,
                                             size_t nr_cores)
{
    struct yarn_plan first = yarn_plan_first(request), core = yarn_plan_of_core(request, nr_cores);
    uint64_t nr_events = request->nr_events + request->records_switches;
    struct yarn_plan_estimate estimate = {
        .core_birth_ns = INHERITED_EVENT_NS * nr_events * nr_cores,
        .thread_birth_ns = OWN_RING_NS + OWN_EVENT_NS * nr_events +
                           OWN_RING_PAGE_NS * (first.ring_bytes / PAGE_BYTES),
        .core_ring_bytes = (uint64_t)ring_minimum(&core) * nr_cores,
        .is_asked = request->strategy != YARN_STRATEGY_AUTO,
    };
    estimate.is_per_thread = estimate.is_asked
                                 ? request->strategy == YARN_STRATEGY_PER_THREAD
                                 : estimate.core_birth_ns > estimate.thread_birth_ns ||
                                       estimate.core_ring_bytes > RINGS_MAX / 2;
    for (size_t i = 0; i < request->nr_events && !estimate.is_asked; i++)
        estimate.is_per_thread &= !request->events[i].is_of_machine;
    return estimate;
}

bool yarn_plan_can_alternate(const struct yarn_session_request *request, size_t nr_cores,
                             size_t nr_alternates)
{
    struct yarn_plan_estimate estimate = yarn_plan_strategy(request, nr_cores);
    uint64_t more_ns = INHERITED_EVENT_NS * (uint64_t)nr_alternates * nr_cores;
    return estimate.core_birth_ns + more_ns <= estimate.thread_birth_ns;
}

bool yarn_plan_of_thread(const struct yarn_session_request *request, const struct yarn_plan *first,
                         size_t nr_threads, size_t ring_bytes, struct yarn_plan *ret_plan)
{
    struct yarn_plan plan = *first;
    size_t share = THREAD_SHARES / (nr_threads + 1);
    while (!request->ring_bytes && plan.ring_bytes > share && yarn_plan_smaller(&plan))
        continue;
    if (ring_bytes + plan.ring_bytes > THREAD_RINGS_MAX)
        return false;
    *ret_plan = plan;
    return true;
}

struct yarn_plan yarn_plan_for_timer(const struct yarn_session_request *request, uint64_t tick_ns)
{
    struct yarn_plan plan = {.rate_max_hz = YARN_NS_PER_SECOND / yarn_u64_max(tick_ns, 1)};
    if (request->stack != YARN_STACKS_NONE)
        plan.stack_bytes = request->may_deepen ? YARN_STACK_BYTES_MAX : request->stack_bytes;
    plan.ring_bytes = request->ring_bytes
                          ? yarn_size_max(request->ring_bytes, ring_of_one(&plan))
                          : power_of_two(TIMER_RECORDS * yarn_plan_record_bytes(&plan));
    return plan;
}

bool yarn_plan_smaller(struct yarn_plan *plan)
{
    if (plan->ring_bytes > ring_minimum(plan)) {
        plan->ring_bytes /= 2;
        return true;
    }
    if (plan->stack_bytes <= STACK_LADDER_END)
        return false;
    plan->stack_bytes = plan->stack_bytes > STACK_LADDER_TOP       ? STACK_LADDER_TOP
                        : plan->stack_bytes > STACK_LADDER_TOP / 2 ? STACK_LADDER_TOP / 2
                                                                   : STACK_LADDER_END;
    plan->ring_bytes = yarn_size_min(plan->ring_bytes, ring_minimum(plan));
    return true;
}

bool yarn_plan_deeper(const struct yarn_session_request *request, size_t nr_cores,
                      struct yarn_plan *plan)
{
    if (!request->may_deepen || request->ring_bytes || plan->stack_bytes < request->stack_bytes ||
        plan->stack_bytes >= YARN_STACK_BYTES_MAX)
        return false;
    for (size_t i = 0; i < request->nr_events; i++)
        if (!has_rate(&request->events[i]) || request->events[i].reads_group)
            return false;
    plan->stack_bytes = YARN_STACK_BYTES_MAX;
    if (2 * plan->ring_bytes <= YARN_PLAN_RING_MAX && 2 * core_rings(plan, nr_cores) <= RINGS_MAX)
        plan->ring_bytes *= 2;
    return true;
}

/* From when the reader is woken until the ring is full. */
static uint64_t spare_ns(const struct yarn_session_request *request, const struct yarn_plan *plan,
                         size_t watermark)
{
    size_t spare_bytes = plan->ring_bytes - watermark;
    return yarn_plan_fill_ns(request, plan) * (spare_bytes / PAGE_BYTES) /
           (plan->ring_bytes / PAGE_BYTES);
}

void yarn_plan_slow_down(const struct yarn_session_request *request, size_t nr_cores,
                         size_t watermark, struct yarn_plan *plan)
{
    const struct yarn_plan wanted = yarn_plan_of_core(request, nr_cores);
    uint64_t wanted_ns = spare_ns(request, &wanted, yarn_plan_watermark(&wanted));
    uint64_t least_ns = yarn_u64_min(LATE_MS * YARN_NS_PER_MS, wanted_ns);
    plan->rate_permille = 0;
    uint64_t late_ns = spare_ns(request, plan, watermark);
    if (!request->ring_bytes && late_ns < least_ns)
        plan->rate_permille = (uint32_t)yarn_u64_max(late_ns * AS_ASKED / least_ns, 1);
}

struct yarn_plan yarn_plan_of_alternate(const struct yarn_session_request *request, size_t nr_cores,
                                        const struct yarn_plan *got, size_t ring_bytes)
{
    struct yarn_plan plan = *got;
    size_t record = yarn_size_min(ring_bytes / YARN_PLAN_RING_RECORDS, RECORD_MAX);
    plan.ring_bytes = ring_bytes;
    size_t watermark = yarn_plan_watermark(&plan);
    if (request->may_deepen && !request->ring_bytes && got->stack_bytes >= request->stack_bytes &&
        record >= DEEP_RECORD_LEAST)
        plan.stack_bytes = record == RECORD_MAX
                               ? YARN_STACK_BYTES_MAX
                               : (uint32_t)(record - YARN_PLAN_RECORD_OVERHEAD) & ~7u;
    yarn_plan_slow_down(request, nr_cores, watermark, &plan);
    if (got->rate_permille && (!plan.rate_permille || plan.rate_permille > got->rate_permille))
        plan.rate_permille = got->rate_permille;
    return plan;
}

void yarn_plan_rate_event(const struct yarn_plan *plan, struct yarn_event_spec *event)
{
    if (!plan->rate_permille || event->has_own_rate || !has_rate(event))
        return;
    event->period = event->period * AS_ASKED / plan->rate_permille;
    if (event->frequency)
        event->frequency = yarn_u64_max(event->frequency * plan->rate_permille / AS_ASKED, 1);
}

/* It holds no more records than are worth a wake-up. */
static bool is_small(const struct yarn_plan *plan)
{
    return plan->ring_bytes < WAKE_RECORDS * yarn_plan_record_bytes(plan);
}

/* A quarter of the ring, some 25 ms, leaves the reader most time to come; half where that is only a
 * few records, but not of a ring that is small itself. */
size_t yarn_plan_watermark(const struct yarn_plan *plan)
{
    size_t wanted = WAKE_RECORDS * yarn_plan_record_bytes(plan);
    if (is_small(plan))
        return plan->ring_bytes / 4;
    return yarn_size_max(plan->ring_bytes / 4, yarn_size_min(wanted, plan->ring_bytes / 2));
}

uint64_t yarn_plan_fill_ns(const struct yarn_session_request *request, const struct yarn_plan *plan)
{
    uint64_t records = plan->ring_bytes / mean_record_bytes(request, plan);
    uint64_t rate = yarn_plan_rate(request);
    if (plan->rate_max_hz)
        rate = yarn_u64_min(rate, plan->rate_max_hz);
    if (plan->rate_permille)
        rate = yarn_u64_max(rate * plan->rate_permille / AS_ASKED, 1);
    return yarn_u64_max(records, 1) * YARN_NS_PER_SECOND / rate;
}

uint64_t yarn_plan_timed_ns(const struct yarn_session_request *request,
                            const struct yarn_plan *plan)
{
    uint64_t part_ns = yarn_plan_fill_ns(request, plan) / (is_small(plan) ? 4 : 2);
    return yarn_u64_max(yarn_u64_min(part_ns, request->interval_ns), YARN_NS_PER_MS / 4);
}
