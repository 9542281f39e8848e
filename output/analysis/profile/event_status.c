/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/profile/event_status.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "core/event/status.h"

/* The two kinds of core of a machine take turns with the two events of one name: together they run
 * as long as one of them is enabled. */
double yarn_profile_running_percent(const struct yarn_profile *profile, uint32_t event)
{
    uint64_t running_ns = 0, enabled_ns = 0;
    for (size_t i = 0; i < profile->nr_dumps; i++) {
        const struct yarn_profile_dump *dump = &profile->dumps[i];
        uint64_t longest_ns = 0;
        for (size_t e = 0; e < dump->nr_events; e++) {
            const struct yarn_profile_dump_event *one = &dump->events[e];
            if (one->event != event || one->record.type == PERF_TYPE_SOFTWARE)
                continue;
            running_ns += one->count.time_running_ns;
            longest_ns = yarn_u64_max(longest_ns, one->count.time_enabled_ns);
        }
        enabled_ns += longest_ns;
    }
    return running_ns < enabled_ns ? 100 * (double)running_ns / (double)enabled_ns : 100;
}

static bool was_shared(const struct yarn_dump_count *count)
{
    return (double)count->time_running_ns <
           YARN_EVENT_RUNNING_WHOLE / 100 * (double)count->time_enabled_ns;
}

static const char *sentence_of(const struct yarn_dump_event *record)
{
    return record->reason.size ? (const char *)record->reason.data : strerror((int)record->error);
}

/* Each of whose occurrences is something; the time of a clock that is missing is known. */
static bool counts_things(const struct yarn_dump_event *record)
{
    return !(record->flags & (YARN_DUMP_EVENT_IS_CLOCK | YARN_DUMP_EVENT_IS_OFF_CPU));
}

struct yarn_profile_status yarn_dump_event_status(const struct yarn_profile_dump *dump,
                                                  size_t number)
{
    const struct yarn_profile_dump_event *event = &dump->events[number];
    const struct yarn_dump_event *record = &event->record;
    struct yarn_profile_status status = {
        .reason = "", .asked = (const char *)record->asked.data, .nr_dumps = 1};
    if (record->error) {
        status.bits = record->error == EEXIST ? YARN_EVENT_MERGED : YARN_EVENT_REFUSED;
        status.reason = sentence_of(record);
    } else {
        if (record->flags & YARN_DUMP_EVENT_KERNEL_REFUSED)
            status.bits |= YARN_EVENT_USER_ONLY;
        if (event->has_count && record->type != PERF_TYPE_SOFTWARE && was_shared(&event->count))
            status.bits |= YARN_EVENT_MULTIPLEXED;
        /* Of a tree from outside they had no sample, but were recorded. */
        if (counts_things(record) && !dump->has_tree)
            status.nr_children = dump->trust.children;
        if (status.nr_children)
            status.bits |= YARN_EVENT_CHILDREN_MISSING;
    }
    status.nr_of_them = status.bits != 0;
    return status;
}

/* An event that one kind of core refuses is there as long as another takes it. */
static bool is_of(const struct yarn_profile_dump *dump, size_t number, uint32_t event)
{
    const struct yarn_profile_dump_event *one = &dump->events[number];
    bool is_other = false;
    if (one->event != event || !one->record.name.size)
        return false;
    for (size_t e = 0; e < dump->nr_events; e++)
        is_other |= e != number && dump->events[e].event == event && !dump->events[e].record.error;
    return !one->record.error || !is_other;
}

static void add(struct yarn_profile_status *sum, const struct yarn_profile_status *one)
{
    sum->bits |= one->bits;
    sum->nr_dumps++;
    sum->nr_of_them += one->nr_of_them;
    sum->nr_children += one->nr_children;
    if (!sum->asked)
        sum->asked = one->asked;
    if (!sum->reason[0])
        sum->reason = one->reason;
}

struct yarn_profile_status yarn_profile_event_status(const struct yarn_profile *profile,
                                                     uint32_t event)
{
    struct yarn_profile_status sum = {.reason = ""};
    for (size_t i = 0; i < profile->nr_dumps; i++) {
        const struct yarn_profile_dump *dump = &profile->dumps[i];
        size_t e = 0;
        while (e < dump->nr_events && !is_of(dump, e, event))
            e++;
        if (e == dump->nr_events)
            continue;
        struct yarn_profile_status one = yarn_dump_event_status(dump, e);
        add(&sum, &one);
    }
    sum.bits &= ~(uint32_t)YARN_EVENT_MULTIPLEXED; /* of one kind of core it says nothing */
    if (yarn_profile_running_percent(profile, event) < YARN_EVENT_RUNNING_WHOLE)
        sum.bits |= YARN_EVENT_MULTIPLEXED;
    return sum;
}

bool yarn_profile_event_was_asked(const struct yarn_profile *profile, uint32_t event)
{
    for (size_t i = 0; i < profile->nr_dumps; i++) {
        const struct yarn_profile_dump *dump = &profile->dumps[i];
        for (size_t e = 0; e < dump->nr_events; e++) {
            const struct yarn_dump_event *record = &dump->events[e].record;
            bool is_clock_of_counted = record->flags & YARN_DUMP_EVENT_IS_COUNTED && record->period;
            if (dump->events[e].event == event && record->name.size && !is_clock_of_counted &&
                !(record->flags & YARN_DUMP_EVENT_IS_SCHEDULING))
                return true;
        }
    }
    return false;
}

static void add_children(const struct yarn_profile_status *status, struct yarn_text *text)
{
    bool is_one = status->nr_children == 1;
    yarn_text_add(text, ": nothing is in it of ");
    yarn_text_add_u64(text, status->nr_children);
    yarn_text_add(text, is_one ? " child that ended before it was recorded"
                               : " children that ended before they were recorded");
}

void yarn_profile_status_describe(const struct yarn_profile *profile, uint32_t event,
                                  const struct yarn_profile_status *status, struct yarn_text *text)
{
    char bytes[128], running[32];
    struct yarn_text words = yarn_text_of(bytes, sizeof bytes);
    yarn_event_status_describe(status->bits, &words);
    yarn_text_add(text, yarn_profile_text(profile, profile->events[event].name));
    yarn_text_add(text, ": ");
    yarn_text_add(text, bytes);
    if (status->reason[0]) {
        yarn_text_add(text, ": ");
        yarn_text_add(text, status->reason);
    }
    if (status->bits & YARN_EVENT_MULTIPLEXED) {
        (void)snprintf(running, sizeof running, ", %.1f %%",
                       yarn_profile_running_percent(profile, event));
        yarn_text_add(text, running);
        yarn_text_add(text, " of the time");
    }
    if (status->bits & YARN_EVENT_CHILDREN_MISSING)
        add_children(status, text);
    if (status->nr_of_them && status->nr_of_them < status->nr_dumps) {
        yarn_text_add(text, " (in ");
        yarn_text_add_u64(text, status->nr_of_them);
        yarn_text_add(text, " of ");
        yarn_text_add_u64(text, status->nr_dumps);
        yarn_text_add(text, " processes)");
    }
}
