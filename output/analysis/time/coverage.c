/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/time/coverage.h"

static uint64_t end_of(const struct yarn_profile_dump *dump)
{
    return dump->has_end ? dump->end.time_ns : dump->last_ns;
}

bool yarn_coverage_gap_at(const struct yarn_profile_dump *dump, size_t i,
                          struct yarn_coverage_gap *ret_gap)
{
    const struct yarn_dump_coverage *stop = &dump->coverage[i];
    if (stop->is_on)
        return false;
    bool has_end = i + 1 < dump->nr_coverage;
    const struct yarn_dump_coverage *start = has_end ? stop + 1 : NULL;
    *ret_gap = (struct yarn_coverage_gap){
        .from_ns = stop->time_ns,
        .to_ns = yarn_u64_max(start ? start->time_ns : end_of(dump), stop->time_ns),
        .cpu_ns = start ? start->off_cpu_ns : 0,
        .has_end = has_end,
        .stopped_by = stop->cause,
        .started_by = start ? start->cause : 0,
    };
    return true;
}

struct yarn_coverage_sum yarn_coverage_sum_of(const struct yarn_profile_dump *dump)
{
    struct yarn_coverage_sum sum = {.nr_spans = dump->nr_coverage ? 0 : 1};
    uint64_t begin_ns = dump->process.start_ns, end_ns = end_of(dump);
    uint64_t length_ns = yarn_u64_minus(end_ns, begin_ns);
    for (size_t i = 0; i < dump->nr_coverage; i++) {
        struct yarn_coverage_gap gap;
        if (yarn_coverage_gap_at(dump, i, &gap))
            sum.stopped_ns += gap.to_ns - gap.from_ns;
        else
            sum.nr_spans++;
    }
    /* Before the first record it was on, from the process's begin. */
    if (dump->nr_coverage && dump->coverage[0].time_ns > begin_ns)
        sum.nr_spans++;
    sum.stopped_cpu_ns = dump->trust.off_cpu_ns;
    sum.on_ns = yarn_u64_minus(length_ns, sum.stopped_ns);
    return sum;
}

struct yarn_coverage_sum yarn_coverage_sum_of_all(const struct yarn_profile *profile)
{
    struct yarn_coverage_sum sum = {0};
    for (size_t i = 0; i < profile->nr_dumps; i++) {
        struct yarn_coverage_sum more = yarn_coverage_sum_of(&profile->dumps[i]);
        sum.on_ns += more.on_ns;
        sum.stopped_ns += more.stopped_ns;
        sum.stopped_cpu_ns += more.stopped_cpu_ns;
        sum.nr_spans += more.nr_spans;
    }
    return sum;
}
