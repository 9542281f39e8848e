/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/recording/totals.h"

#include "core/base/pages.h"
#include "core/sys/clock.h"
#include "preload/account/thread_ends.h"

enum {
    COUNT_EVENTS_MAX = 64, /* with more open, CPU time is only read at the end */
    PERIODS_WITHOUT_SAMPLE = 20,
    SHARE_WHOLE = 1024,
};

static void write_messages(struct yarn_recording *recording)
{
    uint32_t count = atomic_load(&recording->messages->count);
    for (; recording->nr_messages_written < count; recording->nr_messages_written++) {
        const struct yarn_message *message =
            &recording->messages->message[recording->nr_messages_written];
        struct yarn_dump_message record = {
            .time_ns = message->time_ns,
            .kind = message->level,
            .text = yarn_span_of_text(message->text),
        };
        yarn_dump_write_message(recording->writer, &record);
    }
}

static uint64_t subtract(uint64_t whole, uint64_t part)
{
    return whole > part ? whole - part : 0;
}

/* Of the host's threads, while the recording was on. */
static uint64_t host_cpu_ns(const struct yarn_recording *recording)
{
    return subtract(yarn_coverage_host_cpu_ns(), yarn_coverage_off_cpu_ns(&recording->coverage));
}

/* No event is open where the threads' numbers could not be found out. */
static bool can_count(const struct yarn_recording *recording)
{
    return recording->clock_event != YARN_DUMP_NONE &&
           yarn_session_can_count(&recording->session, recording->clock_event);
}

static uint64_t cpu_ns_of(const struct yarn_recording *recording)
{
    if (!can_count(recording))
        return host_cpu_ns(recording);
    return yarn_coverage_cpu_ns(&recording->coverage) + recording->missed_ns;
}

bool yarn_totals_lacks_samples(const struct yarn_recording *recording)
{
    uint64_t least_ns = PERIODS_WITHOUT_SAMPLE * YARN_NS_PER_SECOND / recording->spec.frequency_hz;
    return recording->clock_event != YARN_DUMP_NONE &&
           !recording->totals.value[YARN_DUMP_TOTAL_SAMPLES] &&
           host_cpu_ns(recording) >= least_ns && cpu_ns_of(recording) >= least_ns;
}

bool yarn_totals_leaves_kernel(const struct yarn_recording *recording)
{
    if (recording->clock_event == YARN_DUMP_NONE)
        return false;
    const struct yarn_session_event *event = &recording->session.specs[recording->clock_event];
    return event->spec.exclude_kernel || event->is_kernel_refused;
}

/* The most that may be without a sample until a period is full, in each thread, and on each core
 * where clocks are inherited; anew with each change of the events. */
static uint64_t rest_ns(const struct yarn_recording *recording)
{
    const struct yarn_session *session = &recording->session;
    uint64_t period_ns = session->specs[recording->clock_event].spec.period;
    uint64_t nr_threads = subtract(session->nr_threads, 1) + session->nr_births;
    uint64_t nr_clocks = nr_threads * (session->nr_events ? session->nr_cpus + 1 : 1);
    return nr_clocks * (1 + session->nr_changes) * period_ns;
}

/* Of user mode. UINT64_MAX where clocks may have begun later than their threads, or stood still. */
static uint64_t unripe_ns(const struct yarn_recording *recording)
{
    const struct yarn_session *session = &recording->session;
    if (!session->nr_events || session->report.nr_refused_threads || session->wide.events ||
        recording->totals.value[YARN_DUMP_TOTAL_THROTTLED])
        return UINT64_MAX;
    return recording->missed_ns + rest_ns(recording);
}

/* Of CPU time without a sample the part in the kernel, where that is left out. The kernel's ticks
 * tell the share of all time, as a sample of it; what cannot be anything else is more exact. */
static uint64_t kernel_ns(const struct yarn_recording *recording, uint64_t cpu_ns,
                          uint64_t unsampled_ns)
{
    if (!yarn_totals_leaves_kernel(recording))
        return 0;
    uint64_t period_ns = recording->session.specs[recording->clock_event].spec.period;
    uint64_t lost_ns = recording->totals.value[YARN_DUMP_TOTAL_LOST] * period_ns;
    uint64_t switching_ns = recording->totals.value[YARN_DUMP_TOTAL_SWITCHING_NS];
    uint64_t most_ns = subtract(unsampled_ns, lost_ns + switching_ns);
    uint64_t least_ns = subtract(most_ns, unripe_ns(recording));
    struct yarn_ticks ticks = yarn_coverage_ticks(&recording->coverage);
    uint64_t share = ticks.all_ns ? ticks.system_ns * SHARE_WHOLE / ticks.all_ns : 0;
    return yarn_u64_min(yarn_u64_max(cpu_ns / SHARE_WHOLE * share, least_ns), most_ns);
}

/* It costs a system call for each open event. */
static void read_cpu_time(struct yarn_recording *recording)
{
    bool has_clock = recording->clock_event != YARN_DUMP_NONE;
    uint64_t cpu_ns = cpu_ns_of(recording), unsampled_ns = 0;
    if (has_clock)
        unsampled_ns = subtract(cpu_ns, recording->sampled_ns);
    recording->totals.value[YARN_DUMP_TOTAL_REST_NS] = has_clock ? rest_ns(recording) : 0;
    recording->totals.value[YARN_DUMP_TOTAL_BLOCKED_NS] =
        yarn_u64_min(unsampled_ns, yarn_session_blocked_ns(&recording->session));
    if (can_count(recording))
        recording->totals.value[YARN_DUMP_TOTAL_SWITCHING_NS] = yarn_u64_min(
            unsampled_ns, yarn_session_switching_ns(&recording->session, recording->clock_event,
                                                    yarn_coverage_cpu_ns(&recording->coverage)));
    uint64_t in_kernel_ns = kernel_ns(recording, cpu_ns, unsampled_ns);
    unsampled_ns -= in_kernel_ns;
    uint64_t children_ns = recording->charges ? atomic_load(&recording->charges->cpu_ns) : 0;
    recording->totals.value[YARN_DUMP_TOTAL_CPU_NS] = cpu_ns + children_ns;
    recording->totals.value[YARN_DUMP_TOTAL_UNSAMPLED_NS] = unsampled_ns + children_ns;
    recording->totals.value[YARN_DUMP_TOTAL_CHILDREN_NS] = children_ns;
    recording->totals.value[YARN_DUMP_TOTAL_KERNEL_NS] = in_kernel_ns;
    recording->totals.value[YARN_DUMP_TOTAL_BEFORE_NS] = !has_clock ? 0
                                                         : can_count(recording)
                                                             ? recording->missed_ns
                                                             : recording->coverage.before_cpu_ns;
    recording->totals.value[YARN_DUMP_TOTAL_OFF_CPU_NS] =
        yarn_coverage_off_cpu_ns(&recording->coverage);
    recording->totals.value[YARN_DUMP_TOTAL_CHILDREN] =
        recording->charges ? atomic_load(&recording->charges->nr_children) : 0;
}

bool yarn_totals_has_children(const struct yarn_recording *recording)
{
    return recording->charges && atomic_load(&recording->charges->cpu_ns) >=
                                     YARN_NS_PER_SECOND / recording->spec.frequency_hz;
}

static void write_totals(struct yarn_recording *recording)
{
    struct yarn_recording *r = recording;
    r->totals.time_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    r->totals.value[YARN_DUMP_TOTAL_OFF_NS] = yarn_coverage_off_ns(&r->coverage, r->totals.time_ns);
    r->totals.value[YARN_DUMP_TOTAL_DRAIN_CPU_NS] = yarn_clock_ns(YARN_TIME_THREAD_CPU);
    r->totals.value[YARN_DUMP_TOTAL_MEMORY_BYTES] =
        yarn_pages_total() + yarn_session_ring_bytes(&r->session);
    r->totals.value[YARN_DUMP_TOTAL_BYTES_WRITTEN] = yarn_dump_writer_bytes_written(r->writer);
    r->totals.value[YARN_DUMP_TOTAL_UNWRITTEN_NS] = r->spec.interval_ns;
    r->totals.value[YARN_DUMP_TOTAL_ENDS_UNKNOWN] +=
        yarn_thread_ends_take_unnoted(&r->totals.value[YARN_DUMP_TOTAL_ENDS_UNKNOWN_NS]);
    yarn_dump_write_totals(r->writer, &r->totals);
}

static void write_counts(struct yarn_recording *recording)
{
    uint64_t lost = 0;
    for (uint32_t i = 0; i < recording->spec.nr_events; i++) {
        if (recording->session.specs[i].error || !yarn_session_can_count(&recording->session, i))
            continue;
        struct yarn_perf_count sum = yarn_session_count(&recording->session, i);
        struct yarn_dump_count count = {
            .event = i,
            .time_ns = yarn_clock_ns(YARN_TIME_MONOTONIC),
            .count = sum.count,
            .time_enabled_ns = sum.time_enabled_ns,
            .time_running_ns = sum.time_running_ns,
            .lost = sum.lost,
        };
        lost += sum.lost;
        yarn_dump_write_count(recording->writer, &count);
    }
    /* The kernel's own count is exact; LOST records may themselves find no room. */
    recording->totals.value[YARN_DUMP_TOTAL_LOST] =
        yarn_u64_max(recording->totals.value[YARN_DUMP_TOTAL_LOST], lost + recording->nr_dropped);
}

void yarn_totals_write(struct yarn_recording *recording)
{
    if (recording->session.nr_events <= COUNT_EVENTS_MAX)
        read_cpu_time(recording);
    write_messages(recording);
    write_totals(recording);
}

void yarn_totals_write_final(struct yarn_recording *recording)
{
    write_messages(recording);
    write_counts(recording);
    read_cpu_time(recording);
    write_totals(recording);
}
