/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions on machines that are not there: PMUs of some cores only, counters that are few, kernels
 * that refuse. The test is the reader; a thread of it stands for the host. */
#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "core/session/session.h"
#include "output/yarnprof/verbs/stat_run.h"
#include "output/yarnprof/views/stat.h"
#include "tests/support/fake_perf.h"
#include "tests/support/suite.h"

enum { BIG = 4, LITTLE = 10, REFUSED = 77, EVENTS_MAX = 8 };

#define ENABLED_NS (100 * YARN_NS_PER_MS)

static struct yarn_event_spec events[EVENTS_MAX];
static struct yarn_session_request request;
static struct yarn_session session;
static pthread_t host;
static atomic_bool is_over;

static void *wait(void *unused)
{
    while (!atomic_load(&is_over))
        usleep(1000);
    return unused;
}

static void begin(void)
{
    fake_perf_reset();
    atomic_store(&is_over, false);
    ck_assert_int_eq(pthread_create(&host, NULL, wait, NULL), 0);
    request = (struct yarn_session_request){
        .events = events,
        .sampler = YARN_SAMPLER_PERF,
        .strategy = YARN_STRATEGY_PER_CORE,
        .ring_bytes = 65536,
        .interval_ns = 100 * YARN_NS_PER_MS,
        .frequency_hz = 999,
        .pid = getpid(),
    };
}

static void end(void)
{
    yarn_session_close(&session);
    atomic_store(&is_over, true);
    ck_assert_int_eq(pthread_join(host, NULL), 0);
    fake_perf_reset();
}

static struct yarn_event_spec *add(const char *name, uint32_t type)
{
    struct yarn_event_spec *event = &events[request.nr_events++];
    *event = (struct yarn_event_spec){
        .asked = name,
        .event = name,
        .unit = "events",
        .kind = YARN_EVENT_HARDWARE,
        .type = type,
        .period = 1000000,
        .scale = 1,
        .has_own_rate = true,
    };
    struct yarn_text text = yarn_text_of(event->name, sizeof event->name);
    yarn_text_add(&text, name);
    return event;
}

/* Of that type, on a core (-1: any). */
static size_t nr_open(uint32_t type, int cpu)
{
    size_t count = 0;
    for (const struct fake_perf_event *event = NULL; (event = fake_perf_next(event));)
        count += event->attr.type == type && (cpu < 0 || event->cpu == cpu);
    return count;
}

/* ---- PMUs of some cores ---- */

static struct yarn_perf_count count_by_core(const struct fake_perf_event *event)
{
    return (struct yarn_perf_count){
        .count = event->attr.type,
        .time_enabled_ns = ENABLED_NS,
        .time_running_ns = event->cpu == 0 ? 3 * ENABLED_NS / 4 : ENABLED_NS / 4,
    };
}

START_TEST(each_pmu_counts_on_its_own_cores)
{
    add("cycles", BIG)->cpus = "0";
    add("cycles", LITTLE)->cpus = "1";
    fake_perf_count = count_by_core;
    ck_assert_int_eq(yarn_session_open(&session, &request), 0);
    if (session.nr_cpus < 2)
        return; /* nothing to be distinguished */
    size_t nr_threads = session.report.nr_threads;
    ck_assert_uint_eq(nr_open(BIG, 0), nr_threads);
    ck_assert_uint_eq(nr_open(BIG, -1), nr_threads);
    ck_assert_uint_eq(nr_open(LITTLE, 1), nr_threads);
    ck_assert_uint_eq(nr_open(LITTLE, -1), nr_threads);
    struct yarn_perf_count big = yarn_session_count(&session, 0);
    struct yarn_perf_count little = yarn_session_count(&session, 1);
    ck_assert_uint_eq(big.count, BIG * nr_threads);
    ck_assert_uint_eq(little.count, LITTLE * nr_threads);
    ck_assert_uint_eq(big.time_enabled_ns, ENABLED_NS * nr_threads);
    ck_assert_uint_eq(big.time_running_ns + little.time_running_ns, ENABLED_NS * nr_threads);
}
END_TEST

START_TEST(what_two_kinds_of_core_count_is_one_in_stat)
{
    static struct yarn_stat_events counted;
    static struct yarn_stat_run run;
    char path[] = "/bin/true";
    char *const command[] = {path, NULL};
    uint32_t key;
    add("cycles", BIG)->cpus = "0";
    add("cycles", LITTLE)->cpus = "1";
    fake_perf_count = count_by_core;
    ck_assert(yarn_stat_add_events(&counted, events, request.nr_events, &key));
    run = (struct yarn_stat_run){.events = &counted, .interval_ns = UINT64_MAX};
    ck_assert_int_eq(yarn_stat_run(&run, command), 0);
    ck_assert_uint_eq(run.nr_rows, 1);
    ck_assert_uint_eq(run.rows[0].count, BIG + LITTLE);
    ck_assert_uint_eq(run.rows[0].enabled_ns, ENABLED_NS);
    ck_assert_uint_eq(run.rows[0].running_ns, 2 * (ENABLED_NS / 4)); /* each a quarter */
    ck_assert_double_eq_tol(run.rows[0].value, 2 * (BIG + LITTLE), 1e-6);
    yarn_stat_run_fini(&run);
}
END_TEST

START_TEST(each_core_has_mappings_from_one_event)
{
    add("cycles", BIG)->cpus = "0";
    add("cycles", LITTLE)->cpus = "1";
    add("instructions", BIG)->cpus = "0";
    ck_assert_int_eq(yarn_session_open(&session, &request), 0);
    size_t nr_bands[2] = {0};
    for (const struct fake_perf_event *event = NULL; (event = fake_perf_next(event));)
        if (event->cpu < 2)
            nr_bands[event->cpu] += event->attr.mmap2;
    ck_assert_uint_eq(nr_bands[0], session.report.nr_threads);
    if (session.nr_cpus > 1)
        ck_assert_uint_eq(nr_bands[1], session.report.nr_threads);
}
END_TEST

START_TEST(what_counts_whole_cores_is_left_to_stat)
{
    add("cycles", BIG);
    add("reads", LITTLE)->is_of_cpus = true;
    ck_assert_int_eq(yarn_session_open(&session, &request), 0);
    ck_assert_int_eq(session.statuses[0].error, 0);
    ck_assert_int_ne(session.statuses[1].error, 0);
    ck_assert_ptr_nonnull(strstr(session.statuses[1].reason, "stat"));
}
END_TEST

START_TEST(branches_are_asked_of_counters_alone)
{
    add("cycles", BIG)->branches = PERF_SAMPLE_BRANCH_ANY;
    struct yarn_event_spec *clock = add("cpu-clock", PERF_TYPE_SOFTWARE);
    clock->kind = YARN_EVENT_CLOCK;
    clock->branches = PERF_SAMPLE_BRANCH_ANY;
    ck_assert_int_eq(yarn_session_open(&session, &request), 0);
    ck_assert_int_eq(session.statuses[0].error, 0);
    for (const struct fake_perf_event *event = NULL; (event = fake_perf_next(event));) {
        ck_assert(event->attr.sample_type & PERF_SAMPLE_BRANCH_STACK);
        ck_assert_uint_eq(event->attr.branch_sample_type, PERF_SAMPLE_BRANCH_ANY);
    }
    ck_assert_int_eq(session.statuses[1].error, EOPNOTSUPP);
}
END_TEST

static int refuse_branches(const struct fake_perf_event *event)
{
    return event->attr.sample_type & PERF_SAMPLE_BRANCH_STACK ? -EOPNOTSUPP : 0;
}

START_TEST(a_cpu_without_a_stack_of_calls_has_copies_and_says_so)
{
    fake_perf_judge = refuse_branches;
    request.stack = YARN_STACKS_CALLS;
    request.stack_bytes = 4096;
    add("cycles", BIG);
    add("cpu-clock", PERF_TYPE_SOFTWARE)->kind = YARN_EVENT_CLOCK;
    ck_assert_int_eq(yarn_session_open(&session, &request), 0);
    ck_assert_int_eq(session.statuses[0].error | session.statuses[1].error, 0);
    ck_assert_ptr_nonnull(strstr(session.statuses[0].reason, "notes no calls"));
    ck_assert_ptr_nonnull(strstr(session.statuses[1].reason, "call-graph=lbr"));
    for (const struct fake_perf_event *event = NULL; (event = fake_perf_next(event));)
        ck_assert_uint_ne(event->attr.sample_stack_user, 0);
}
END_TEST

/* ---- counters that are few ---- */

enum { COUNTERS = 4, SLICES = 998, SLICE_NS = 1000000, A_SLICE = 2500 };

/* Its place among those that are open. */
static size_t place_of(const struct fake_perf_event *event)
{
    size_t place = 0;
    for (const struct fake_perf_event *other = NULL; (other = fake_perf_next(other)) != event;)
        place++;
    return place;
}

/* Four counters, and after each slice the one that waited longest moves up, as the kernel rotates.
 */
static struct yarn_perf_count count_in_turns(const struct fake_perf_event *event)
{
    struct yarn_perf_count count = {.time_enabled_ns = (uint64_t)SLICES * SLICE_NS};
    for (size_t slice = 0; slice < SLICES; slice++) {
        bool runs = (place_of(event) + slice) % EVENTS_MAX < COUNTERS;
        count.time_running_ns += runs ? SLICE_NS : 0;
        count.count += runs ? A_SLICE : 0;
    }
    return count;
}

START_TEST(eight_on_four_counters_run_half_of_the_time_and_scale_to_the_truth)
{
    for (int i = 0; i < EVENTS_MAX; i++)
        add("cycles", BIG)->cpus = "0"; /* the thread was there all the time */
    fake_perf_count = count_in_turns;
    ck_assert_int_eq(yarn_session_open(&session, &request), 0);
    for (uint32_t i = 0; i < EVENTS_MAX; i++) {
        struct yarn_perf_count count = yarn_session_count(&session, i);
        struct yarn_stat_row row = {
            .scale = 1,
            .count = count.count,
            .enabled_ns = count.time_enabled_ns,
            .running_ns = count.time_running_ns,
        };
        double running = (double)row.running_ns / (double)row.enabled_ns;
        yarn_stat_scale(&row);
        double share = row.value / (SLICES * (double)A_SLICE * (double)session.report.nr_threads);
        ck_assert_msg(running > 0.475 && running < 0.525, "ran %g of the time", running);
        ck_assert_msg(share > 0.95 && share < 1.05, "scaled to %g of the truth", share);
    }
}
END_TEST

static struct yarn_perf_count count_in_error(const struct fake_perf_event *event)
{
    return (struct yarn_perf_count){.is_in_error = event->attr.pinned};
}

START_TEST(a_pinned_event_at_the_end_of_its_file_is_in_error)
{
    add("cycles", BIG)->is_pinned = true;
    add("instructions", BIG);
    fake_perf_count = count_in_error;
    ck_assert_int_eq(yarn_session_open(&session, &request), 0);
    ck_assert(yarn_session_count(&session, 0).is_in_error);
    ck_assert(!yarn_session_count(&session, 1).is_in_error);
}
END_TEST

/* ---- threads that come and go ---- */

static void *wait_for_test(void *barrier)
{
    pthread_barrier_wait(barrier);
    return NULL;
}

static void pass_over(void *unused, const struct yarn_typed_record *record)
{
    (void)unused;
    (void)record;
}

START_TEST(what_a_thread_has_counted_stays_when_it_ends)
{
    const struct yarn_record_listener listener = {.record = pass_over};
    pthread_barrier_t barrier;
    pthread_t thread;
    bool has_news;
    request.strategy = YARN_STRATEGY_PER_THREAD;
    add("cycles", BIG);
    add("instructions", LITTLE);
    fake_perf_count = count_by_core;
    pthread_barrier_init(&barrier, NULL, 2);
    ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_test, &barrier), 0);
    ck_assert_int_eq(yarn_session_open(&session, &request), 0);
    const size_t nr_threads = nr_open(BIG, -1);
    yarn_session_enable(&session);
    pthread_barrier_wait(&barrier);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    while (nr_open(BIG, -1) == nr_threads)
        yarn_session_drain(&session, false, &listener, &has_news);
    ck_assert_uint_eq(yarn_session_count(&session, 0).count, nr_threads * BIG);
    ck_assert_uint_eq(yarn_session_count(&session, 1).count, nr_threads * LITTLE);
    ck_assert_uint_eq(yarn_session_count(&session, 1).time_enabled_ns, nr_threads * ENABLED_NS);
}
END_TEST

/* ---- refusals ---- */

static int error_of_refused;

static int refuse(const struct fake_perf_event *event)
{
    return event->attr.type == REFUSED ? error_of_refused : 0;
}

static const int errors[] = {-ENOSPC, -EBUSY, -EOPNOTSUPP, -ENOENT, -ENODEV, -EINVAL, -EACCES};

START_TEST(a_refused_event_has_its_sentence_and_the_rest_goes_on)
{
    error_of_refused = errors[_i];
    fake_perf_judge = refuse;
    add("cycles", BIG);
    add("odd", REFUSED);
    add("instructions", BIG);
    ck_assert_int_eq(yarn_session_open(&session, &request), 0);
    ck_assert_int_eq(session.statuses[1].error, -errors[_i]);
    ck_assert_ptr_nonnull(session.statuses[1].reason);
    ck_assert_int_eq(session.statuses[0].error | session.statuses[2].error, 0);
    ck_assert_uint_eq(nr_open(BIG, 0), 2 * session.report.nr_threads);
    ck_assert_uint_eq(nr_open(REFUSED, -1), 0);
    ck_assert_uint_eq(session.report.features, YARN_ATTR_ALL);
}
END_TEST

static int refuse_clock(const struct fake_perf_event *event)
{
    return event->attr.type == REFUSED && event->attr.use_clockid ? -EINVAL : 0;
}

START_TEST(whose_pmu_has_another_clock_is_refused_by_itself)
{
    const enum yarn_strategy strategies[] = {YARN_STRATEGY_PER_CORE, YARN_STRATEGY_PER_THREAD};
    fake_perf_judge = refuse_clock;
    request.strategy = strategies[_i];
    add("odd", REFUSED);
    add("cycles", BIG);
    ck_assert_int_eq(yarn_session_open(&session, &request), 0);
    ck_assert_int_eq(session.statuses[0].error, EINVAL);
    ck_assert_ptr_nonnull(strstr(session.statuses[0].reason, "does not know CLOCK_MONOTONIC"));
    ck_assert_int_eq(session.statuses[1].error, 0);
    ck_assert_uint_gt(nr_open(BIG, -1), 0);
    ck_assert_uint_eq(nr_open(REFUSED, -1), 0);
    ck_assert_uint_eq(session.report.features, YARN_ATTR_ALL);
}
END_TEST

START_TEST(whose_clock_is_another_takes_its_group_along)
{
    fake_perf_judge = refuse_clock;
    add("cycles", BIG);
    add("first", BIG)->group = 1;
    add("odd", REFUSED)->group = 1;
    ck_assert_int_eq(yarn_session_open(&session, &request), 0);
    ck_assert_int_eq(session.statuses[0].error, 0);
    ck_assert_int_eq(session.statuses[2].error, EINVAL);
    ck_assert_ptr_nonnull(strstr(session.statuses[2].reason, "does not know CLOCK_MONOTONIC"));
    ck_assert_int_ne(session.statuses[1].error, 0);
    ck_assert_ptr_nonnull(strstr(session.statuses[1].reason, "odd was refused"));
}
END_TEST

/* Linux 5.10. */
static int refuse_features(const struct fake_perf_event *event)
{
    bool is_new = event->attr.inherit_thread || event->attr.remove_on_exec ||
                  event->attr.read_format & (1 << 4 /* PERF_FORMAT_LOST */);
    return is_new ? -EINVAL : 0;
}

START_TEST(features_of_a_later_kernel_are_given_up_for_all)
{
    fake_perf_judge = refuse_features;
    add("cycles", BIG);
    ck_assert_int_eq(yarn_session_open(&session, &request), 0);
    ck_assert_int_eq(session.statuses[0].error, 0);
    ck_assert_uint_eq(session.report.features, YARN_ATTR_CLOCK);
}
END_TEST

static struct yarn_event_spec *add_member(const char *name, uint32_t type)
{
    struct yarn_event_spec *event = add(name, type);
    event->group = 1;
    return event;
}

START_TEST(a_group_is_refused_whole_and_names_the_member)
{
    error_of_refused = -EINVAL;
    fake_perf_judge = refuse;
    add("cycles", BIG);
    add_member("first", LITTLE);
    add_member("odd", REFUSED);
    add_member("last", LITTLE);
    ck_assert_int_eq(yarn_session_open(&session, &request), 0);
    ck_assert_uint_eq(nr_open(LITTLE, -1), 0);
    ck_assert_uint_eq(nr_open(BIG, 0), session.report.nr_threads);
    ck_assert_ptr_nonnull(strstr(session.statuses[1].reason, "odd"));
    ck_assert_ptr_nonnull(strstr(session.statuses[3].reason, "odd"));
}
END_TEST

START_TEST(members_are_in_the_group_of_their_leader)
{
    add_member("first", BIG);
    add_member("last", LITTLE);
    ck_assert_int_eq(yarn_session_open(&session, &request), 0);
    for (const struct fake_perf_event *event = NULL; (event = fake_perf_next(event));)
        ck_assert_int_eq(event->group >= 0, event->attr.type == LITTLE);
}
END_TEST

static int refuse_together(const struct fake_perf_event *event)
{
    return event->group >= 0 ? -EINVAL : 0;
}

START_TEST(a_weak_group_goes_alone)
{
    fake_perf_judge = refuse_together;
    add_member("first", BIG)->is_weak = true;
    add_member("last", LITTLE)->is_weak = true;
    ck_assert_int_eq(yarn_session_open(&session, &request), 0);
    ck_assert_int_eq(session.statuses[0].error | session.statuses[1].error, 0);
    ck_assert_uint_eq(nr_open(LITTLE, 0), session.report.nr_threads);
    ck_assert_ptr_nonnull(strstr(session.statuses[1].reason, "alone"));
}
END_TEST

/* Linux 6.11. */
static int refuse_reading(const struct fake_perf_event *event)
{
    return event->attr.inherit && event->attr.sample_type & PERF_SAMPLE_READ ? -EINVAL : 0;
}

START_TEST(a_kernel_that_cannot_read_groups_of_all_threads_says_since_when)
{
    fake_perf_judge = refuse_reading;
    add("cycles", BIG);
    add_member("first", BIG)->reads_group = true;
    add_member("last", LITTLE)->reads_group = true;
    ck_assert_int_eq(yarn_session_open(&session, &request), 0);
    ck_assert_ptr_nonnull(strstr(session.statuses[1].reason, "6.12"));
    ck_assert_int_ne(session.statuses[2].error, 0);
}
END_TEST

START_TEST(only_the_leader_of_a_group_that_is_read_takes_samples)
{
    add_member("first", BIG)->reads_group = true;
    add_member("last", LITTLE)->reads_group = true;
    ck_assert_int_eq(yarn_session_open(&session, &request), 0);
    for (const struct fake_perf_event *event = NULL; (event = fake_perf_next(event));) {
        bool leads = event->attr.type == BIG;
        ck_assert_int_eq(event->attr.sample_period != 0, leads);
        ck_assert_int_eq((event->attr.sample_type & PERF_SAMPLE_READ) != 0, leads);
        ck_assert_int_eq((event->attr.read_format & PERF_FORMAT_GROUP) != 0, leads);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sessions on machines that are made");
    TCase *tcase = tcase_create("opened");
    tcase_add_checked_fixture(tcase, begin, end);
    tcase_add_test(tcase, each_pmu_counts_on_its_own_cores);
    tcase_add_test(tcase, what_two_kinds_of_core_count_is_one_in_stat);
    tcase_add_test(tcase, each_core_has_mappings_from_one_event);
    tcase_add_test(tcase, what_counts_whole_cores_is_left_to_stat);
    tcase_add_test(tcase, branches_are_asked_of_counters_alone);
    tcase_add_test(tcase, a_cpu_without_a_stack_of_calls_has_copies_and_says_so);
    tcase_add_test(tcase, eight_on_four_counters_run_half_of_the_time_and_scale_to_the_truth);
    tcase_add_test(tcase, a_pinned_event_at_the_end_of_its_file_is_in_error);
    tcase_add_test(tcase, what_a_thread_has_counted_stays_when_it_ends);
    tcase_add_loop_test(tcase, a_refused_event_has_its_sentence_and_the_rest_goes_on, 0,
                        (int)YARN_COUNT_OF(errors));
    tcase_add_loop_test(tcase, whose_pmu_has_another_clock_is_refused_by_itself, 0, 2);
    tcase_add_test(tcase, whose_clock_is_another_takes_its_group_along);
    tcase_add_test(tcase, features_of_a_later_kernel_are_given_up_for_all);
    tcase_add_test(tcase, a_group_is_refused_whole_and_names_the_member);
    tcase_add_test(tcase, members_are_in_the_group_of_their_leader);
    tcase_add_test(tcase, a_weak_group_goes_alone);
    tcase_add_test(tcase, a_kernel_that_cannot_read_groups_of_all_threads_says_since_when);
    tcase_add_test(tcase, only_the_leader_of_a_group_that_is_read_takes_samples);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
