/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "loaded.h"
#include "tests/support/suite.h"

static struct loaded loaded;
static struct dump_maker maker;

static void set_up(void)
{
    loaded_open(&loaded);
    dump_maker_open(&maker, loaded_path(&loaded, "a"), "app", 100);
}

static void tear_down(void)
{
    loaded_close(&loaded);
}

static void add_filtered(const char *name, const char *filter)
{
    struct yarn_dump_event event = {
        .number = 1,
        .name = yarn_span_of_text(name),
        .got = yarn_span_of_text(name),
        .unit = yarn_span_of_text("events"),
        .filter = yarn_span_of_text(filter),
        .period = 1,
    };
    uint32_t stack = dump_maker_stack(&maker, "main");
    yarn_dump_write_event(maker.writer, &event);
    dump_maker_sample_of(&maker, 1, 100, 0, stack, 1);
}

START_TEST(events_of_two_processes_with_two_filters_are_two)
{
    static const char *const filters[] = {"", "fd==1", "", "fd==1"};
    for (uint32_t i = 0; i < YARN_COUNT_OF(filters); i++) {
        const char name[] = {(char)('b' + i), 0};
        dump_maker_close(&maker, false);
        dump_maker_open(&maker, loaded_path(&loaded, name), "app", 100 + i);
        add_filtered("calls", filters[i]);
    }
    dump_maker_close(&maker, false);
    loaded_read(&loaded);
    const struct yarn_profile_event *events = loaded.profile.events;
    ck_assert_uint_eq(loaded.profile.nr_events, 3);
    ck_assert_str_eq(yarn_profile_text(&loaded.profile, events[1].name), "calls");
    ck_assert_str_eq(yarn_profile_text(&loaded.profile, events[2].name), "calls/filter='fd==1'/");
    ck_assert_uint_eq(events[1].total, 2);
    ck_assert_uint_eq(events[2].total, 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("events of several dumps");
    TCase *tcase = tcase_create("dumps in a folder");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, events_of_two_processes_with_two_filters_are_two);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
