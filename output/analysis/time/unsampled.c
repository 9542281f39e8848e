/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/time/unsampled.h"

enum { SILENT_PERIODS = 20 };

/* The event that CPU time is sampled by; NULL: none. */
static const struct yarn_profile_dump_event *clock_of(const struct yarn_profile_dump *dump)
{
    for (size_t i = 0; i < dump->nr_events; i++) {
        const struct yarn_dump_event *record = &dump->events[i].record;
        if (!record->error && record->flags & YARN_DUMP_EVENT_IS_CLOCK)
            return &dump->events[i];
    }
    return NULL;
}

/* Lost samples of other events stand for no time. */
static uint64_t lost_of_clock(const struct yarn_profile_dump *dump,
                              const struct yarn_profile_dump_event *clock)
{
    uint64_t others = 0;
    for (const struct yarn_profile_dump_event *event = dump->events;
         event < dump->events + dump->nr_events; event++)
        if (event != clock && !(event->record.flags & YARN_DUMP_EVENT_IS_SCHEDULING))
            others += event->count.lost;
    return yarn_u64_max(yarn_u64_minus(dump->trust.lost, others), clock->count.lost);
}

static void add_threads(const struct yarn_profile *profile, uint32_t dump, uint64_t period_ns,
                        struct yarn_unsampled *claims)
{
    for (size_t i = 0; i < profile->nr_threads; i++) {
        const struct yarn_profile_thread *thread = &profile->threads[i];
        if (thread->dump != dump || thread->samples)
            continue;
        if (thread->has_ended && thread->cpu_ns < period_ns)
            claims->ns[YARN_UNSAMPLED_SHORT] += thread->cpu_ns;
        else if (thread->cpu_ns >= SILENT_PERIODS * period_ns)
            claims->ns[YARN_UNSAMPLED_SILENT] += thread->cpu_ns;
    }
}

struct yarn_unsampled yarn_unsampled_of(const struct yarn_profile *profile, uint32_t number)
{
    const struct yarn_profile_dump *dump = &profile->dumps[number];
    const struct yarn_trust *trust = &dump->trust;
    const struct yarn_profile_dump_event *clock = clock_of(dump);
    uint64_t period_ns = clock ? clock->record.period : 0, left = trust->unsampled_ns;
    struct yarn_unsampled claims = {
        .ns = {
            [YARN_UNSAMPLED_LOST] = clock ? lost_of_clock(dump, clock) * period_ns : 0,
            [YARN_UNSAMPLED_CHILDREN] = trust->children_ns,
            [YARN_UNSAMPLED_BEFORE] = trust->before_ns,
            [YARN_UNSAMPLED_SWITCHING] = trust->switching_ns,
            [YARN_UNSAMPLED_BLOCKED] = trust->blocked_ns,
            [YARN_UNSAMPLED_REST] = trust->rest_ns,
            [YARN_UNSAMPLED_UNKNOWN] = UINT64_MAX,
        }};
    if (period_ns)
        add_threads(profile, number, period_ns, &claims);
    for (size_t i = 0; i < YARN_UNSAMPLED_COUNT; i++) {
        claims.ns[i] = yarn_u64_min(claims.ns[i], left);
        left -= claims.ns[i];
    }
    return claims;
}

struct yarn_unsampled yarn_unsampled_of_all(const struct yarn_profile *profile)
{
    struct yarn_unsampled sum = {{0}};
    for (uint32_t i = 0; i < profile->nr_dumps; i++) {
        struct yarn_unsampled more = yarn_unsampled_of(profile, i);
        for (size_t j = 0; j < YARN_UNSAMPLED_COUNT; j++)
            sum.ns[j] += more.ns[j];
    }
    return sum;
}

const char *yarn_unsampled_word(enum yarn_unsampled_reason reason)
{
    static const char *const words[YARN_UNSAMPLED_COUNT] = {
        [YARN_UNSAMPLED_LOST] = "in lost samples",
        [YARN_UNSAMPLED_CHILDREN] = "in children that ended unrecorded",
        [YARN_UNSAMPLED_BEFORE] = "before the recording began",
        [YARN_UNSAMPLED_SWITCHING] = "in context switches, where no event runs",
        [YARN_UNSAMPLED_BLOCKED] = "while the sampler's signal was blocked or held back",
        [YARN_UNSAMPLED_SHORT] = "in threads shorter than a period",
        [YARN_UNSAMPLED_SILENT] = "in threads that could not be sampled",
        [YARN_UNSAMPLED_REST] = "in less than a period a thread and core",
        [YARN_UNSAMPLED_UNKNOWN] = "for unknown reasons",
    };
    return words[reason];
}

const char *yarn_unsampled_key(enum yarn_unsampled_reason reason)
{
    static const char *const keys[YARN_UNSAMPLED_COUNT] = {
        [YARN_UNSAMPLED_LOST] = "lost_ns",
        [YARN_UNSAMPLED_CHILDREN] = "children_ns",
        [YARN_UNSAMPLED_BEFORE] = "before_ns",
        [YARN_UNSAMPLED_SWITCHING] = "switching_ns",
        [YARN_UNSAMPLED_BLOCKED] = "blocked_ns",
        [YARN_UNSAMPLED_SHORT] = "short_threads_ns",
        [YARN_UNSAMPLED_SILENT] = "silent_threads_ns",
        [YARN_UNSAMPLED_REST] = "rest_ns",
        [YARN_UNSAMPLED_UNKNOWN] = "unknown_ns",
    };
    return keys[reason];
}
