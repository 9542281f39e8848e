/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <time.h>

#include "core/sys/clock.h"
#include "tests/support/suite.h"

static const struct {
    enum yarn_time_source source;
    clockid_t id;
} rows[] = {
    {YARN_TIME_MONOTONIC, CLOCK_MONOTONIC},
    {YARN_TIME_MONOTONIC_RAW, CLOCK_MONOTONIC_RAW},
    {YARN_TIME_BOOTTIME, CLOCK_BOOTTIME},
    {YARN_TIME_REALTIME, CLOCK_REALTIME},
    {YARN_TIME_THREAD_CPU, CLOCK_THREAD_CPUTIME_ID},
    {YARN_TIME_PROCESS_CPU, CLOCK_PROCESS_CPUTIME_ID},
};
_Static_assert(YARN_COUNT_OF(rows) == YARN_TIME_COUNT, "a row for each clock");

static uint64_t libc_ns(clockid_t id)
{
    struct timespec now;
    ck_assert_int_eq(clock_gettime(id, &now), 0);
    return (uint64_t)now.tv_sec * YARN_NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

START_TEST(clock_tells_the_time_of_its_source)
{
    uint64_t before = libc_ns(rows[_i].id);
    uint64_t now = yarn_clock_ns(rows[_i].source);
    uint64_t after = libc_ns(rows[_i].id);
    ck_assert_uint_ne(now, 0);
    ck_assert_uint_le(before, now);
    ck_assert_uint_le(now, after);
}
END_TEST

START_TEST(clock_leaves_errno_alone)
{
    errno = 1234;
    ck_assert_uint_ne(yarn_clock_ns(YARN_TIME_MONOTONIC), 0);
    ck_assert_int_eq(errno, 1234);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("clock");
    TCase *tcase = tcase_create("clocks");
    tcase_add_loop_test(tcase, clock_tells_the_time_of_its_source, 0, YARN_TIME_COUNT);
    tcase_add_test(tcase, clock_leaves_errno_alone);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
