/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/sched/walk.h"

#include "output/base/array.h"

/* Why a thread is on no core. */
enum off {
    OFF_BORN,      /* and has not run yet */
    OFF_PREEMPTED, /* runnable, as a newly born one */
    OFF_BLOCKED,   /* it left of its own will */
    OFF_UNKNOWN,   /* how it left is not known */
};

struct walk {
    const struct yarn_sched_log *sched;
    const struct yarn_sched_life *life;
    const struct yarn_sched_visitor *visitor;
    void *self;
    uint64_t from_ns, to_ns; /* the window */
    uint64_t at_ns;          /* reported up to here */
    enum off off;            /* what it does there */
    uint32_t cpu;            /* that it left; UINT32_MAX: none yet */
    size_t gap, waking, wakings_end;
};

static bool is_within(const struct walk *walk, uint64_t time_ns)
{
    return time_ns >= walk->from_ns && time_ns <= walk->to_ns;
}

static void report(struct walk *walk, enum yarn_sched_state state, uint64_t from_ns, uint64_t to_ns)
{
    from_ns = yarn_u64_max(from_ns, walk->from_ns);
    to_ns = yarn_u64_min(to_ns, walk->to_ns);
    if (from_ns < to_ns && walk->visitor->piece)
        walk->visitor->piece(walk->self, state, from_ns, to_ns);
}

static void report_wait(struct walk *walk, uint64_t from_ns, uint64_t to_ns,
                        const struct yarn_sched_waking *waking)
{
    if (is_within(walk, to_ns) && walk->visitor->wait)
        walk->visitor->wait(walk->self, from_ns, to_ns, waking);
}

/* The first waking in it; NULL: none is known. */
static const struct yarn_sched_waking *find_waking(struct walk *walk, uint64_t from_ns,
                                                   uint64_t to_ns)
{
    const struct yarn_sched_waking *wakings = walk->sched->wakings;
    while (walk->waking < walk->wakings_end && wakings[walk->waking].time_ns < from_ns)
        walk->waking++;
    if (walk->waking == walk->wakings_end || wakings[walk->waking].time_ns > to_ns)
        return NULL;
    return &wakings[walk->waking];
}

/* `is_whole`: from where it left to where it comes again, without a gap. */
static void report_off(struct walk *walk, enum off off, uint64_t from_ns, uint64_t to_ns,
                       bool is_whole)
{
    /* Why for one that was found: if it is woken it did not run, and would be seen to since. */
    bool is_found = off == OFF_UNKNOWN && walk->cpu == UINT32_MAX && is_whole;
    if (off == OFF_UNKNOWN && !is_found) {
        report(walk, YARN_SCHED_UNKNOWN, from_ns, to_ns);
        return;
    }
    if (off == OFF_BORN || off == OFF_PREEMPTED) {
        report(walk, YARN_SCHED_RUNNABLE, from_ns, to_ns);
        if (is_whole)
            report_wait(walk, from_ns, to_ns, NULL);
        return;
    }
    const struct yarn_sched_waking *waking = find_waking(walk, from_ns, to_ns);
    uint64_t woken_ns = waking ? waking->time_ns : to_ns;
    report(walk, is_found ? YARN_SCHED_UNKNOWN : YARN_SCHED_BLOCKED, from_ns, woken_ns);
    report(walk, YARN_SCHED_RUNNABLE, woken_ns, to_ns);
    if (waking && is_whole)
        report_wait(walk, woken_ns, to_ns, waking);
}

/* Up to where it comes onto a core, or to its end. What was cut out of it is unknown; behind that
 * it did not run either, but whether one that waited for a core still does is not known. */
static void pass_off(struct walk *walk, uint64_t to_ns, bool comes)
{
    const struct yarn_sched_log *sched = walk->sched;
    uint64_t at_ns = walk->at_ns;
    enum off off = walk->off;
    for (; walk->gap < sched->nr_gaps; walk->gap++) {
        const struct yarn_sched_gap *gap = &sched->gaps[walk->gap];
        if (gap->space != walk->life->space || gap->from_ns >= to_ns)
            break;
        if (gap->to_ns <= at_ns)
            continue;
        uint64_t cut_ns = yarn_u64_max(gap->from_ns, at_ns);
        report_off(walk, off, at_ns, cut_ns, false);
        at_ns = yarn_u64_min(gap->to_ns, to_ns);
        report(walk, YARN_SCHED_UNKNOWN, cut_ns, at_ns);
        off = off == OFF_BLOCKED ? OFF_BLOCKED : OFF_UNKNOWN;
        if (at_ns == to_ns)
            break; /* it may reach further */
    }
    if (comes || at_ns < to_ns)
        report_off(walk, off, at_ns, to_ns, comes && at_ns == walk->at_ns);
    walk->at_ns = to_ns;
}

static void come(struct walk *walk, const struct yarn_sched_span *span, uint64_t begin_ns)
{
    bool goes_on = walk->off == OFF_UNKNOWN && walk->at_ns == begin_ns;
    if (goes_on) /* the span was only divided, or what came between is lost */
        return;
    bool was_blocked = walk->off == OFF_BLOCKED && walk->cpu != UINT32_MAX;
    pass_off(walk, begin_ns, true);
    if (is_within(walk, begin_ns) && walk->visitor->came)
        walk->visitor->came(walk->self, span, walk->cpu, was_blocked, begin_ns);
}

static void pass_span(struct walk *walk, const struct yarn_sched_span *span)
{
    const struct yarn_sched_life *life = walk->life;
    uint64_t end_ns = span->length_ns > UINT64_MAX - span->begin_ns
                          ? UINT64_MAX
                          : span->begin_ns + span->length_ns;
    uint64_t begin_ns = yarn_u64_max(span->begin_ns, walk->at_ns);
    end_ns = yarn_u64_min(end_ns, life->end_ns);
    if (span->begin_ns < walk->at_ns || begin_ns > end_ns) {
        if (walk->visitor->refused)
            walk->visitor->refused(walk->self, span);
        if (begin_ns >= end_ns)
            return;
    }
    come(walk, span, begin_ns);
    report(walk, YARN_SCHED_RUNNING, begin_ns, end_ns);
    walk->at_ns = end_ns;
    walk->cpu = span->cpu;
    walk->off = span->is_open ? OFF_UNKNOWN : span->is_preempted ? OFF_PREEMPTED : OFF_BLOCKED;
    if (!span->is_open && is_within(walk, end_ns) && walk->visitor->left)
        walk->visitor->left(walk->self, span, end_ns);
}

/* What it does at its birth. One that was found did anything until it is first seen to run; if it
 * never is, it is blocked, unless it is known to have run. */
static enum off off_at_birth(const struct yarn_sched_life *life)
{
    if (!life->is_recorded || (!life->count && life->cpu_ns))
        return OFF_UNKNOWN;
    if (life->is_born)
        return OFF_BORN;
    return life->count ? OFF_UNKNOWN : OFF_BLOCKED;
}

/* The first of a space. */
static size_t first_gap(const struct yarn_sched_log *sched, uint32_t space)
{
    size_t low = 0, high = sched->nr_gaps;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sched->gaps[middle].space < space)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The first since its birth. */
static size_t first_waking(const struct yarn_sched_log *sched, const struct yarn_sched_life *life)
{
    uint32_t begin = YARN_SCHED_LOG_BEGIN(sched, life->group, wakings_end);
    size_t count = sched->groups[life->group].wakings_end - begin;
    if (!count || !life->birth_ns)
        return begin;
    return begin + YARN_ARRAY_UP_TO(sched->wakings + begin, count, life->birth_ns - 1);
}

void yarn_sched_walk(const struct yarn_sched_log *sched, const struct yarn_sched_life *life,
                     uint64_t from_ns, uint64_t to_ns, const struct yarn_sched_visitor *visitor,
                     void *self)
{
    struct walk walk = {
        .sched = sched,
        .life = life,
        .visitor = visitor,
        .self = self,
        .from_ns = from_ns,
        .to_ns = to_ns,
        .at_ns = life->birth_ns,
        .off = off_at_birth(life),
        .cpu = UINT32_MAX,
        .gap = first_gap(sched, life->space),
        .waking = first_waking(sched, life),
        .wakings_end = sched->groups[life->group].wakings_end,
    };
    for (uint32_t i = 0; i < life->count; i++)
        pass_span(&walk, &sched->spans[life->first + i]);
    if (walk.at_ns < life->end_ns)
        pass_off(&walk, life->end_ns, false);
}
