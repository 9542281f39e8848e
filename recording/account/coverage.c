/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/account/coverage.h"

/* Why the last two go where there is no room: so many stops and starts without a dump are ones
 * between which there was no sample. */
static void add(struct yarn_coverage *coverage, const struct yarn_dump_coverage *record)
{
    if (coverage->nr_waiting == YARN_COVERAGE_WAITING_MAX)
        coverage->nr_waiting -= 2;
    coverage->waiting[coverage->nr_waiting++] = *record;
}

static void begin_stop(struct yarn_coverage *coverage, uint64_t now_ns, uint64_t cpu_ns,
                       enum yarn_dump_coverage_cause cause)
{
    struct yarn_dump_coverage record = {.time_ns = now_ns, .cause = cause};
    coverage->is_off = true;
    coverage->off_since_ns = now_ns;
    coverage->off_since_cpu_ns = cpu_ns;
    coverage->off_since_ticks = yarn_target_ticks(coverage->target);
    coverage->from_ns = now_ns;
    coverage->until_ns = UINT64_MAX;
    add(coverage, &record);
}

static struct yarn_ticks between(struct yarn_ticks from, struct yarn_ticks to)
{
    return (struct yarn_ticks){
        .all_ns = yarn_u64_minus(to.all_ns, from.all_ns),
        .system_ns = yarn_u64_minus(to.system_ns, from.system_ns),
    };
}

static uint64_t cpu_ns_until_end(const struct yarn_coverage *coverage)
{
    return coverage->end_cpu_ns ? coverage->end_cpu_ns : yarn_target_cpu_ns(coverage->target);
}

void yarn_coverage_end(struct yarn_coverage *coverage)
{
    coverage->end_cpu_ns = cpu_ns_until_end(coverage);
}

void yarn_coverage_begin(struct yarn_coverage *coverage)
{
    coverage->off_ticks = yarn_target_ticks(coverage->target);
    coverage->before_cpu_ns = yarn_target_cpu_ns(coverage->target);
}

uint64_t yarn_coverage_cpu_ns(const struct yarn_coverage *coverage)
{
    uint64_t now_ns = cpu_ns_until_end(coverage);
    return yarn_u64_minus(now_ns, coverage->before_cpu_ns + yarn_coverage_stopped_cpu_ns(coverage));
}

struct yarn_ticks yarn_coverage_ticks(const struct yarn_coverage *coverage)
{
    struct yarn_ticks now =
        coverage->is_off ? coverage->off_since_ticks : yarn_target_ticks(coverage->target);
    return between(coverage->off_ticks, now);
}

void yarn_coverage_begin_off(struct yarn_coverage *coverage, uint64_t since_ns, uint64_t cpu_ns,
                             enum yarn_dump_coverage_cause cause)
{
    begin_stop(coverage, since_ns, cpu_ns, cause);
    coverage->off_ticks = coverage->off_since_ticks;
    coverage->before_cpu_ns = cpu_ns;
}

void yarn_coverage_stop(struct yarn_coverage *coverage, uint64_t now_ns,
                        enum yarn_dump_coverage_cause cause)
{
    begin_stop(coverage, now_ns, yarn_target_cpu_ns(coverage->target), cause);
}

void yarn_coverage_start(struct yarn_coverage *coverage, uint64_t now_ns,
                         enum yarn_dump_coverage_cause cause)
{
    uint64_t stopped_cpu_ns = yarn_coverage_stopped_cpu_ns(coverage);
    struct yarn_dump_coverage record = {
        .time_ns = now_ns,
        .is_on = true,
        .cause = cause,
        .off_cpu_ns = stopped_cpu_ns - coverage->stopped_cpu_ns,
    };
    coverage->stopped_ns = yarn_coverage_stopped_ns(coverage, now_ns);
    coverage->stopped_cpu_ns = stopped_cpu_ns;
    struct yarn_ticks off = between(coverage->off_since_ticks, yarn_target_ticks(coverage->target));
    coverage->off_ticks.all_ns += off.all_ns;
    coverage->off_ticks.system_ns += off.system_ns;
    coverage->until_ns = now_ns;
    coverage->is_off = false;
    add(coverage, &record);
}

uint64_t yarn_coverage_stopped_ns(const struct yarn_coverage *coverage, uint64_t now_ns)
{
    uint64_t since_ns = coverage->is_off ? coverage->off_since_ns : now_ns;
    return coverage->stopped_ns + yarn_u64_minus(now_ns, since_ns);
}

uint64_t yarn_coverage_stopped_cpu_ns(const struct yarn_coverage *coverage)
{
    if (!coverage->is_off)
        return coverage->stopped_cpu_ns;
    return coverage->stopped_cpu_ns +
           yarn_u64_minus(cpu_ns_until_end(coverage), coverage->off_since_cpu_ns);
}

void yarn_coverage_write(struct yarn_coverage *coverage, struct yarn_dump_writer *writer)
{
    for (size_t i = 0; i < coverage->nr_waiting; i++)
        yarn_dump_write_coverage(writer, &coverage->waiting[i]);
    coverage->nr_waiting = 0;
}
