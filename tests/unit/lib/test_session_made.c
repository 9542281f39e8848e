/* SPDX-License-Identifier: Apache-2.0 */
/* A session of libyarn in a kernel that is made. */
#include <check.h>
#include <errno.h>
#include <string.h>
#include <yarn/session.h>

#include "tests/support/fake_perf.h"
#include "tests/support/suite.h"

/* The first repetition is after 2 ms, or as soon as a loaded machine lets the reader look. */
enum { TIMEOUT_MS = 10, READS_MOST = 100, FDS_MAX = 64 };

static void take(void *self, size_t event, const struct yarn_record *record)
{
    (void)self;
    (void)event;
    (void)record;
}

static struct yarn_session *open_session(const char *words)
{
    const struct yarn_listener listener = {.size = sizeof listener, .on_record = take};
    const struct yarn_session_spec spec = {
        .size = sizeof spec, .reader = YARN_READER_TIMED, .includes_caller = true};
    struct yarn_events *events = NULL;
    struct yarn_session *session = NULL;
    ck_assert_int_eq(yarn_events_parse(words, &events, NULL), 0);
    ck_assert_int_eq(yarn_session_new(events, &spec, &listener, &session), 0);
    yarn_events_free(events);
    ck_assert_int_eq(yarn_session_attach(session), 0);
    return session;
}

/* As where a thread inherits it at that very moment. */
static void miss(void)
{
    ck_assert(fake_perf_next(NULL)->is_enabled);
    for (int fd = 0; fd < FDS_MAX; fd++)
        yarn_perf_disable(fd);
    ck_assert(!fake_perf_next(NULL)->is_enabled);
}

START_TEST(a_start_that_an_event_missed_is_repeated)
{
    struct yarn_session *session = open_session("task-clock");
    ck_assert_int_eq(yarn_session_start(session), 0);
    miss();
    for (unsigned i = 0; i < READS_MOST && !fake_perf_next(NULL)->is_enabled; i++)
        ck_assert_int_eq(yarn_session_read(session, TIMEOUT_MS), 0);
    ck_assert(fake_perf_next(NULL)->is_enabled);
    yarn_session_free(session);
}
END_TEST

START_TEST(what_was_not_started_stays_so)
{
    struct yarn_session *session = open_session("task-clock");
    ck_assert_int_eq(yarn_session_read(session, TIMEOUT_MS), 0);
    ck_assert(!fake_perf_next(NULL)->is_enabled);
    yarn_session_free(session);
}
END_TEST

static int refuse_clock(const struct fake_perf_event *event)
{
    bool is_other =
        event->attr.type == PERF_TYPE_SOFTWARE && event->attr.config == PERF_COUNT_SW_PAGE_FAULTS;
    return is_other && event->attr.use_clockid ? -EINVAL : 0;
}

START_TEST(an_event_whose_pmu_has_another_clock_is_refused_by_its_sentence)
{
    const char *reason = NULL;
    fake_perf_judge = refuse_clock;
    struct yarn_session *session = open_session("task-clock,page-faults");
    ck_assert_int_eq(yarn_session_error(session, 0, &reason), 0);
    ck_assert_int_lt(yarn_session_error(session, 1, &reason), 0);
    ck_assert_ptr_nonnull(reason);
    ck_assert_ptr_nonnull(strstr(reason, "CLOCK_MONOTONIC"));
    yarn_session_free(session);
}
END_TEST

static int refuse_kernel(const struct fake_perf_event *event)
{
    bool is_faults =
        event->attr.type == PERF_TYPE_SOFTWARE && event->attr.config == PERF_COUNT_SW_PAGE_FAULTS;
    return is_faults && !event->attr.exclude_kernel ? -EACCES : 0;
}

START_TEST(an_event_of_the_user_s_part_alone_has_that_status_and_a_sentence)
{
    const char *reason = NULL;
    struct yarn_report report = {.size = sizeof report};
    fake_perf_judge = refuse_kernel;
    struct yarn_session *session = open_session("task-clock,page-faults");
    ck_assert_uint_eq(yarn_session_status(session, 0, &reason), 0);
    ck_assert_ptr_null(reason);
    ck_assert_int_eq(yarn_session_error(session, 1, NULL), 0);
    ck_assert_uint_eq(yarn_session_status(session, 1, &reason), YARN_EVENT_USER_ONLY);
    ck_assert_ptr_nonnull(strstr(reason, "user's part alone"));
    yarn_session_report(session, &report);
    ck_assert_ptr_nonnull(strstr(report.reason, "user's part alone"));
    ck_assert_uint_eq(yarn_session_status(session, 7, NULL), YARN_EVENT_REFUSED);
    ck_assert_uint_eq(yarn_session_status(NULL, 0, NULL), YARN_EVENT_REFUSED);
    yarn_session_free(session);
}
END_TEST

/* The sentence names an event of the session that is closed by then. */
START_TEST(a_report_keeps_its_reason_when_all_is_detached)
{
    struct yarn_report report = {.size = sizeof report};
    fake_perf_judge = refuse_clock;
    struct yarn_session *session = open_session("cpu-clock,{task-clock,page-faults}");
    ck_assert_int_eq(yarn_session_detach(session), 0);
    yarn_session_report(session, &report);
    ck_assert_ptr_nonnull(report.reason);
    ck_assert_ptr_nonnull(strstr(report.reason, "and page-faults was refused"));
    yarn_session_free(session);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("session_made");
    TCase *tcase = tcase_create("a kernel that is made");
    tcase_add_checked_fixture(tcase, fake_perf_reset, fake_perf_reset);
    tcase_add_test(tcase, a_start_that_an_event_missed_is_repeated);
    tcase_add_test(tcase, what_was_not_started_stays_so);
    tcase_add_test(tcase, an_event_whose_pmu_has_another_clock_is_refused_by_its_sentence);
    tcase_add_test(tcase, an_event_of_the_user_s_part_alone_has_that_status_and_a_sentence);
    tcase_add_test(tcase, a_report_keeps_its_reason_when_all_is_detached);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
