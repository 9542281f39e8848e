/* SPDX-License-Identifier: Apache-2.0 */
/* A session whose rings begin small: they grow once somebody lives for more than a moment. The test
 * is the reader; a thread of it burns CPU time. */
#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/session/session.h"
#include "tests/support/suite.h"

enum { SKIPPED = 77, DRAIN_US = 4000, DRAINS_MAX = 5000, HZ = 1000, OWN_USER = 61017 };

static const struct yarn_event_spec event = {
    .name = "cpu-clock",
    .kind = YARN_EVENT_CLOCK,
    .type = PERF_TYPE_SOFTWARE,
    .config = PERF_COUNT_SW_CPU_CLOCK,
    .period = YARN_NS_PER_SECOND / HZ,
    .is_clock = true,
    .exclude_kernel = true,
    .exclude_hv = true,
};
static struct yarn_session_request spec;
static struct yarn_session session;
static atomic_bool is_over;
static size_t nr_samples;
static pthread_t burner;

static void on_record(void *self, const struct yarn_typed_record *record)
{
    (void)self;
    nr_samples += record->type == YARN_RECORD_SAMPLE;
}

static void on_malformed(void *self, uint32_t kernel_type, size_t size)
{
    (void)self;
    ck_abort_msg("malformed record of type %u, %zu bytes", kernel_type, size);
}

static void drain(void)
{
    struct yarn_record_listener listener = {.record = on_record, .malformed = on_malformed};
    bool has_news;
    usleep(DRAIN_US);
    yarn_session_drain(&session, false, &listener, &has_news);
}

static void *burn(void *unused)
{
    while (!atomic_load(&is_over))
        continue;
    return unused;
}

static int open_session(void)
{
    spec = (struct yarn_session_request){
        .events = &event,
        .nr_events = 1,
        .sampler = YARN_SAMPLER_PERF,
        .strategy = YARN_STRATEGY_PER_CORE,
        .stack = YARN_SESSION_STACK_COPY,
        .stack_bytes = 32768,
        .interval_ns = 100 * YARN_NS_PER_MS,
        .pid = getpid(),
    };
    return yarn_session_open(&session, &spec);
}

static void begin(void)
{
    nr_samples = 0;
    atomic_store(&is_over, false);
    ck_assert_int_eq(pthread_create(&burner, NULL, burn, NULL), 0);
    ck_assert_int_eq(open_session(), 0);
}

static void end(void)
{
    atomic_store(&is_over, true);
    ck_assert_int_eq(pthread_join(burner, NULL), 0);
    yarn_session_close(&session);
}

static void drain_until_grown(void)
{
    for (int i = 0; i < DRAINS_MAX && (!session.nr_changes || session.change.is_aside); i++)
        drain();
    ck_assert_uint_ge(session.nr_changes, 1);
    ck_assert(!session.change.is_aside);
}

START_TEST(rings_grow_once_there_are_samples_or_get_fewer)
{
    size_t at_first = session.report.got.ring_bytes;
    ck_assert_uint_eq(at_first, yarn_plan_to_begin(&spec, session.nr_cpus).ring_bytes);
    ck_assert_uint_eq(session.report.got.rate_permille, 0);
    yarn_session_enable(&session);
    drain_until_grown();
    const uint32_t nr_changes = session.nr_changes;
    const struct yarn_plan got = session.report.got;
    ck_assert(got.ring_bytes == yarn_plan_of_core(&spec, session.nr_cpus).ring_bytes ||
              got.ring_bytes > at_first || got.rate_permille); /* an ordinary user's memory */
    size_t before = nr_samples;
    for (int i = 0; i < DRAINS_MAX && nr_samples < 4 * before; i++)
        drain();
    ck_assert_uint_ge(nr_samples, 4 * before);
    ck_assert_uint_eq(session.nr_changes, nr_changes);
    ck_assert_uint_eq(yarn_session_ring_bytes(&session), session.nr_cpus * got.ring_bytes);
    /* Those of the former events count. */
    ck_assert_uint_ge(yarn_session_count(&session, 0).count, (nr_samples - 1) * event.period);
}
END_TEST

/* KiB of locked memory that a user's rings have on all cores; 0 where it is not known. */
static size_t budget_kib(void)
{
    size_t kib = 0;
    FILE *file = fopen("/proc/sys/kernel/perf_event_mlock_kb", "re");
    if (file && fscanf(file, "%zu", &kib) != 1)
        kib = 0;
    if (file)
        fclose(file);
    return kib * (size_t)sysconf(_SC_NPROCESSORS_ONLN);
}

/* With as much locked memory as the whole rings need, and none for the former ones beside them. */
static bool becomes_ordinary_user_with_just_enough(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t whole = yarn_plan_of_core(&spec, session.nr_cpus).ring_bytes + page;
    size_t begun = yarn_plan_to_begin(&spec, session.nr_cpus).ring_bytes + page;
    size_t budget = YARN_KIB(budget_kib());
    struct rlimit own;
    if (geteuid() || session.nr_cpus * begun > budget)
        return false;
    own.rlim_cur = own.rlim_max =
        session.nr_cpus * whole - budget + session.nr_cpus * begun / 2 + session.nr_cpus * page;
    yarn_session_close(&session);
    return !setrlimit(RLIMIT_MEMLOCK, &own) && !setresuid(OWN_USER, OWN_USER, OWN_USER);
}

START_TEST(rings_that_have_the_users_budget_step_aside_for_larger_ones)
{
    if (!becomes_ordinary_user_with_just_enough()) {
        printf("skipped: not root, or the user's budget is not all that rings begin with\n");
        return;
    }
    ck_assert_int_eq(open_session(), 0);
    struct yarn_plan whole = yarn_plan_of_core(&spec, session.nr_cpus);
    yarn_session_enable(&session);
    drain_until_grown();
    ck_assert_uint_eq(session.nr_changes, 2);
    ck_assert_uint_eq(session.report.got.ring_bytes, whole.ring_bytes);
    ck_assert_uint_eq(session.report.got.stack_bytes, whole.stack_bytes);
    ck_assert_uint_eq(session.report.got.rate_permille, 0);
}
END_TEST

START_TEST(rings_of_who_does_nothing_stay)
{
    atomic_store(&is_over, true);
    size_t at_first = session.report.got.ring_bytes;
    yarn_session_enable(&session);
    for (int i = 0; i < 10; i++)
        drain();
    ck_assert_uint_eq(session.report.got.ring_bytes, at_first);
}
END_TEST

int main(void)
{
    int err = open_session();
    if (err) {
        printf("skipped: no events per core: %s\n", strerror(-err));
        return SKIPPED;
    }
    yarn_session_close(&session);
    Suite *suite = suite_create("larger rings");
    TCase *tests = tcase_create("a clock");
    tcase_add_checked_fixture(tests, begin, end);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, rings_grow_once_there_are_samples_or_get_fewer);
    tcase_add_test(tests, rings_that_have_the_users_budget_step_aside_for_larger_ones);
    tcase_add_test(tests, rings_of_who_does_nothing_stay);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
