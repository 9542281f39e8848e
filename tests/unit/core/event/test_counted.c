/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "core/event/events.h"
#include "tests/support/suite.h"

static struct yarn_arena arena;
static struct yarn_event_list list, counted;

static void set_up(void)
{
    arena = YARN_ARENA_CLOSED;
    yarn_arena_open(&arena, YARN_KIB(64));
}

static void tear_down(void)
{
    yarn_arena_close(&arena);
}

static void parse(const char *text, struct yarn_event_list *ret_list)
{
    struct yarn_parse_error error;
    ck_assert_int_eq(yarn_event_list_parse(text, strlen(text), &arena, ret_list, &error), 0);
}

START_TEST(each_has_a_slow_clock_of_its_own_and_groups_stay_together)
{
    parse("cpu-clock,{page-faults,minor-faults}", &list);
    parse("page-faults,{task-clock,major-faults}", &counted);
    ck_assert_int_eq(yarn_event_list_add_counted(&list, &counted), 0);
    ck_assert_uint_eq(list.count, 3 + 2 + 3);
    const uint8_t groups[] = {0, 1, 1, 2, 2, 3, 3, 3};
    for (size_t i = 0; i < list.count; i++) {
        ck_assert_uint_eq(list.specs[i].group, groups[i]);
        ck_assert_int_eq(list.specs[i].is_counted, i >= 3);
        ck_assert_int_eq(list.specs[i].reads_group, i >= 3);
    }
    ck_assert_str_eq(list.specs[3].event, "task-clock");
    ck_assert_uint_eq(list.specs[3].frequency, YARN_COUNTED_HZ);
    ck_assert_str_eq(list.specs[4].event, "page-faults");
    ck_assert_int_eq(list.specs[4].callgraph.kind, YARN_CALLGRAPH_NONE);
}
END_TEST

START_TEST(what_does_not_fit_is_left_out_whole)
{
    parse("cs,cs,cs,cs,cs,cs,cs,cs,cs,cs,cs,cs,cs,cs,cs,cs", &list);
    counted = list;
    ck_assert_int_eq(yarn_event_list_add_counted(&list, &counted), -E2BIG);
    ck_assert_uint_eq(list.count, 16);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("counted events");
    TCase *lists = tcase_create("lists");
    tcase_add_checked_fixture(lists, set_up, tear_down);
    tcase_add_test(lists, each_has_a_slow_clock_of_its_own_and_groups_stay_together);
    tcase_add_test(lists, what_does_not_fit_is_left_out_whole);
    suite_add_tcase(suite, lists);
    return run_suite(suite);
}
