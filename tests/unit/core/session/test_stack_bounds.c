/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <pthread.h>

#include "core/session/mappings.h"
#include "core/sys/clock.h"
#include "tests/support/suite.h"

#define STRESS_NS YARN_NS_PER_SECOND

static struct yarn_stack_bounds bounds;

static void set_up(void)
{
    yarn_stack_bounds_open(&bounds);
}

static void tear_down(void)
{
    yarn_stack_bounds_close(&bounds);
}

static void fill(const uint64_t (*ranges)[2], size_t count)
{
    yarn_stack_bounds_begin(&bounds);
    for (size_t i = 0; i < count; i++)
        yarn_stack_bounds_add(&bounds, ranges[i][0], ranges[i][1]);
    yarn_stack_bounds_end(&bounds);
}

START_TEST(nothing_is_found_in_an_empty_table)
{
    ck_assert_uint_eq(yarn_stack_bounds_find(&bounds, 0), 0);
    ck_assert_uint_eq(yarn_stack_bounds_find(&bounds, UINT64_MAX), 0);
}
END_TEST

static const uint64_t three[][2] = {{0x1000, 0x3000}, {0x3000, 0x4000}, {0x8000, 0x9000}};

static const struct {
    uint64_t address, end;
} looks[] = {
    {0xfff, 0},  {0x1000, 0x3000}, {0x2fff, 0x3000}, {0x3000, 0x4000}, {0x3fff, 0x4000},
    {0x4000, 0}, {0x7fff, 0},      {0x8000, 0x9000}, {0x8fff, 0x9000}, {0x9000, 0},
};

START_TEST(end_is_that_of_the_one_range_that_holds_the_address)
{
    fill(three, YARN_COUNT_OF(three));
    ck_assert_uint_eq(yarn_stack_bounds_find(&bounds, looks[_i].address), looks[_i].end);
}
END_TEST

START_TEST(a_table_is_replaced_whole)
{
    static const uint64_t other[][2] = {{0x5000, 0x6000}};
    fill(three, YARN_COUNT_OF(three));
    fill(other, YARN_COUNT_OF(other));
    ck_assert_uint_eq(yarn_stack_bounds_find(&bounds, 0x1000), 0);
    ck_assert_uint_eq(yarn_stack_bounds_find(&bounds, 0x5000), 0x6000);
}
END_TEST

START_TEST(a_table_counts_only_when_it_is_whole)
{
    fill(three, YARN_COUNT_OF(three));
    yarn_stack_bounds_begin(&bounds);
    yarn_stack_bounds_add(&bounds, 0x5000, 0x6000);
    ck_assert_uint_eq(yarn_stack_bounds_find(&bounds, 0x1000), 0x3000);
    ck_assert_uint_eq(yarn_stack_bounds_find(&bounds, 0x5000), 0);
}
END_TEST

static _Atomic bool is_over;

enum { MIDDLE = 0x100000, RANGES = 64 };

/* Tables of different lengths that all hold MIDDLE, with one of two ends. */
static void *replace_on(void *unused)
{
    (void)unused;
    for (uint64_t round = 0; !atomic_load(&is_over); round++) {
        yarn_stack_bounds_begin(&bounds);
        for (uint64_t i = 0; i < round % RANGES; i++)
            yarn_stack_bounds_add(&bounds, i * 16, i * 16 + 8);
        yarn_stack_bounds_add(&bounds, MIDDLE - 8, MIDDLE + 8 + round % 2 * 8);
        yarn_stack_bounds_end(&bounds);
    }
    return NULL;
}

START_TEST(a_look_up_that_is_overtaken_never_sees_a_mixture)
{
    pthread_t writer;
    static const uint64_t first[][2] = {{MIDDLE - 8, MIDDLE + 8}};
    uint64_t nr_unknown = 0, nr_looks = 0;
    fill(first, 1);
    atomic_store(&is_over, false);
    ck_assert_int_eq(pthread_create(&writer, NULL, replace_on, NULL), 0);
    uint64_t end_ns = yarn_clock_ns(YARN_TIME_MONOTONIC) + STRESS_NS;
    for (; yarn_clock_ns(YARN_TIME_MONOTONIC) < end_ns; nr_looks++) {
        uint64_t end = yarn_stack_bounds_find(&bounds, MIDDLE);
        ck_assert(end == 0 || end == MIDDLE + 8 || end == MIDDLE + 16);
        nr_unknown += end == 0;
    }
    atomic_store(&is_over, true);
    pthread_join(writer, NULL);
    /* It gives up after some tries: seldom, with a writer that does nothing else. */
    ck_assert_uint_lt(nr_unknown, nr_looks / 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stack bounds");
    TCase *tables = tcase_create("tables");
    tcase_add_checked_fixture(tables, set_up, tear_down);
    tcase_add_test(tables, nothing_is_found_in_an_empty_table);
    tcase_add_loop_test(tables, end_is_that_of_the_one_range_that_holds_the_address, 0,
                        YARN_COUNT_OF(looks));
    tcase_add_test(tables, a_table_is_replaced_whole);
    tcase_add_test(tables, a_table_counts_only_when_it_is_whole);
    tcase_set_timeout(tables, 60);
    tcase_add_test(tables, a_look_up_that_is_overtaken_never_sees_a_mixture);
    suite_add_tcase(suite, tables);
    return run_suite(suite);
}
