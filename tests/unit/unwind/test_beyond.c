/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/sys/clock.h"
#include "tests/support/live_stack.h"
#include "tests/support/suite.h"

enum { TID = 1, SHORT = 4096, DEEP = 200, PAST_THE_BOUND = 8000 };

static struct yarn_module_map *map;
static struct yarn_unwinder *unwinder;
static struct yarn_live_stack whole, cut;
static struct yarn_frames frames, truth;
static uint64_t time_ns;

static void open_unwinder(enum yarn_unwinder_kind kind)
{
    int proc = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_ge(proc, 0);
    ck_assert_int_eq(yarn_module_map_new(&map, proc), 0);
    ck_assert_int_eq(yarn_module_map_read_proc(map, 0), 0);
    ck_assert_int_eq(yarn_unwinder_new(&unwinder, kind, map), 0);
}

static void open_ladder(void)
{
    open_unwinder(YARN_UNWIND_BY_LADDER);
}

static void open_libunwind(void)
{
    open_unwinder(YARN_UNWIND_BY_LIBUNWIND);
}

static void close_unwinder(void)
{
    yarn_unwinder_free(unwinder);
    yarn_module_map_free(map);
}

static bool look(void)
{
    return yarn_unwinder_look_beyond(unwinder, &cut.registers, &cut.stack, TID, time_ns, &frames);
}

static void take(void)
{
    yarn_live_stack_take(&cut, SHORT);
    whole = cut;
    yarn_live_stack_take(&whole, YARN_LIVE_STACK_MAX);
    time_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
}

/* What is done at the bottom of a stack that is deep in calls. */
typedef void (*action_fn)(void);

__attribute__((noinline)) static unsigned descend(unsigned depth, action_fn act)
{
    volatile unsigned below = 0;
    if (depth)
        below = descend(depth - 1, act);
    else
        act();
    return below + 1;
}

/* As deep, by other calls. */
__attribute__((noinline)) static unsigned descend_otherwise(unsigned depth, action_fn act)
{
    volatile unsigned below = 3;
    if (depth)
        below += descend_otherwise(depth - 1, act);
    else
        act();
    return below + 1;
}

static void take_and_look(void)
{
    take();
    ck_assert(look());
}

static void look_later(void)
{
    ck_assert(look());
}

/* The walk of the sample that was looked beyond. */
static bool walk(uint32_t tid, uint64_t at_ns)
{
    yarn_unwinder_unwind(unwinder, &cut.registers, &cut.stack, tid, &frames);
    ck_assert_int_eq(frames.end, YARN_UNWIND_TRUNCATED);
    return yarn_unwinder_join_beyond(unwinder, tid, at_ns, &frames);
}

static void assert_joined_truly(void)
{
    struct yarn_unwinder *oracle;
    ck_assert_int_eq(yarn_unwinder_new(&oracle, YARN_UNWIND_BY_LADDER, map), 0);
    yarn_unwinder_unwind(oracle, &whole.registers, &whole.stack, TID, &truth);
    yarn_unwinder_free(oracle);
    ck_assert_int_eq(truth.end, YARN_UNWIND_COMPLETE);
    ck_assert_int_eq(frames.end, YARN_UNWIND_JOINED);
    ck_assert_uint_eq(frames.count, truth.count);
    ck_assert_uint_gt(frames.first_joined, 1);
    ck_assert_uint_lt(frames.first_joined, frames.count);
    for (unsigned i = 2; i < frames.count; i++) /* the leaf and its call were twice */
        ck_assert_uint_eq(frames.frame[i].ip, truth.frame[i].ip);
}

START_TEST(what_lies_beyond_a_young_copy_is_read_and_joined)
{
    (void)descend(DEEP, take_and_look);
    ck_assert(walk(TID, time_ns));
    assert_joined_truly();
}
END_TEST

START_TEST(what_was_seen_joins_later_samples_of_the_same_frames)
{
    (void)descend(DEEP, take_and_look);
    ck_assert(walk(TID, time_ns));
    yarn_unwinder_unwind(unwinder, &cut.registers, &cut.stack, TID, &frames);
    assert_joined_truly();
    ck_assert(!look()); /* it is not looked at again */
}
END_TEST

START_TEST(it_is_for_that_sample_alone)
{
    (void)descend(DEEP, take_and_look);
    ck_assert(!walk(TID + 1, time_ns));
    ck_assert(!walk(TID, time_ns + 1));
    ck_assert(walk(TID, time_ns));
}
END_TEST

START_TEST(a_stack_that_went_on_is_not_believed)
{
    (void)descend(DEEP, take);
    (void)descend_otherwise(DEEP, look_later);
    ck_assert(!walk(TID, time_ns));
    ck_assert_uint_eq(frames.first_joined, frames.count);
}
END_TEST

START_TEST(a_whole_copy_is_not_looked_beyond)
{
    (void)descend(DEEP, take);
    cut = whole;
    ck_assert(!look());
}
END_TEST

static void look_at_next_to_nothing(void)
{
    take();
    cut.stack.first.size = 8;
    ck_assert(look());
}

START_TEST(without_a_call_inside_the_copy_nothing_is_believed)
{
    (void)descend(DEEP, look_at_next_to_nothing);
    ck_assert(!walk(TID, time_ns));
}
END_TEST

START_TEST(of_a_stack_past_the_bound_the_inner_part_is_learnt)
{
    (void)descend(PAST_THE_BOUND, take_and_look);
    ck_assert(!walk(TID, time_ns));
    ck_assert_int_eq(frames.end, YARN_UNWIND_TRUNCATED);
    ck_assert_uint_eq(frames.first_joined, frames.count);
}
END_TEST

static void walk_cut(void)
{
    yarn_unwinder_unwind(unwinder, &cut.registers, &cut.stack, TID, &frames);
    ck_assert_int_eq(frames.end, YARN_UNWIND_TRUNCATED);
}

static void look_back(void)
{
    yarn_unwinder_look_back(unwinder, &truth);
}

static void take_walk_and_look_back(void)
{
    take();
    walk_cut();
    look_back();
}

static void take_and_walk(void)
{
    take();
    walk_cut();
}

START_TEST(the_call_of_the_cut_frame_is_found_later)
{
    (void)descend(DEEP, take_walk_and_look_back);
    yarn_unwinder_unwind(unwinder, &cut.registers, &cut.stack, TID, &frames);
    assert_joined_truly();
}
END_TEST

START_TEST(the_call_of_another_function_is_not_taken_for_it)
{
    (void)descend(DEEP, take_and_walk);
    (void)descend_otherwise(DEEP, look_back);
    walk_cut();
    ck_assert_uint_eq(frames.first_joined, frames.count);
}
END_TEST

START_TEST(an_empty_copy_is_a_cut_one_and_is_joined)
{
    take();
    cut = whole;
    cut.stack.first = YARN_SPAN_EMPTY;
    walk_cut();
    ck_assert_uint_eq(frames.count, 1);
    yarn_unwinder_unwind(unwinder, &whole.registers, &whole.stack, TID, &frames);
    ck_assert_int_eq(frames.end, YARN_UNWIND_COMPLETE);
    unsigned count = frames.count;
    yarn_unwinder_unwind(unwinder, &cut.registers, &cut.stack, TID, &frames);
    ck_assert_int_eq(frames.end, YARN_UNWIND_JOINED);
    ck_assert_uint_eq(frames.first_joined, 1);
    ck_assert_uint_eq(frames.count, count);
}
END_TEST

static void add_tests(Suite *suite, const char *name, void (*open_engine)(void))
{
    TCase *tests = tcase_create(name);
    tcase_add_checked_fixture(tests, open_engine, close_unwinder);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, what_lies_beyond_a_young_copy_is_read_and_joined);
    tcase_add_test(tests, what_was_seen_joins_later_samples_of_the_same_frames);
    tcase_add_test(tests, it_is_for_that_sample_alone);
    tcase_add_test(tests, a_stack_that_went_on_is_not_believed);
    tcase_add_test(tests, a_whole_copy_is_not_looked_beyond);
    tcase_add_test(tests, without_a_call_inside_the_copy_nothing_is_believed);
    tcase_add_test(tests, of_a_stack_past_the_bound_the_inner_part_is_learnt);
    tcase_add_test(tests, the_call_of_the_cut_frame_is_found_later);
    tcase_add_test(tests, the_call_of_another_function_is_not_taken_for_it);
    tcase_add_test(tests, an_empty_copy_is_a_cut_one_and_is_joined);
    suite_add_tcase(suite, tests);
}

int main(void)
{
    Suite *suite = suite_create("beyond");
    add_tests(suite, "own stacks, own rules", open_ladder);
    add_tests(suite, "own stacks, libunwind", open_libunwind);
    return run_suite(suite);
}
