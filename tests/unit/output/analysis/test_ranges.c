/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "output/analysis/value/ranges.h"
#include "tests/support/suite.h"

static struct yarn_ranges ranges;

/* In this order, so that numbers do not follow addresses. */
static void fill(void)
{
    static const struct {
        uint64_t start, end;
        uint32_t what;
    } all[] = {
        {0x4000, 0x5000, 1}, /* apart */
        {0x1000, 0x3000, 2}, /* around the next two */
        {0x1800, 0x2000, 3},
        {0x2000, 0x2800, 4}, /* right behind it */
        {0x6000, 0x6100, 5}, /* twice the same */
        {0x6000, 0x6100, 6},
        {0, 0x9000, 7},      /* thrown away by the linker */
        {0x7000, 0x7000, 8}, /* empty */
        {0x8000, 0x7000, 9}, /* the wrong way round */
        {UINT64_MAX - 1, UINT64_MAX, 10},
    };
    for (size_t i = 0; i < YARN_COUNT_OF(all); i++)
        ck_assert_int_eq(yarn_ranges_add(&ranges, all[i].start, all[i].end, all[i].what), 0);
    yarn_ranges_sort(&ranges);
}

static void empty(void)
{
    yarn_ranges_fini(&ranges);
}

static const struct {
    uint64_t address;
    uint32_t want;
} rows[] = {
    {0, YARN_RANGES_NONE},
    {0xfff, YARN_RANGES_NONE},
    {0x1000, 2},
    {0x17ff, 2},
    {0x1800, 3},
    {0x1fff, 3},
    {0x2000, 4},
    {0x2800, 2},
    {0x2fff, 2},
    {0x3000, YARN_RANGES_NONE},
    {0x3fff, YARN_RANGES_NONE},
    {0x4000, 1},
    {0x4fff, 1},
    {0x5000, YARN_RANGES_NONE},
    {0x6000, 5},
    {0x60ff, 5},
    {0x7000, YARN_RANGES_NONE},
    {0x7800, YARN_RANGES_NONE},
    {UINT64_MAX - 2, YARN_RANGES_NONE},
    {UINT64_MAX - 1, 10},
    {UINT64_MAX, YARN_RANGES_NONE},
};

START_TEST(the_innermost_range_has_the_address)
{
    ck_assert_uint_eq(yarn_ranges_find(&ranges, rows[_i].address), rows[_i].want);
}
END_TEST

START_TEST(no_ranges_have_no_address)
{
    struct yarn_ranges none = {0};
    yarn_ranges_sort(&none);
    ck_assert_uint_eq(yarn_ranges_find(&none, 0x1000), YARN_RANGES_NONE);
    yarn_ranges_fini(&none);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ranges");
    TCase *some = tcase_create("some ranges");
    tcase_add_checked_fixture(some, fill, empty);
    tcase_add_loop_test(some, the_innermost_range_has_the_address, 0, YARN_COUNT_OF(rows));
    suite_add_tcase(suite, some);
    TCase *none = tcase_create("no ranges");
    tcase_add_test(none, no_ranges_have_no_address);
    suite_add_tcase(suite, none);
    return run_suite(suite);
}
