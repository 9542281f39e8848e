/* SPDX-License-Identifier: Apache-2.0 */
/* A session whose rings begin small: they grow once somebody lives for more than a moment. The test
 * is the reader; a thread of it burns CPU time. */
#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/session/session.h"
#include "core/sys/clock.h"
#include "core/sys/process.h"
#include "tests/support/suite.h"

enum { CROWD_A_CORE = 20, CROWD_MOST = 1024, ENOUGH = 30 };
enum { SKIPPED = 77, DRAIN_US = 4000, DRAINS_MAX = 5000, HZ = 1000, OWN_USER = 61017 };

static struct yarn_event_spec event = {
    .name = "cpu-clock",
    .kind = YARN_EVENT_CLOCK,
    .type = PERF_TYPE_SOFTWARE,
    .config = PERF_COUNT_SW_CPU_CLOCK,
    .period = YARN_NS_PER_SECOND / HZ,
    .is_clock = true,
    .exclude_kernel = true,
    .exclude_hv = true,
};
static struct yarn_session_request request;
static struct yarn_session session;
static atomic_bool is_over;
static size_t nr_samples;
static uint64_t weight;
static pthread_t burner;

static void on_record(void *self, const struct yarn_typed_record *record)
{
    (void)self;
    nr_samples += record->type == YARN_RECORD_SAMPLE;
    weight += record->type == YARN_RECORD_SAMPLE ? record->perf.period : 0;
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
    request = (struct yarn_session_request){
        .events = &event,
        .nr_events = 1,
        .sampler = YARN_SAMPLER_PERF,
        .strategy = YARN_STRATEGY_PER_CORE,
        .stack = YARN_STACKS_COPY,
        .stack_bytes = 32768,
        .interval_ns = 100 * YARN_NS_PER_MS,
        .pid = getpid(),
        .may_set_turns = true,
    };
    return yarn_session_open(&session, &request);
}

static void begin(void)
{
    nr_samples = 0;
    weight = 0;
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
    for (int i = 0; i < DRAINS_MAX && (!session.nr_changes || session.nr_former_cores); i++)
        drain();
    ck_assert_uint_ge(session.nr_changes, 1);
    ck_assert_uint_eq(session.nr_former_cores, 0);
    ck_assert(!session.growth.is_moving);
    ck_assert_int_eq(session.growth.error, 0);
}

/* What it counts beyond its samples a busy machine let pass between two periods, or until the first
 * ring, of some 15 ms, was full: that is counted. */
static void check_that_none_is_missing_or_twice(void)
{
    struct yarn_perf_count count = yarn_session_count(&session, 0);
    ck_assert_uint_le(count.lost, nr_samples / 4);
    ck_assert_uint_le(weight, count.count);
    ck_assert_uint_ge(weight, count.count - count.count / 4);
}

START_TEST(rings_grow_once_there_are_samples_and_events_stay_the_same)
{
    size_t at_first = session.report.got.ring_bytes, nr_events = session.nr_events;
    uint64_t id = session.events[0].id;
    ck_assert_uint_eq(at_first, yarn_plan_to_begin(&request, session.nr_cpus).ring_bytes);
    yarn_session_enable(&session);
    drain_until_grown();
    const struct yarn_plan got = session.report.got;
    ck_assert_uint_gt(got.ring_bytes, at_first);
    ck_assert_uint_eq(session.nr_events, nr_events);
    ck_assert_uint_eq(session.events[0].id, id);
    size_t before = nr_samples;
    for (int i = 0; i < DRAINS_MAX && nr_samples < 4 * before; i++)
        drain();
    ck_assert_uint_ge(nr_samples, 4 * before);
    ck_assert_uint_eq(session.nr_changes, 1);
    ck_assert_uint_eq(session.report.got.ring_bytes, got.ring_bytes);
    ck_assert_uint_eq(yarn_session_ring_bytes(&session), session.nr_cpus * got.ring_bytes);
    yarn_session_disable(&session);
    drain();
    check_that_none_is_missing_or_twice();
}
END_TEST

/* Locked memory for the rings that are asked for, beside the budget of the user's, and no more. */
static bool becomes_ordinary_user_with(size_t bytes)
{
    struct rlimit own = {.rlim_cur = bytes, .rlim_max = bytes};
    if (geteuid())
        return false;
    yarn_session_close(&session);
    return !setrlimit(RLIMIT_MEMLOCK, &own) && !setresuid(OWN_USER, OWN_USER, OWN_USER);
}

START_TEST(rings_grow_to_what_fits_beside_the_former)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (!becomes_ordinary_user_with(session.nr_cpus * (YARN_MIB(2) + page))) {
        printf("skipped: not root\n");
        return;
    }
    ck_assert_int_eq(open_session(), 0);
    yarn_session_enable(&session);
    drain_until_grown();
    ck_assert_uint_eq(session.report.got.ring_bytes, YARN_MIB(2));
    ck_assert_uint_eq(session.report.got.rate_permille, 0);
    ck_assert(!session.report.lacks_growth);
}
END_TEST

START_TEST(without_memory_for_both_rings_stay_and_are_filled_more_slowly)
{
    if (!becomes_ordinary_user_with(0)) {
        printf("skipped: not root\n");
        return;
    }
    event.period = YARN_NS_PER_SECOND / (4 * HZ);
    ck_assert_int_eq(open_session(), 0);
    size_t at_first = session.report.got.ring_bytes;
    ck_assert_uint_gt(session.report.got.rate_permille, 0);
    yarn_session_enable(&session);
    for (int i = 0; i < DRAINS_MAX && nr_samples < 100; i++)
        drain();
    ck_assert_uint_ge(nr_samples, 100);
    ck_assert_uint_eq(session.report.got.ring_bytes, at_first);
    ck_assert(session.report.lacks_growth);
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

/* So many processes that want a core that the kernel's own threads wait for one. */
static size_t begin_crowd(pid_t *ret_pids)
{
    size_t count = yarn_size_min(CROWD_A_CORE * session.nr_cpus, CROWD_MOST);
    for (size_t i = 0; i < count; i++) {
        ret_pids[i] = fork();
        ck_assert_int_ge(ret_pids[i], 0);
        if (ret_pids[i])
            continue;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            __asm__ volatile("");
    }
    return count;
}

static void end_crowd(const pid_t *pids, size_t count)
{
    for (size_t i = 0; i < count; i++)
        kill(pids[i], SIGKILL);
    for (size_t i = 0; i < count; i++)
        ck_assert_int_eq(waitpid(pids[i], NULL, 0), pids[i]);
}

START_TEST(events_go_to_larger_rings_when_few_wait_for_a_core)
{
    static pid_t pids[CROWD_MOST];
    if (session.nr_cpus > CROWD_MOST / CROWD_A_CORE) {
        printf("skipped: so many cores that no crowd fills them\n");
        return;
    }
    size_t count = begin_crowd(pids);
    ck_assert_uint_gt(yarn_process_nr_runnable(), 8 * session.nr_cpus);
    yarn_session_enable(&session);
    uint64_t end_ns = yarn_clock_ns(YARN_TIME_MONOTONIC) + YARN_NS_PER_SECOND / 2;
    for (int i = 0;
         i < DRAINS_MAX && (nr_samples < ENOUGH || yarn_clock_ns(YARN_TIME_MONOTONIC) < end_ns);
         i++)
        drain();
    ck_assert(session.growth.is_moving);
    ck_assert_uint_eq(session.growth.next, 0);
    end_crowd(pids, count);
    drain_until_grown();
    ck_assert_uint_gt(session.growth.next, 0);
}
END_TEST

/* Before there are samples enough. */
START_TEST(rings_grow_at_once_where_the_crowd_may_be_the_hosts)
{
    static pid_t pids[CROWD_MOST];
    if (session.nr_cpus > CROWD_MOST / CROWD_A_CORE) {
        printf("skipped: so many cores that no crowd fills them\n");
        return;
    }
    atomic_store(&is_over, true);
    session.nr_births = 8 * session.nr_cpus + 1;
    size_t count = begin_crowd(pids);
    yarn_session_enable(&session);
    drain();
    bool is_moving = session.growth.is_moving, has_long_turns = session.crowd.has_long_turns;
    end_crowd(pids, count);
    ck_assert(is_moving);
    ck_assert(has_long_turns);
    session.nr_births = 0; /* others may be a crowd, still */
    drain();
    ck_assert(!session.crowd.has_long_turns);
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
    tcase_add_test(tests, rings_grow_once_there_are_samples_and_events_stay_the_same);
    tcase_add_test(tests, rings_grow_to_what_fits_beside_the_former);
    tcase_add_test(tests, without_memory_for_both_rings_stay_and_are_filled_more_slowly);
    tcase_add_test(tests, rings_of_who_does_nothing_stay);
    tcase_add_test(tests, events_go_to_larger_rings_when_few_wait_for_a_core);
    tcase_add_test(tests, rings_grow_at_once_where_the_crowd_may_be_the_hosts);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
