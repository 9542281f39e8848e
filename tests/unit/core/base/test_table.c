/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "core/base/pages.h"
#include "core/base/table.h"
#include "tests/support/suite.h"

static struct yarn_table table;

static void set_up(void)
{
    table = YARN_TABLE_CLOSED;
    ck_assert_int_eq(yarn_table_open(&table, 16, 1 << 16), 0);
}

static void tear_down(void)
{
    yarn_table_close(&table);
}

START_TEST(keys_of_all_kinds_are_found_again)
{
    static const uint64_t keys[] = {0, 1, 16, 32, UINT64_MAX, UINT64_C(1) << 63};
    for (uint32_t i = 0; i < YARN_COUNT_OF(keys); i++)
        ck_assert_int_eq(yarn_table_put(&table, keys[i], i), 0);
    for (uint32_t i = 0; i < YARN_COUNT_OF(keys); i++)
        ck_assert_uint_eq(yarn_table_find(&table, keys[i]), i);
    ck_assert_uint_eq(yarn_table_find(&table, 2), YARN_TABLE_NONE);
    ck_assert_uint_eq(table.count, YARN_COUNT_OF(keys));
}
END_TEST

START_TEST(a_second_value_replaces_the_first)
{
    ck_assert_int_eq(yarn_table_put(&table, 5, 1), 0);
    ck_assert_int_eq(yarn_table_put(&table, 5, 2), 0);
    ck_assert_uint_eq(yarn_table_find(&table, 5), 2);
    ck_assert_uint_eq(table.count, 1);
}
END_TEST

START_TEST(growing_keeps_every_key)
{
    for (uint32_t i = 0; i < 20000; i++)
        ck_assert_int_eq(yarn_table_put(&table, (uint64_t)i * 4096, i), 0);
    ck_assert_uint_eq(table.count, 20000);
    for (uint32_t i = 0; i < 20000; i++)
        ck_assert_uint_eq(yarn_table_find(&table, (uint64_t)i * 4096), i);
    ck_assert_uint_eq(yarn_table_find(&table, 1), YARN_TABLE_NONE);
}
END_TEST

START_TEST(a_full_table_says_so_and_still_finds)
{
    struct yarn_table small = YARN_TABLE_CLOSED;
    ck_assert_int_eq(yarn_table_open(&small, 16, 16), 0);
    uint32_t count = 0;
    int err;
    while (!(err = yarn_table_put(&small, count, count)))
        count++;
    ck_assert_int_eq(err, -ENOSPC);
    ck_assert_uint_ge(count, 8);
    ck_assert_uint_lt(count, 16);
    ck_assert_int_eq(yarn_table_put(&small, 0, 77), 0);
    ck_assert_uint_eq(yarn_table_find(&small, 0), 77);
    ck_assert_uint_eq(yarn_table_find(&small, count), YARN_TABLE_NONE);
    yarn_table_close(&small);
}
END_TEST

START_TEST(a_cleared_table_is_empty_and_usable)
{
    ck_assert_int_eq(yarn_table_put(&table, 1, 1), 0);
    yarn_table_clear(&table);
    ck_assert_uint_eq(yarn_table_find(&table, 1), YARN_TABLE_NONE);
    ck_assert_int_eq(yarn_table_put(&table, 1, 2), 0);
    ck_assert_uint_eq(yarn_table_find(&table, 1), 2);
    ck_assert_uint_eq(table.count, 1);
}
END_TEST

/* In a table so small that keys stand behind each other, and across its end. */
START_TEST(what_is_removed_is_gone_and_all_else_is_found)
{
    enum { KEYS = 24 };
    struct yarn_table small = YARN_TABLE_CLOSED;
    uint32_t values[KEYS];
    uint64_t random = 88172645463325252;
    memset(values, 0xff, sizeof values);
    ck_assert_int_eq(yarn_table_open(&small, 16, 16), 0);
    for (uint32_t round = 0; round < 2000; round++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        uint32_t key = (uint32_t)(random >> 32) % KEYS;
        if (small.count < 12 && random & 1) {
            ck_assert_int_eq(yarn_table_put(&small, key, round), 0);
            values[key] = round;
        } else {
            yarn_table_remove(&small, key);
            values[key] = YARN_TABLE_NONE;
        }
        size_t count = 0;
        for (uint32_t i = 0; i < KEYS; i++) {
            ck_assert_uint_eq(yarn_table_find(&small, i), values[i]);
            count += values[i] != YARN_TABLE_NONE;
        }
        ck_assert_uint_eq(small.count, count);
    }
    yarn_table_close(&small);
    yarn_table_remove(&small, 1);
}
END_TEST

START_TEST(a_closed_table_holds_nothing_and_takes_nothing)
{
    struct yarn_table closed = YARN_TABLE_CLOSED;
    size_t before = yarn_pages_total();
    ck_assert_uint_eq(yarn_table_find(&closed, 0), YARN_TABLE_NONE);
    ck_assert_int_lt(yarn_table_put(&closed, 0, 0), 0);
    yarn_table_clear(&closed);
    yarn_table_close(&closed);
    ck_assert_int_eq(yarn_table_open(&closed, 1000, 1), 0);
    ck_assert_uint_gt(yarn_pages_total(), before);
    yarn_table_close(&closed);
    ck_assert_uint_eq(yarn_pages_total(), before);
}
END_TEST

START_TEST(none_is_no_value)
{
    ck_assert_int_eq(yarn_table_put(&table, 1, YARN_TABLE_NONE), -EINVAL);
    ck_assert_uint_eq(table.count, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("table");
    TCase *tcase = tcase_create("a table of numbers");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, keys_of_all_kinds_are_found_again);
    tcase_add_test(tcase, a_second_value_replaces_the_first);
    tcase_add_test(tcase, growing_keeps_every_key);
    tcase_add_test(tcase, a_full_table_says_so_and_still_finds);
    tcase_add_test(tcase, a_cleared_table_is_empty_and_usable);
    tcase_add_test(tcase, what_is_removed_is_gone_and_all_else_is_found);
    tcase_add_test(tcase, a_closed_table_holds_nothing_and_takes_nothing);
    tcase_add_test(tcase, none_is_no_value);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
