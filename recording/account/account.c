/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/account/account.h"

#include "core/base/pages.h"
#include "core/sys/clock.h"

enum {
    COUNT_EVENTS_MAX = 64, /* with more open, CPU time is only read at the end */
    PERIODS_WITHOUT_SAMPLE = 20,
    SHARE_WHOLE = 1024,
};

void yarn_account_init(struct yarn_account *account, struct yarn_session *session)
{
    account->session = session;
    account->threads.session = session;
    account->coverage.target = session->request->target;
    account->clock_event = YARN_DUMP_NONE;
    for (uint32_t i = (uint32_t)session->request->nr_events; i-- > 0;)
        if (!session->statuses[i].error && session->statuses[i].spec.is_clock &&
            !session->statuses[i].spec.is_counted)
            account->clock_event = i;
}

_Static_assert((int)YARN_DUMP_TOTAL_STACKS_COMPLETE + YARN_DUMP_STACK_NONE ==
                   YARN_DUMP_TOTAL_STACKS_NONE,
               "the totals of stacks are in the order of their ends");

void yarn_account_sample(struct yarn_account *account, const struct yarn_sample *sample,
                         bool is_leaf_unknown)
{
    uint64_t *value = account->totals.value;
    bool is_perf = sample->event < account->session->request->nr_events;
    if (is_perf && (account->session->statuses[sample->event].spec.is_counted ||
                    account->session->statuses[sample->event].spec.is_scheduling))
        return; /* no part of the profile */
    value[YARN_DUMP_TOTAL_SAMPLES]++;
    value[YARN_DUMP_TOTAL_STACKS_COMPLETE + sample->stack_end]++;
    value[YARN_DUMP_TOTAL_FRAMES_UNKNOWN] += is_leaf_unknown;
    if (yarn_alternates_first(account->session, sample->event) == account->clock_event)
        account->sampled_ns += sample->weight;
}

void yarn_account_drop(struct yarn_account *account)
{
    account->nr_dropped++;
    account->totals.value[YARN_DUMP_TOTAL_LOST]++;
}

/* Of the host's threads, while the recording was on. */
static uint64_t host_cpu_ns(const struct yarn_account *account)
{
    return yarn_u64_minus(yarn_target_cpu_ns(account->session->request->target),
                          yarn_coverage_stopped_cpu_ns(&account->coverage));
}

/* No event is open where the threads' numbers could not be found out. */
static bool can_count(const struct yarn_account *account)
{
    return account->clock_event != YARN_DUMP_NONE && yarn_session_can_count(account->session);
}

static uint64_t cpu_ns_of(const struct yarn_account *account)
{
    if (!can_count(account))
        return host_cpu_ns(account);
    return yarn_coverage_cpu_ns(&account->coverage) + account->missed_ns;
}

bool yarn_account_lacks_samples(const struct yarn_account *account)
{
    uint64_t least_ns =
        PERIODS_WITHOUT_SAMPLE * YARN_NS_PER_SECOND / account->session->request->frequency_hz;
    return account->clock_event != YARN_DUMP_NONE &&
           !account->totals.value[YARN_DUMP_TOTAL_SAMPLES] && host_cpu_ns(account) >= least_ns &&
           cpu_ns_of(account) >= least_ns;
}

static bool leaves_kernel(const struct yarn_account *account)
{
    if (account->clock_event == YARN_DUMP_NONE)
        return false;
    const struct yarn_event_status *event = &account->session->statuses[account->clock_event];
    return event->spec.exclude_kernel || event->is_kernel_refused;
}

static bool has_core_clocks(const struct yarn_session *session)
{
    return session->nr_events || session->request->follows_tree;
}

/* The most that may be without a sample until a period is full, in each thread, and on each core
 * where clocks are inherited; anew with each change of the events, or of a period. */
static uint64_t rest_ns(const struct yarn_account *account)
{
    const struct yarn_session *session = account->session;
    uint64_t period_ns = session->statuses[account->clock_event].spec.period;
    uint64_t nr_threads = yarn_u64_minus(session->nr_threads, 1) + session->nr_births;
    uint64_t nr_clocks = nr_threads * (has_core_clocks(session) ? session->nr_cpus + 1 : 1);
    return nr_clocks * (1 + session->nr_changes) * period_ns + session->dropped_ns;
}

/* Of user mode. UINT64_MAX where clocks may have begun later than their threads, or stood still. */
static uint64_t unripe_ns(const struct yarn_account *account)
{
    const struct yarn_session *session = account->session;
    if (!has_core_clocks(session) || session->report.nr_refused_threads || session->wide.is_on ||
        account->totals.value[YARN_DUMP_TOTAL_THROTTLED])
        return UINT64_MAX;
    return account->missed_ns + rest_ns(account);
}

/* Of CPU time without a sample the part in the kernel, where that is left out. The kernel's ticks
 * give the share of all time, as a sample of it; what cannot be anything else is more exact. */
static uint64_t kernel_ns(const struct yarn_account *account, uint64_t cpu_ns,
                          uint64_t unsampled_ns)
{
    if (!leaves_kernel(account))
        return 0;
    uint64_t period_ns = account->session->statuses[account->clock_event].spec.period;
    uint64_t lost_ns =
        yarn_u64_minus(account->totals.value[YARN_DUMP_TOTAL_LOST], account->nr_lost_of_others) *
        period_ns;
    uint64_t switching_ns = account->totals.value[YARN_DUMP_TOTAL_SWITCHING_NS];
    uint64_t most_ns = yarn_u64_minus(unsampled_ns, lost_ns + switching_ns);
    uint64_t least_ns = yarn_u64_minus(most_ns, unripe_ns(account));
    struct yarn_ticks ticks = yarn_coverage_ticks(&account->coverage);
    uint64_t share = ticks.all_ns ? ticks.system_ns * SHARE_WHOLE / ticks.all_ns : 0;
    return yarn_u64_min(yarn_u64_max(cpu_ns / SHARE_WHOLE * share, least_ns), most_ns);
}

/* It costs a system call for each open event. */
static void read_cpu_time(struct yarn_account *account)
{
    uint64_t *value = account->totals.value;
    bool has_clock = account->clock_event != YARN_DUMP_NONE;
    uint64_t cpu_ns = cpu_ns_of(account);
    uint64_t unsampled_ns = has_clock ? yarn_u64_minus(cpu_ns, account->sampled_ns) : 0;
    value[YARN_DUMP_TOTAL_REST_NS] = has_clock ? rest_ns(account) : 0;
    value[YARN_DUMP_TOTAL_SWITCHING_NS] =
        yarn_u64_min(unsampled_ns, account->session->request->target->switching_ns);
    value[YARN_DUMP_TOTAL_BLOCKED_NS] =
        yarn_u64_min(unsampled_ns, yarn_session_blocked_ns(account->session));
    if (can_count(account))
        value[YARN_DUMP_TOTAL_SWITCHING_NS] = yarn_u64_min(
            unsampled_ns, yarn_session_switching_ns(account->session, account->clock_event,
                                                    yarn_coverage_cpu_ns(&account->coverage)));
    uint64_t in_kernel_ns = kernel_ns(account, cpu_ns, unsampled_ns);
    unsampled_ns -= in_kernel_ns;
    uint64_t children_ns = account->child_times ? atomic_load(&account->child_times->cpu_ns) : 0;
    uint64_t children_off_ns =
        account->child_times ? atomic_load(&account->child_times->off_cpu_ns) : 0;
    value[YARN_DUMP_TOTAL_CPU_NS] = cpu_ns + children_ns;
    value[YARN_DUMP_TOTAL_UNSAMPLED_NS] = unsampled_ns + children_ns;
    value[YARN_DUMP_TOTAL_CHILDREN_NS] = children_ns;
    value[YARN_DUMP_TOTAL_CPU_ESTIMATED] = account->session->request->target->is_cpu_estimated;
    value[YARN_DUMP_TOTAL_KERNEL_NS] = in_kernel_ns;
    value[YARN_DUMP_TOTAL_BEFORE_NS] = can_count(account) ? account->missed_ns
                                       : has_clock && !account->session->request->follows_tree
                                           ? account->coverage.before_cpu_ns
                                           : 0;
    if (account->session->request->target->kind == YARN_TARGET_OWN)
        value[YARN_DUMP_TOTAL_REAPED_NS] =
            yarn_u64_minus(yarn_process_reaped_cpu_ns(), account->reaped_before_ns);
    value[YARN_DUMP_TOTAL_OFF_CPU_NS] =
        yarn_coverage_stopped_cpu_ns(&account->coverage) + children_off_ns;
    value[YARN_DUMP_TOTAL_CHILDREN] =
        account->child_times ? atomic_load(&account->child_times->nr_children) : 0;
}

bool yarn_account_has_children(const struct yarn_account *account)
{
    return account->child_times && atomic_load(&account->child_times->cpu_ns) >=
                                       YARN_NS_PER_SECOND / account->session->request->frequency_hz;
}

/* Samples, of the records that found no room; `exact`: as the kernel counted them, which is exact
 * where LOST records themselves found none. */
static void read_lost(struct yarn_account *account, uint64_t exact)
{
    uint64_t *value = account->totals.value;
    uint64_t switches = yarn_session_switches_lost(account->session);
    uint64_t samples = yarn_u64_max(yarn_u64_minus(account->nr_lost, switches), exact);
    value[YARN_DUMP_TOTAL_SWITCHES_LOST] = switches;
    value[YARN_DUMP_TOTAL_LOST] =
        yarn_u64_max(value[YARN_DUMP_TOTAL_LOST], samples + account->nr_dropped);
}

/* From outside one recorder is all processes': what it takes is said once, where the tree is. */
static void account_own(struct yarn_account *account)
{
    uint64_t *value = account->totals.value;
    bool is_shared = account->session->request->follows_tree;
    if (is_shared && !account->child_times)
        return;
    value[YARN_DUMP_TOTAL_DRAIN_CPU_NS] =
        yarn_clock_ns(is_shared ? YARN_TIME_PROCESS_CPU : YARN_TIME_THREAD_CPU);
    value[YARN_DUMP_TOTAL_MEMORY_BYTES] =
        yarn_pages_total() + yarn_session_ring_bytes(account->session);
}

static void write_totals(struct yarn_account *account, struct yarn_dump_writer *writer)
{
    struct yarn_dump_totals *totals = &account->totals;
    totals->time_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    totals->value[YARN_DUMP_TOTAL_OFF_NS] =
        yarn_coverage_stopped_ns(&account->coverage, totals->time_ns);
    account_own(account);
    totals->value[YARN_DUMP_TOTAL_BYTES_WRITTEN] = yarn_dump_writer_bytes_written(writer);
    /* Another process goes on where who records it is killed. */
    if (account->session->request->target->kind == YARN_TARGET_OWN)
        totals->value[YARN_DUMP_TOTAL_UNWRITTEN_NS] = account->session->request->interval_ns;
    totals->value[YARN_DUMP_TOTAL_ENDS_UNKNOWN] +=
        yarn_thread_ends_take_unnoted(&totals->value[YARN_DUMP_TOTAL_ENDS_UNKNOWN_NS]);
    yarn_dump_write_totals(writer, totals);
}

void yarn_account_write_counts(struct yarn_account *account, struct yarn_dump_writer *writer,
                               bool only_counted)
{
    uint64_t lost = 0, lost_of_others = 0;
    for (uint32_t i = 0; i < account->session->request->nr_events; i++) {
        if (only_counted && !account->session->statuses[i].spec.is_counted)
            continue;
        if (account->session->statuses[i].error || !yarn_session_can_count(account->session))
            continue;
        struct yarn_perf_count sum = yarn_session_count(account->session, i);
        struct yarn_dump_count count = {
            .event = i,
            .time_ns = yarn_clock_ns(YARN_TIME_MONOTONIC),
            .count = sum.count,
            .time_enabled_ns = sum.time_enabled_ns,
            .time_running_ns = sum.time_running_ns,
            .lost = sum.lost,
            .is_in_error = sum.is_in_error,
        };
        bool is_profile = !account->session->statuses[i].spec.is_scheduling;
        lost += is_profile ? sum.lost : 0;
        lost_of_others += is_profile && i != account->clock_event ? sum.lost : 0;
        yarn_dump_write_count(writer, &count);
    }
    account->nr_lost_of_others = only_counted ? account->nr_lost_of_others : lost_of_others;
    read_lost(account, lost);
}

void yarn_account_write(struct yarn_account *account, struct yarn_dump_writer *writer)
{
    read_lost(account, 0);
    if (account->session->nr_events <= COUNT_EVENTS_MAX)
        read_cpu_time(account);
    write_totals(account, writer);
}

void yarn_account_write_final(struct yarn_account *account, struct yarn_dump_writer *writer)
{
    yarn_account_write_counts(account, writer, false);
    read_cpu_time(account);
    write_totals(account, writer);
}
