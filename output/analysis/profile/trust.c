/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/profile/trust.h"

/* A share below this is not worth a word. */
#define NEGLIGIBLE_PERCENT 1.0
#define NEGLIGIBLE_LOST_PERCENT 0.1

static void count_stacks(struct yarn_trust *trust)
{
    trust->samples = 0;
    for (size_t i = 0; i < YARN_DUMP_STACK_END_COUNT; i++)
        trust->samples += trust->stack_ends[i];
    trust->stacks_complete = trust->stack_ends[YARN_DUMP_STACK_COMPLETE];
    trust->stacks_truncated = trust->stack_ends[YARN_DUMP_STACK_TRUNCATED];
    trust->stacks_no_unwind_info = trust->stack_ends[YARN_DUMP_STACK_NO_UNWIND_INFO];
    trust->stacks_failed = trust->stack_ends[YARN_DUMP_STACK_FAILED];
    trust->stacks_none = trust->stack_ends[YARN_DUMP_STACK_NONE];
}

/* A cut dump ends after the last totals that it holds: only a whole one can be held to them. */
static bool is_in_doubt(const struct yarn_trust *trust, bool has_end)
{
    const uint64_t *stored = trust->stored.value;
    if (!trust->has_stored || !has_end)
        return false;
    return stored[YARN_DUMP_TOTAL_SAMPLES] != trust->samples ||
           stored[YARN_DUMP_TOTAL_STACKS_COMPLETE] != trust->stacks_complete ||
           stored[YARN_DUMP_TOTAL_STACKS_TRUNCATED] != trust->stacks_truncated ||
           stored[YARN_DUMP_TOTAL_STACKS_NO_UNWIND_INFO] != trust->stacks_no_unwind_info ||
           stored[YARN_DUMP_TOTAL_STACKS_FAILED] != trust->stacks_failed ||
           stored[YARN_DUMP_TOTAL_STACKS_NONE] != trust->stacks_none;
}

/* Parts of the CPU time are no more than it, whatever a dump says. */
static void hold_to_cpu_time(struct yarn_trust *trust)
{
    trust->unsampled_ns = yarn_u64_min(trust->unsampled_ns, trust->cpu_ns);
    trust->kernel_ns = yarn_u64_min(trust->kernel_ns, trust->cpu_ns - trust->unsampled_ns);
}

void yarn_trust_finish(struct yarn_trust *trust, bool has_end)
{
    uint64_t frames_unknown = trust->frames_unknown;
#define YARN_TOTAL(number, NAME, name, prose)                                                      \
    trust->name = trust->stored.value[YARN_DUMP_TOTAL_##NAME];
#include "output/dump/format.def"
    hold_to_cpu_time(trust);
    count_stacks(trust);
    if (!trust->has_stored) {
        trust->lost = trust->lost_records;
        trust->frames_unknown = frames_unknown;
    }
    trust->frames_unknown -= yarn_u64_min(trust->frames_unknown, trust->leaves_named_late);
    trust->frames_unknown += trust->leaves_without_name;
    trust->frames_unnamed = trust->nr_unnamed;
    trust->clean_end = has_end;
    if (has_end)
        trust->unwritten_ns = 0;
    trust->disagrees = is_in_doubt(trust, has_end);
}

/* What is read is at most 2^60; many of them are no more than 2^62. */
static uint64_t sum_of(uint64_t one, uint64_t other)
{
    return yarn_u64_min(one + other, UINT64_C(1) << 62);
}

void yarn_trust_add(struct yarn_trust *sum, const struct yarn_trust *more)
{
#define YARN_TOTAL(number, NAME, name, prose) sum->name = sum_of(sum->name, more->name);
#include "output/dump/format.def"
    for (size_t i = 0; i < YARN_DUMP_STACK_END_COUNT; i++)
        sum->stack_ends[i] += more->stack_ends[i];
    sum->stacks_unasked += more->stacks_unasked;
    sum->leaves_unknown += more->leaves_unknown;
    sum->leaves_unknown_only += more->leaves_unknown_only;
    sum->leaves_named_late += more->leaves_named_late;
    sum->leaves_without_name += more->leaves_without_name;
    sum->lost_records = sum_of(sum->lost_records, more->lost_records);
    sum->clean_end = sum->clean_end && more->clean_end;
    sum->disagrees = sum->disagrees || more->disagrees;
}

/* A sample that is cut in unknown code is one. */
double yarn_trust_doubt_percent(const struct yarn_trust *trust)
{
    uint64_t doubtful = trust->lost + trust->stacks_truncated + trust->stacks_no_unwind_info +
                        trust->stacks_failed + trust->leaves_unknown_only;
    uint64_t of = trust->samples + trust->lost;
    return of ? 100.0 * (double)doubtful / (double)of : 0;
}

static double share(uint64_t part, uint64_t whole, double negligible)
{
    double percent = whole ? 100.0 * (double)part / (double)whole : 0;
    return percent > negligible ? percent : 0;
}

struct yarn_trust_gaps yarn_trust_gaps(const struct yarn_trust *trust)
{
    uint64_t samples = trust->samples, stacks = samples - trust->stacks_unasked;
    return (struct yarn_trust_gaps){
        .lost = share(trust->lost, samples + trust->lost, NEGLIGIBLE_LOST_PERCENT),
        .unsampled = share(trust->unsampled_ns, trust->cpu_ns, NEGLIGIBLE_PERCENT),
        .kernel = share(trust->kernel_ns, trust->cpu_ns, NEGLIGIBLE_PERCENT),
        .truncated = share(trust->stacks_truncated, stacks, NEGLIGIBLE_PERCENT),
        .no_unwind_info = share(trust->stacks_no_unwind_info, stacks, NEGLIGIBLE_PERCENT),
        .failed = share(trust->stacks_failed, stacks, NEGLIGIBLE_PERCENT),
        .none = share(trust->stacks_none - trust->stacks_unasked, stacks, NEGLIGIBLE_PERCENT),
        .unknown = share(trust->leaves_unknown, samples, NEGLIGIBLE_PERCENT),
    };
}
