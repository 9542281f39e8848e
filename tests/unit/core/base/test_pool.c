/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "core/base/pages.h"
#include "core/base/pool.h"
#include "tests/support/suite.h"

static struct yarn_pool pool = {0};

START_TEST(items_are_zeroed_and_never_move)
{
    yarn_pool_open(&pool, 24, 100000);
    uint64_t *first = yarn_pool_add(&pool);
    ck_assert_ptr_nonnull(first);
    *first = 7;
    for (uint64_t i = 1; i < 5000; i++) {
        uint64_t *item = yarn_pool_add(&pool);
        ck_assert_uint_eq(*item, 0);
        *item = i;
    }
    ck_assert_ptr_eq(yarn_pool_at(&pool, 0), first);
    ck_assert_uint_eq(*first, 7);
    for (uint32_t i = 1; i < 5000; i++)
        ck_assert_uint_eq(*(uint64_t *)yarn_pool_at(&pool, i), i);
    ck_assert_ptr_null(yarn_pool_at(&pool, 5000));
    yarn_pool_close(&pool);
}
END_TEST

START_TEST(the_bound_is_reached_and_never_passed)
{
    yarn_pool_open(&pool, 8, 3);
    for (int i = 0; i < 3; i++)
        ck_assert_ptr_nonnull(yarn_pool_add(&pool));
    ck_assert_ptr_null(yarn_pool_add(&pool));
    ck_assert_uint_eq(pool.count, 3);
    yarn_pool_close(&pool);
}
END_TEST

START_TEST(an_item_may_be_bigger_than_a_chunk)
{
    yarn_pool_open(&pool, YARN_KIB(40), 10);
    char *first = yarn_pool_add(&pool);
    char *second = yarn_pool_add(&pool);
    ck_assert(first && second);
    memset(first, 1, YARN_KIB(40));
    ck_assert_int_eq(second[0], 0);
    ck_assert_int_eq(second[YARN_KIB(40) - 1], 0);
    yarn_pool_close(&pool);
}
END_TEST

START_TEST(a_close_gives_all_back_and_may_come_twice)
{
    size_t before = yarn_pages_total();
    yarn_pool_open(&pool, 8, 100000);
    ck_assert_uint_eq(yarn_pages_total(), before);
    for (int i = 0; i < 10000; i++)
        ck_assert_ptr_nonnull(yarn_pool_add(&pool));
    yarn_pool_close(&pool);
    yarn_pool_close(&pool);
    ck_assert_uint_eq(yarn_pages_total(), before);
    ck_assert_ptr_null(yarn_pool_add(&pool));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pool");
    TCase *tcase = tcase_create("items of one size");
    tcase_add_test(tcase, items_are_zeroed_and_never_move);
    tcase_add_test(tcase, the_bound_is_reached_and_never_passed);
    tcase_add_test(tcase, an_item_may_be_bigger_than_a_chunk);
    tcase_add_test(tcase, a_close_gives_all_back_and_may_come_twice);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
