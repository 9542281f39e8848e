/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/time/completeness.h"

#include <inttypes.h>
#include <stdio.h>

#include "output/analysis/time/children.h"
#include "output/analysis/time/kernel_time.h"
#include "output/analysis/time/unsampled.h"

/* Of the CPU time; the clocks and the kernel's account differ by less. */
#define OVERCOUNT_MOST 1.0

static double percent_of(uint64_t part, uint64_t whole)
{
    return whole ? 100 * (double)part / (double)whole : -1;
}

static void add(struct yarn_completeness *completeness, const char *key, const char *what,
                enum yarn_completeness_unit unit, uint64_t count, double percent)
{
    if (count && completeness->count < YARN_COMPLETENESS_MAX)
        completeness->rows[completeness->count++] =
            (struct yarn_completeness_row){key, what, unit, count, percent};
}

static void add_samples(struct yarn_completeness *completeness, const struct yarn_trust *trust)
{
    const struct {
        const char *key, *what;
        uint64_t count;
    } rows[] = {
        {"truncated", "stacks are cut", trust->stacks_truncated},
        {"no_unwind_info", "stacks end without unwind information", trust->stacks_no_unwind_info},
        {"failed", "stacks could not be unwound", trust->stacks_failed},
        {"no_stack", "samples have no stack, which was asked for",
         trust->stacks_none - yarn_u64_min(trust->stacks_none, trust->stacks_unasked)},
        {"unknown", "samples are in unknown code", trust->leaves_unknown},
    };
    uint64_t all = trust->samples + trust->lost;
    add(completeness, "lost", "samples were lost", YARN_COMPLETENESS_SAMPLES, trust->lost,
        percent_of(trust->lost, all));
    for (size_t i = 0; i < YARN_COUNT_OF(rows); i++)
        add(completeness, rows[i].key, rows[i].what, YARN_COMPLETENESS_SAMPLES, rows[i].count,
            percent_of(rows[i].count, trust->samples));
}

static void add_unsampled(struct yarn_completeness *completeness,
                          const struct yarn_profile *profile, const struct yarn_trust *trust)
{
    struct yarn_unsampled parts = yarn_unsampled_of_all(profile);
    add(completeness, "kernel_ns", "of CPU time in the kernel, which was not sampled",
        YARN_COMPLETENESS_NS, trust->kernel_ns, percent_of(trust->kernel_ns, trust->cpu_ns));
    add(completeness, "unsampled_ns", "of CPU time unsampled", YARN_COMPLETENESS_NS,
        trust->unsampled_ns, percent_of(trust->unsampled_ns, trust->cpu_ns));
    for (size_t i = 0; i < YARN_UNSAMPLED_COUNT; i++)
        add(completeness, yarn_unsampled_key((enum yarn_unsampled_reason)i),
            yarn_unsampled_word((enum yarn_unsampled_reason)i), YARN_COMPLETENESS_NS, parts.ns[i],
            percent_of(parts.ns[i], trust->cpu_ns));
    add(completeness, "stopped_cpu_ns", "of CPU time passed while recording was stopped",
        YARN_COMPLETENESS_NS, trust->off_cpu_ns,
        percent_of(trust->off_cpu_ns, trust->cpu_ns + trust->off_cpu_ns));
    uint64_t unread_ns = yarn_children_unread_ns(profile);
    add(completeness, "children_unread_ns", "of CPU time of children is in no dump read here",
        YARN_COMPLETENESS_NS, unread_ns, percent_of(unread_ns, trust->cpu_ns + unread_ns));
}

/* Sampled and unsampled time are together what the threads had. */
static void add_overcount(struct yarn_completeness *completeness,
                          const struct yarn_profile *profile, const struct yarn_trust *trust)
{
    uint32_t clock = yarn_kernel_time_event(profile);
    uint64_t sampled_ns = clock == YARN_DUMP_NONE ? 0 : profile->events[clock].total;
    uint64_t more_ns =
        yarn_u64_minus(sampled_ns + trust->unsampled_ns + trust->kernel_ns, trust->cpu_ns);
    double percent = percent_of(more_ns, trust->cpu_ns);
    if (percent > OVERCOUNT_MOST)
        add(completeness, "overcounted_ns", "more than the CPU time was sampled",
            YARN_COMPLETENESS_NS, more_ns, percent);
}

static void add_waits(struct yarn_completeness *completeness, const struct yarn_profile *profile,
                      const struct yarn_trust *trust)
{
    uint64_t looked_ns = 0, cut_ns = 0, life_ns = 0;
    for (size_t i = 0; i < profile->nr_events; i++)
        if (profile->events[i].flags & YARN_DUMP_EVENT_IS_OFF_CPU)
            looked_ns += profile->events[i].total;
    for (size_t i = 0; i < profile->nr_dumps; i++) {
        const struct yarn_profile_dump *dump = &profile->dumps[i];
        cut_ns += yarn_profile_dump_cut_ns(dump);
        life_ns += yarn_u64_minus(dump->last_ns, dump->process.start_ns);
    }
    uint64_t missed_ns = yarn_u64_minus(trust->waited_ns, looked_ns);
    add(completeness, "blocked_unseen_ns", "of blocked time was not looked at",
        YARN_COMPLETENESS_NS, missed_ns, percent_of(missed_ns, trust->waited_ns));
    add(completeness, "switches_cut_ns", "without switch records, which were too many",
        YARN_COMPLETENESS_NS, cut_ns, percent_of(cut_ns, life_ns));
    add(completeness, "switches_lost", "switch records were lost", YARN_COMPLETENESS_RECORDS,
        trust->switches_lost, -1);
}

/* "260.0 us", "62.1 ms", "1.16 s". */
static void describe_ns(uint64_t ns, char *ret_text, size_t size)
{
    if (ns < YARN_NS_PER_MS)
        (void)snprintf(ret_text, size, "%.1f us", (double)ns / 1e3);
    else if (ns < YARN_NS_PER_SECOND)
        (void)snprintf(ret_text, size, "%.1f ms", (double)ns / 1e6);
    else
        (void)snprintf(ret_text, size, "%.2f s", (double)ns / 1e9);
}

void yarn_completeness_describe(const struct yarn_completeness_row *row,
                                char ret_text[YARN_COMPLETENESS_TEXT])
{
    char percent[24] = "", amount[32];
    if (row->percent >= 0)
        (void)snprintf(percent, sizeof percent, " (%.2f %%)", row->percent);
    if (row->unit == YARN_COMPLETENESS_NS)
        describe_ns(row->count, amount, sizeof amount);
    else
        (void)snprintf(amount, sizeof amount, "%" PRIu64, row->count);
    (void)snprintf(ret_text, YARN_COMPLETENESS_TEXT, "%s %s%s", amount, row->what, percent);
}

struct yarn_completeness yarn_completeness_of(const struct yarn_profile *profile)
{
    struct yarn_completeness completeness = {.count = 0};
    struct yarn_trust trust = {.clean_end = true};
    for (size_t i = 0; i < profile->nr_dumps; i++)
        yarn_trust_add(&trust, &profile->dumps[i].trust);
    add_samples(&completeness, &trust);
    add_unsampled(&completeness, profile, &trust);
    add_overcount(&completeness, profile, &trust);
    add_waits(&completeness, profile, &trust);
    return completeness;
}
