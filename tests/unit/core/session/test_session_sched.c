/* SPDX-License-Identifier: Apache-2.0 */
/* Tracepoints of YARN_SCHED on a kernel that permits some of them. The test is the reader; a thread
 * of it stands for the host. */
#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "core/session/session.h"
#include "tests/support/fake_perf.h"
#include "tests/support/suite.h"

enum { CLOCK, SWITCH, NR_EVENTS, EVERY_THREAD = -1 };

static struct yarn_event_spec events[NR_EVENTS];
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
    events[CLOCK] = (struct yarn_event_spec){
        .name = "cpu-clock",
        .asked = "cpu-clock",
        .event = "cpu-clock",
        .unit = "ns",
        .kind = YARN_EVENT_CLOCK,
        .type = PERF_TYPE_SOFTWARE,
        .period = 1000000,
        .scale = 1,
        .is_clock = true,
    };
    events[SWITCH] = (struct yarn_event_spec){
        .name = "sched:sched_switch",
        .asked = "sched:sched_switch",
        .event = "sched:sched_switch",
        .unit = "events",
        .kind = YARN_EVENT_TRACEPOINT,
        .type = PERF_TYPE_TRACEPOINT,
        .config = 372,
        .period = 1,
        .scale = 1,
        .is_in_kernel = true,
        .is_scheduling = true,
        .is_of_machine = true,
    };
    request = (struct yarn_session_request){
        .events = events,
        .nr_events = NR_EVENTS,
        .sampler = YARN_SAMPLER_PERF,
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

/* But for the one that is held, disabled, on the reader. */
static size_t nr_open(bool is_of_machine)
{
    size_t count = 0;
    for (const struct fake_perf_event *event = NULL; (event = fake_perf_next(event));)
        count += event->attr.type == PERF_TYPE_TRACEPOINT && event->tid &&
                 (event->tid == EVERY_THREAD) == is_of_machine;
    return count;
}

static int refuse_machine(const struct fake_perf_event *event)
{
    return event->tid == EVERY_THREAD ? -EACCES : 0;
}

static int refuse_tracepoints(const struct fake_perf_event *event)
{
    return event->attr.type == PERF_TYPE_TRACEPOINT ? -EACCES : 0;
}

static void expect(enum yarn_sched_kind asked, enum yarn_sched_kind got, const char *reason)
{
    const char *why;
    struct yarn_sched sched = {.kind = asked};
    ck_assert_int_eq(yarn_session_sched(&session, &sched, &why).kind, got);
    ck_assert_int_eq(why != NULL, reason != NULL);
    if (reason)
        ck_assert_msg(strstr(why, reason), "%s", why);
}

START_TEST(whole_machine_is_one_event_a_core_and_no_thread_inherits_it)
{
    ck_assert_int_eq(yarn_session_open(&session, &request), 0);
    ck_assert_uint_eq(nr_open(true), session.nr_cores);
    ck_assert_uint_eq(nr_open(false), 0);
    for (const struct fake_perf_event *event = NULL; (event = fake_perf_next(event));) {
        if (!event->tid)
            continue;
        ck_assert_int_eq(event->attr.inherit, event->tid != EVERY_THREAD);
        ck_assert_int_eq(event->attr.mmap, event->tid != EVERY_THREAD);
    }
    expect(YARN_SCHED_TRACEPOINTS_ALL, YARN_SCHED_TRACEPOINTS_ALL, NULL);
}
END_TEST

START_TEST(auto_takes_own_threads_where_the_machine_is_refused)
{
    fake_perf_judge = refuse_machine;
    events[SWITCH].is_if_permitted = true;
    ck_assert_int_eq(yarn_session_open(&session, &request), 0);
    ck_assert_int_eq(session.statuses[SWITCH].error, 0);
    ck_assert_uint_eq(nr_open(true), 0);
    ck_assert_uint_eq(nr_open(false), session.nr_cores * session.report.nr_threads);
    expect(YARN_SCHED_AUTO, YARN_SCHED_TRACEPOINTS, "CAP_PERFMON or kernel.perf_event_paranoid");
}
END_TEST

START_TEST(a_refusal_names_the_right_that_lacks)
{
    fake_perf_judge = refuse_tracepoints;
    ck_assert_int_eq(yarn_session_open(&session, &request), 0);
    ck_assert_int_eq(session.statuses[SWITCH].error, EACCES);
    ck_assert_int_eq(session.statuses[CLOCK].error, 0);
    expect(YARN_SCHED_TRACEPOINTS, YARN_SCHED_OFF, "CAP_PERFMON or kernel.perf_event_paranoid");
}
END_TEST

START_TEST(one_process_of_a_tree_has_the_machine)
{
    request.machine_refusal = "another one has it";
    ck_assert_int_eq(yarn_session_open(&session, &request), 0);
    ck_assert_uint_eq(nr_open(true) + nr_open(false), 0);
    expect(YARN_SCHED_TRACEPOINTS_ALL, YARN_SCHED_OFF, "another one has it");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tracepoints of YARN_SCHED");
    TCase *tcase = tcase_create("opened");
    tcase_add_checked_fixture(tcase, begin, end);
    tcase_add_test(tcase, whole_machine_is_one_event_a_core_and_no_thread_inherits_it);
    tcase_add_test(tcase, auto_takes_own_threads_where_the_machine_is_refused);
    tcase_add_test(tcase, a_refusal_names_the_right_that_lacks);
    tcase_add_test(tcase, one_process_of_a_tree_has_the_machine);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
