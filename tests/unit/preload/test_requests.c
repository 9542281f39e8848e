/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "preload/control/requests.h"
#include "tests/support/suite.h"

enum { ONE = 1, OTHER = 2, BOTH = ONE | OTHER };

static struct yarn_requests requests;

static bool is_done(const struct yarn_request *request)
{
    return yarn_requests_has_done(&requests, request);
}

START_TEST(what_is_put_is_done_when_its_round_has_ended)
{
    struct yarn_request request = yarn_requests_put(&requests, ONE, 0);
    ck_assert(!is_done(&request));
    ck_assert_uint_eq(yarn_requests_take(&requests), ONE);
    ck_assert(!is_done(&request));
    yarn_requests_finish(&requests);
    ck_assert(is_done(&request));
    ck_assert_uint_eq(yarn_requests_take(&requests), 0);
}
END_TEST

START_TEST(what_comes_during_a_round_is_not_done_by_it)
{
    struct yarn_request first = yarn_requests_put(&requests, ONE, 0);
    ck_assert_uint_eq(yarn_requests_take(&requests), ONE);
    struct yarn_request second = yarn_requests_put(&requests, ONE, 0);
    yarn_requests_finish(&requests);
    ck_assert(is_done(&first));
    ck_assert(!is_done(&second));
    ck_assert_uint_eq(yarn_requests_take(&requests), ONE);
    ck_assert(!is_done(&second));
    yarn_requests_finish(&requests);
    ck_assert(is_done(&second));
}
END_TEST

START_TEST(what_another_replaces_is_waited_for_by_nobody)
{
    struct yarn_request first = yarn_requests_put(&requests, ONE, BOTH);
    struct yarn_request second = yarn_requests_put(&requests, OTHER, BOTH);
    ck_assert(is_done(&first));
    ck_assert(!is_done(&second));
    ck_assert_uint_eq(yarn_requests_take(&requests), OTHER);
}
END_TEST

START_TEST(who_never_comes_back_keeps_nobody_waiting)
{
    yarn_requests_put(&requests, ONE, 0);
    struct yarn_request request = yarn_requests_put(&requests, OTHER, 0);
    ck_assert_uint_eq(yarn_requests_take(&requests), BOTH);
    yarn_requests_finish(&requests);
    ck_assert(is_done(&request));
}
END_TEST

START_TEST(rounds_are_counted_past_the_largest_number)
{
    atomic_store(&requests.begun, UINT32_MAX);
    atomic_store(&requests.done, UINT32_MAX);
    struct yarn_request request = yarn_requests_put(&requests, ONE, 0);
    yarn_requests_take(&requests);
    ck_assert(!is_done(&request));
    yarn_requests_finish(&requests);
    ck_assert(is_done(&request));
}
END_TEST

START_TEST(a_child_has_none_of_its_parents)
{
    yarn_requests_put(&requests, ONE, 0);
    yarn_requests_after_fork(&requests);
    ck_assert_uint_eq(yarn_requests_take(&requests), 0);
}
END_TEST

static void reset(void)
{
    yarn_requests_after_fork(&requests);
}

int main(void)
{
    Suite *suite = suite_create("requests");
    TCase *tcase = tcase_create("one reader");
    tcase_add_checked_fixture(tcase, reset, NULL);
    tcase_add_test(tcase, what_is_put_is_done_when_its_round_has_ended);
    tcase_add_test(tcase, what_comes_during_a_round_is_not_done_by_it);
    tcase_add_test(tcase, what_another_replaces_is_waited_for_by_nobody);
    tcase_add_test(tcase, who_never_comes_back_keeps_nobody_waiting);
    tcase_add_test(tcase, rounds_are_counted_past_the_largest_number);
    tcase_add_test(tcase, a_child_has_none_of_its_parents);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
