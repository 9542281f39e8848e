/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdlib.h>

#include "output/export/page/slices.h"
#include "tests/support/suite.h"

enum { BOUND = 1 << 14 };

static struct yarn_slices slices;
static struct yarn_filter filter;
static struct yarn_profile profile;

static void set_up(void)
{
    filter = (struct yarn_filter){0};
    ck_assert_int_eq(yarn_profile_init(&profile), 0);
    profile.start_ns = 1000 * YARN_NS_PER_SECOND;
    yarn_slices_init(&slices, &filter);
}

static void set_up_crowded(void)
{
    set_up();
    slices.bound = slices.most_cells = BOUND;
}

static void tear_down(void)
{
    yarn_slices_fini(&slices);
    yarn_profile_fini(&profile);
}

static void take_of(uint32_t thread, uint64_t after_ns, uint32_t stack)
{
    struct yarn_timeline_entry entry = {
        .time_ns = profile.start_ns + after_ns,
        .weight = 5,
        .stack = stack,
        .thread = thread,
    };
    ck_assert_int_eq(yarn_slices_take(&slices, &profile, &entry), 0);
}

static void take(uint64_t after_ns, uint32_t stack)
{
    take_of(0, after_ns, stack);
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

/* Threads 0 to 29 are of one process, then 30 more of the next; their names are in turn. */
static void add_threads(size_t count)
{
    static const char *const names[] = {"reader", "writer", "main"};
    profile.threads = calloc(count, sizeof *profile.threads);
    profile.nr_dumps = (count + 29) / 30;
    profile.dumps = calloc(profile.nr_dumps, sizeof *profile.dumps);
    ck_assert(profile.threads && profile.dumps);
    for (; profile.nr_threads < count; profile.nr_threads++) {
        struct yarn_profile_thread *thread = &profile.threads[profile.nr_threads];
        const char *name = names[profile.nr_threads % 3];
        thread->dump = (uint32_t)profile.nr_threads / 30;
        ck_assert_int_eq(
            yarn_strings_intern(&profile.strings, yarn_span_of_text(name), &thread->comm), 0);
    }
}

/* Of all threads in turn, all stacks of each, 66 s long. */
static void take_many(uint32_t samples, uint32_t nr_stacks)
{
    for (uint32_t i = 0; i < samples; i++) {
        uint32_t thread = (uint32_t)(i % profile.nr_threads);
        take_of(thread, i * 66 * YARN_NS_PER_SECOND / samples,
                (uint32_t)(i / profile.nr_threads) % nr_stacks);
        if (i % 64 == 0)
            ck_assert_uint_le(slices.cells.count, yarn_size_max(BOUND, 2 * (size_t)nr_stacks));
    }
}

static uint64_t samples_of_lane(const char *name)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < slices.cells.count; i++) {
        const struct yarn_cell *cell = &slices.cells.cells[i];
        if (strcmp(yarn_profile_text(&profile, profile.threads[cell->thread].comm), name) == 0)
            sum += cell->samples;
    }
    return sum;
}

START_TEST(too_many_cells_make_slices_wider_and_threads_of_one_name_a_lane)
{
    add_threads(90);
    take_many(90000, 5);
    ck_assert_int_eq(slices.lanes.kind, YARN_LANES_NAMES);
    ck_assert_uint_ge(slices.count, 256);
    for (size_t i = 0; i < slices.cells.count; i++)
        ck_assert_uint_lt(slices.cells.cells[i].thread, 3);
    (void)begin_of(0, 90000);
    ck_assert_uint_eq(samples_of_lane("reader"), 30000);
    ck_assert_uint_eq(samples_of_lane("writer"), 30000);
    ck_assert_uint_eq(samples_of_lane("main"), 30000);
}
END_TEST

/* Of other programs, say: joined they would have as many cells. */
START_TEST(threads_that_share_no_stacks_keep_their_lanes)
{
    add_threads(90);
    for (uint32_t i = 0; i < 90000; i++)
        take_of(i % 90, i * 66 * YARN_NS_PER_SECOND / 90000, i % 90 * 2 + i / 90 % 2);
    ck_assert_int_eq(slices.lanes.kind, YARN_LANES_THREADS);
    ck_assert_uint_ge(slices.count, 4);
    ck_assert_uint_le(slices.count, 64);
    (void)begin_of(0, 90000);
}
END_TEST

START_TEST(threads_are_joined_only_when_the_filter_is_sure_of_them)
{
    filter.lists[YARN_FILTER_THREAD] = "reader";
    add_threads(90);
    take_many(90000, 2);
    ck_assert_int_eq(slices.lanes.kind, YARN_LANES_NAMES);
    ck_assert_uint_eq(yarn_lanes_first(&slices.lanes, 57), 0);
    ck_assert_uint_eq(yarn_lanes_first(&slices.lanes, 58), YARN_DUMP_NONE);
    ck_assert_uint_eq(yarn_lanes_first(&slices.lanes, 60), 60);
    ck_assert_uint_eq(yarn_lanes_first(&slices.lanes, 61), 61);
    ck_assert_uint_eq(samples_of_lane("reader"), 30000);
    ck_assert_int_eq(yarn_slices_finish(&slices, &profile, 0), 0);
    ck_assert_uint_eq(yarn_lanes_first(&slices.lanes, 60), 0);
    (void)begin_of(0, 30000);
}
END_TEST

START_TEST(threads_that_come_later_are_of_the_lanes_that_there_are)
{
    add_threads(90);
    take_many(90000, 5);
    profile.threads[89].comm = profile.threads[0].comm;
    slices.lanes.count = 89;
    take_of(89, 0, 3);
    ck_assert_uint_eq(yarn_lanes_first(&slices.lanes, 89), 0);
    (void)begin_of(0, 90001);
}
END_TEST

START_TEST(at_last_all_threads_are_one_lane)
{
    add_threads(3);
    take_many(100000, 2000);
    ck_assert_int_eq(slices.lanes.kind, YARN_LANES_ALL);
    (void)begin_of(0, 100000);
}
END_TEST

START_TEST(many_stacks_may_have_twice_as_many_cells)
{
    add_threads(1);
    take_many(40000, 20000);
    ck_assert_uint_eq(slices.cells.count, 40000);
    ck_assert_uint_gt(slices.count, 512);
    take_many(40000, 20000);
    (void)begin_of(0, 80000);
    ck_assert_uint_lt(slices.count, 512);
}
END_TEST

START_TEST(coarsening_keeps_time_and_weight)
{
    for (uint32_t i = 0; i < 100; i++)
        take(i * UINT64_C(1000003), i);
    unsigned shift = slices.shift + 3;
    ck_assert_int_eq(yarn_slices_finish(&slices, &profile, shift), 0);
    ck_assert_uint_eq(slices.shift, shift);
    for (uint32_t i = 0; i < 100; i++)
        assert_about(begin_of(i, 100), i * UINT64_C(1000003));
    ck_assert_int_eq(yarn_slices_finish(&slices, &profile, 0), 0);
    ck_assert_uint_eq(slices.shift, shift);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("slices of time");
    TCase *tcase = tcase_create("samples come");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, samples_of_one_slice_are_one_cell);
    tcase_add_test(tcase, a_longer_recording_has_wider_slices_and_no_more_of_them);
    tcase_add_test(tcase, samples_may_come_backwards_and_from_before_the_start);
    tcase_add_test(tcase, clocks_far_apart_fit_too);
    tcase_add_test(tcase, coarsening_keeps_time_and_weight);
    suite_add_tcase(suite, tcase);

    tcase = tcase_create("more cells come than there is room for");
    tcase_add_checked_fixture(tcase, set_up_crowded, tear_down);
    tcase_add_test(tcase, too_many_cells_make_slices_wider_and_threads_of_one_name_a_lane);
    tcase_add_test(tcase, threads_that_share_no_stacks_keep_their_lanes);
    tcase_add_test(tcase, threads_are_joined_only_when_the_filter_is_sure_of_them);
    tcase_add_test(tcase, threads_that_come_later_are_of_the_lanes_that_there_are);
    tcase_add_test(tcase, at_last_all_threads_are_one_lane);
    tcase_add_test(tcase, many_stacks_may_have_twice_as_many_cells);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
