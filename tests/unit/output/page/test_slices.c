/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdlib.h>

#include "output/export/page/slices.h"

static struct yarn_slices slices;
static struct yarn_profile profile;

static void set_up(void)
{
    profile = (struct yarn_profile){.start_ns = 1000 * YARN_NS_PER_SECOND};
    yarn_slices_init(&slices);
}

static void tear_down(void)
{
    yarn_slices_fini(&slices);
}

static void take(uint64_t after_ns, uint32_t stack)
{
    struct yarn_timeline_entry entry = {
        .time_ns = profile.start_ns + after_ns,
        .weight = 5,
        .stack = stack,
    };
    ck_assert_int_eq(yarn_slices_take(&slices, &profile, &entry), 0);
}

/* Checks the sums; when the cell with the stack begins, after the start. */
static uint64_t begin_of(uint32_t stack, uint64_t samples)
{
    uint64_t found = UINT64_MAX, sum = 0;
    for (size_t i = 0; i < slices.cells.count; i++) {
        const struct yarn_cell *cell = &slices.cells.cells[i];
        ck_assert_uint_lt(cell->cpu, slices.count);
        ck_assert_uint_eq(cell->weight, cell->samples * 5);
        sum += cell->samples;
        if (cell->stack == stack)
            found = (slices.base + cell->cpu) << slices.shift;
    }
    ck_assert_uint_eq(sum, samples);
    ck_assert_uint_ne(found, UINT64_MAX);
    return found - profile.start_ns;
}

/* A slice may begin before the start. */
static void assert_about(uint64_t got_ns, uint64_t want_ns)
{
    ck_assert_uint_lt(want_ns - got_ns, UINT64_C(1) << slices.shift);
}

START_TEST(samples_of_one_slice_are_one_cell)
{
    take(0, 1);
    take(10, 1);
    take(20, 2);
    ck_assert_uint_eq(slices.cells.count, 2);
    ck_assert_uint_eq(begin_of(1, 3), begin_of(2, 3));
}
END_TEST

START_TEST(a_longer_recording_has_wider_slices_and_no_more_of_them)
{
    for (uint32_t i = 0; i < 100000; i++)
        take(i * UINT64_C(10000000), i % 7);
    ck_assert_uint_le(slices.count, 4096);
    ck_assert_uint_ge(slices.count, 2000);
    assert_about(begin_of(99999 % 7, 100000), 99999 * UINT64_C(10000000));
}
END_TEST

START_TEST(samples_may_come_backwards_and_from_before_the_start)
{
    for (uint32_t i = 50; i-- > 0;)
        take(i * YARN_NS_PER_SECOND, i);
    for (uint32_t i = 0; i < 50; i++)
        assert_about(begin_of(i, 50), i * YARN_NS_PER_SECOND);
    ck_assert_uint_le(slices.count, 4096);
    profile.start_ns += 100 * YARN_NS_PER_SECOND;
    take(0, 77);
    assert_about(begin_of(77, 51), 0);
}
END_TEST

START_TEST(clocks_far_apart_fit_too)
{
    take(0, 1);
    profile.start_ns = 1;
    take(0, 2);
    profile.start_ns = UINT64_MAX / 2;
    take(0, 3);
    assert_about(begin_of(3, 3), 0);
    ck_assert_uint_eq(yarn_slices_first(&slices), 0);
}
END_TEST

START_TEST(many_cells_make_slices_wider_but_not_without_end)
{
    for (uint32_t i = 0; i < 3000000; i++)
        take(i * UINT64_C(66000), i % 1500000);
    ck_assert_uint_ge(slices.count, 512);
    ck_assert_uint_lt(slices.count, 1024);
}
END_TEST

START_TEST(coarsening_keeps_time_and_weight)
{
    for (uint32_t i = 0; i < 100; i++)
        take(i * UINT64_C(1000003), i);
    unsigned shift = slices.shift + 3;
    ck_assert_int_eq(yarn_slices_coarsen(&slices, shift), 0);
    ck_assert_uint_eq(slices.shift, shift);
    for (uint32_t i = 0; i < 100; i++)
        assert_about(begin_of(i, 100), i * UINT64_C(1000003));
    ck_assert_int_eq(yarn_slices_coarsen(&slices, 0), 0);
    ck_assert_uint_eq(slices.shift, shift);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("slices of time");
    TCase *tcase = tcase_create("samples come");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, samples_of_one_slice_are_one_cell);
    tcase_add_test(tcase, a_longer_recording_has_wider_slices_and_no_more_of_them);
    tcase_add_test(tcase, samples_may_come_backwards_and_from_before_the_start);
    tcase_add_test(tcase, clocks_far_apart_fit_too);
    tcase_add_test(tcase, many_cells_make_slices_wider_but_not_without_end);
    tcase_add_test(tcase, coarsening_keeps_time_and_weight);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
