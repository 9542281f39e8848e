/* SPDX-License-Identifier: Apache-2.0 */
/* A live stack by our own rules, on whatever machine this runs on. */
#include <check.h>
#include <fcntl.h>

#include "tests/support/live_stack.h"
#include "tests/support/suite.h"

enum { DEPTH = 200, SHORT = 2048 };

static struct yarn_live_stack live;
static struct yarn_frames frames;

__attribute__((noinline)) static unsigned descend(unsigned depth)
{
    volatile unsigned below = 0;
    if (depth)
        below = descend(depth - 1);
    else
        yarn_live_stack_take(&live, YARN_LIVE_STACK_MAX);
    return below + 1;
}

static unsigned frames_of_descend(void)
{
    unsigned count = 0;
    for (unsigned i = 0; i < frames.count; i++)
        count += frames.frame[i].lookup_ip - (uintptr_t)descend < 400;
    return count;
}

START_TEST(a_stack_is_walked_to_its_start_and_no_further_than_its_copy)
{
    struct yarn_module_map *map;
    struct yarn_unwinder *unwinder;
    ck_assert_int_eq(yarn_module_map_new(&map, &yarn_target_self, NULL), 0);
    ck_assert_int_eq(yarn_module_map_read_proc(map, 0), 0);
    ck_assert_int_eq(yarn_unwinder_new(&unwinder, YARN_UNWINDER_AUTO, map), 0);
    ck_assert_uint_eq(descend(DEPTH), DEPTH + 1);
    yarn_unwinder_unwind(unwinder, &live.registers, &live.stack, &frames);
    ck_assert_int_eq(frames.end, YARN_STACK_END_COMPLETE);
    ck_assert_uint_ge(frames_of_descend(), DEPTH);

    /* Nothing that was walked before is put in the place of what is missing. */
    live.stack.first.size = SHORT;
    yarn_unwinder_unwind(unwinder, &live.registers, &live.stack, &frames);
    ck_assert_int_eq(frames.end, YARN_STACK_END_CUT);
    ck_assert_uint_lt(frames_of_descend(), DEPTH);
    yarn_unwinder_free(unwinder);
    yarn_module_map_free(map);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("walk");
    TCase *tests = tcase_create("a live stack");
    tcase_add_test(tests, a_stack_is_walked_to_its_start_and_no_further_than_its_copy);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
