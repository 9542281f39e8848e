/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/time/kernel_time.h"

#include <stdlib.h>

enum { ROUNDED_NS = 1000 }; /* less is what is left over by rounding */

uint32_t yarn_kernel_time_event(const struct yarn_profile *profile)
{
    for (uint32_t i = 0; i < profile->nr_events; i++)
        if (profile->events[i].was_opened && (profile->events[i].flags & YARN_DUMP_EVENT_IS_CLOCK))
            return i;
    return YARN_DUMP_NONE;
}

/* By thread of the profile: CPU time without a sample, where its CPU time is known. */
static uint64_t *unsampled_of_threads(const struct yarn_profile *profile)
{
    uint32_t event = yarn_kernel_time_event(profile);
    uint64_t *unsampled = calloc(profile->nr_threads + 1, sizeof *unsampled);
    if (!unsampled)
        return NULL;
    for (size_t i = 0; i < profile->nr_threads; i++)
        unsampled[i] = profile->threads[i].cpu_ns;
    for (size_t i = 0; i < profile->cells.count; i++) {
        const struct yarn_cell *cell = &profile->cells.cells[i];
        if (cell->event == event)
            unsampled[cell->thread] -= yarn_u64_min(unsampled[cell->thread], cell->weight);
    }
    return unsampled;
}

static void add(struct yarn_kernel_time *list, size_t *count, uint32_t dump, uint32_t thread,
                uint64_t ns)
{
    if (ns)
        list[(*count)++] = (struct yarn_kernel_time){dump, thread, ns};
}

static uint64_t scaled(uint64_t part, uint64_t whole, uint64_t to)
{
    return whole > to ? (uint64_t)((double)part / (double)whole * (double)to) : part;
}

/* Of the threads of a dump, which stand together in the profile. */
static void add_threads(const struct yarn_profile *profile, uint32_t dump, size_t *first,
                        const uint64_t *unsampled, struct yarn_kernel_time *list, size_t *count)
{
    uint64_t left = profile->dumps[dump].trust.kernel_ns, all = left, sum = 0;
    size_t end = *first;
    for (; end < profile->nr_threads && profile->threads[end].dump == dump; end++)
        sum += unsampled[end];
    for (size_t i = *first; i < end; i++) {
        bool is_only = end - *first == 1;
        uint64_t ns = is_only ? all : scaled(unsampled[i], sum, all);
        ns = yarn_u64_min(ns, left);
        add(list, count, dump, (uint32_t)i, ns);
        left -= ns;
    }
    if (left > ROUNDED_NS)
        add(list, count, dump, YARN_DUMP_NONE, left);
    *first = end;
}

static int compare(const void *left, const void *right)
{
    const struct yarn_kernel_time *a = left, *b = right;
    if (a->ns != b->ns)
        return a->ns > b->ns ? -1 : 1;
    if (a->dump != b->dump)
        return a->dump < b->dump ? -1 : 1;
    return a->thread < b->thread ? -1 : a->thread > b->thread;
}

int yarn_kernel_time_of(const struct yarn_profile *profile, bool by_thread,
                        struct yarn_kernel_time **ret_list, size_t *ret_count)
{
    size_t count = 0, first = 0, most = profile->nr_dumps + profile->nr_threads + 1;
    struct yarn_kernel_time *list = calloc(most, sizeof *list);
    uint64_t *unsampled = by_thread ? unsampled_of_threads(profile) : NULL;
    if (!list || (by_thread && !unsampled)) {
        free(list);
        free(unsampled);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < profile->nr_dumps; i++) {
        if (by_thread)
            add_threads(profile, i, &first, unsampled, list, &count);
        else
            add(list, &count, i, YARN_DUMP_NONE, profile->dumps[i].trust.kernel_ns);
    }
    qsort(list, count, sizeof *list, compare);
    free(unsampled);
    *ret_list = list;
    *ret_count = count;
    return 0;
}

bool yarn_kernel_is_refused(const struct yarn_profile *profile)
{
    for (size_t i = 0; i < profile->nr_dumps; i++)
        for (size_t j = 0; j < profile->dumps[i].nr_events; j++)
            if (profile->dumps[i].events[j].record.flags & YARN_DUMP_EVENT_KERNEL_REFUSED)
                return true;
    return false;
}

const char *yarn_kernel_remedy(void)
{
    return "kernel.perf_event_paranoid=1 or CAP_PERFMON lets it be sampled, --sampler=timer "
           "charges "
           "it to the calls";
}

const char *yarn_kernel_word(const struct yarn_profile_dump *dump)
{
    const struct yarn_span got = dump->sampler.got;
    if (dump->has_sampler && yarn_span_equal(got, yarn_span_of_text("timer")))
        return "user, and the kernel as part of its calls";
    bool has_user = false, has_kernel = false, has_both = false;
    for (size_t i = 0; i < dump->nr_events; i++) {
        const struct yarn_dump_event *record = &dump->events[i].record;
        if (record->error)
            continue;
        if (record->flags & YARN_DUMP_EVENT_EXCLUDES_KERNEL)
            has_user = true;
        else if (record->flags & YARN_DUMP_EVENT_EXCLUDES_USER)
            has_kernel = true;
        else
            has_both = true;
    }
    if (has_user + has_kernel + has_both > 1)
        return "user and kernel, not of all events";
    return has_user ? "user only" : has_kernel ? "kernel only" : "user and kernel";
}
