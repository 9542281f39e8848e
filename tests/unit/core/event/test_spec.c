/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <linux/perf_event.h>
#include <stdio.h>

#include "core/event/catalog.h"
#include "core/event/parse.h"
#include "tests/support/suite.h"

static struct yarn_arena arena;

static void set_up(void)
{
    arena = YARN_ARENA_CLOSED;
    yarn_arena_open(&arena, YARN_KIB(64));
}

static void tear_down(void)
{
    yarn_arena_close(&arena);
}

static struct yarn_event_spec parse_one(const char *text)
{
    static struct yarn_event_list list;
    struct yarn_parse_error error;
    ck_assert_int_eq(yarn_event_list_parse(text, strlen(text), &arena, &list, &error), 0);
    ck_assert_uint_eq(list.count, 1);
    return list.specs[0];
}

static const struct {
    const char *text;
    uint64_t frequency_hz;
    uint64_t period, frequency;
} rates[] = {
    {"cpu-clock", 999, 1001001, 0},
    {"task-clock", 4999, 200040, 0},
    {"cpu-clock", 100000, 10000, 0},
    {"cpu-clock/freq=100/", 999, 10000000, 0},
    {"cpu-clock/period=20000/", 999, 20000, 0},
    {"cycles", 999, 0, 999},
    {"cycles/freq=99/", 999, 0, 99},
    {"cycles/period=5/", 999, 5, 0},
    {"page-faults", 999, 0, 999},
    {"context-switches", 999, 1, 0},
    {"context-switches/freq=50/", 999, 0, 50},
    {"cpu-migrations", 999, 0, 999},
    {"LLC-misses", 4999, 0, 4999},
    {"r1", 4999, 0, 4999},
};

START_TEST(the_rate_is_its_own_or_the_default_of_its_kind)
{
    struct yarn_event_spec spec = parse_one(rates[_i].text);
    for (int twice = 0; twice < 2; twice++) {
        yarn_event_spec_apply_rate(&spec, rates[_i].frequency_hz);
        ck_assert_uint_eq(spec.period, rates[_i].period);
        ck_assert_uint_eq(spec.frequency, rates[_i].frequency);
    }
}
END_TEST

START_TEST(auto_is_cycles_until_it_falls_back_to_the_clock)
{
    struct yarn_event_spec spec = parse_one("auto");
    ck_assert(spec.is_auto);
    ck_assert_str_eq(spec.name, "cycles");
    ck_assert_str_eq(spec.asked, "auto");
    yarn_event_spec_apply_rate(&spec, 1000);
    ck_assert_uint_eq(spec.frequency, 1000);
    yarn_event_spec_fall_back(&spec);
    yarn_event_spec_apply_rate(&spec, 1000);
    ck_assert(!spec.is_auto && spec.is_clock && !spec.exclude_kernel);
    ck_assert_int_eq(spec.kind, YARN_EVENT_CLOCK);
    ck_assert_uint_eq(spec.type, PERF_TYPE_SOFTWARE);
    ck_assert_uint_eq(spec.config, PERF_COUNT_SW_CPU_CLOCK);
    ck_assert_str_eq(spec.name, "cpu-clock");
    ck_assert_str_eq(spec.unit, "ns");
    ck_assert_uint_eq(spec.period, 1000000);
    ck_assert_uint_eq(spec.frequency, 0);
}
END_TEST

START_TEST(a_fallback_keeps_what_was_asked_for)
{
    struct yarn_event_spec spec = parse_one("auto/period=100/u");
    yarn_event_spec_fall_back(&spec);
    ck_assert_str_eq(spec.name, "cpu-clock:u");
    ck_assert_uint_eq(spec.period, YARN_CLOCK_PERIOD_MIN_NS);
    spec = parse_one("auto/name=mine/");
    yarn_event_spec_fall_back(&spec);
    ck_assert_str_eq(spec.name, "mine");
}
END_TEST

START_TEST(what_is_not_auto_does_not_fall_back)
{
    struct yarn_event_spec spec = parse_one("cycles");
    yarn_event_spec_fall_back(&spec);
    ck_assert_str_eq(spec.event, "cycles");
    ck_assert_int_eq(spec.kind, YARN_EVENT_HARDWARE);
}
END_TEST

static const char *const round_trips[] = {
    "cpu-clock",
    "cycles:uk",
    "cycles:kh",
    "cycles:uppp",
    "cycles:p",
    "page-faults/period=1/",
    "cycles/freq=99,call-graph=dwarf:8192/",
    "cycles/period=7,call-graph=none,name=mine/k",
    "cycles/name='uprobe:/a/b,c:d'/",
    "cycles/name=\"it's\"/u",
    "L1-dcache-load-misses:u",
    "r1c2/call-graph=fp/",
    "mem:counter+8/4:rw/period=7,branch=any|u/ukh",
    "cycles:pPIHSDeW",
    "uprobe:/lib/libc.so.6:malloc+4/filter='arg1 > 4096 && comm == \"a/b,c\"'/u",
    "msr/event=0x4,period=7/k",
    "msr//",
};

START_TEST(a_description_reads_back_as_the_same_spec)
{
    char buffer[256];
    struct yarn_text text = yarn_text_of(buffer, sizeof buffer);
    struct yarn_event_spec spec = parse_one(round_trips[_i]);
    yarn_event_spec_describe(&spec, &text);
    ck_assert_str_eq(buffer, round_trips[_i]);
}
END_TEST

START_TEST(names_of_probes_in_one_long_path_differ)
{
    const char *folder = "uprobe:/a-folder/a-folder/a-folder/a-folder/a-folder/a-folder/lib.so:";
    char one[128], two[128];
    (void)snprintf(one, sizeof one, "%sone:u", folder);
    (void)snprintf(two, sizeof two, "%stwo:u", folder);
    struct yarn_event_spec first = parse_one(one), second = parse_one(two);
    ck_assert_str_eq(first.name, "uprobe:…/a-folder/a-folder/a-folder/lib.so:one:u");
    ck_assert_str_ne(first.name, second.name);
}
END_TEST

START_TEST(precision_is_lowered_step_by_step)
{
    struct yarn_event_spec spec = parse_one("cycles:P"), software = parse_one("page-faults:pp");
    ck_assert_uint_eq(yarn_event_spec_precise(&spec), 3);
    for (unsigned left = 2; left < 3; left--) {
        ck_assert(yarn_event_spec_lower_precise(&spec));
        ck_assert_uint_eq(yarn_event_spec_precise(&spec), left);
    }
    ck_assert(!yarn_event_spec_lower_precise(&spec));
    ck_assert(!yarn_event_spec_lower_precise(&software));
}
END_TEST

START_TEST(every_entry_of_the_catalogue_is_found_by_name_and_alias)
{
    const struct yarn_catalog_entry *entry;
    size_t count;
    for (count = 0; (entry = yarn_catalog_at(count)); count++) {
        ck_assert_ptr_eq(yarn_catalog_find(yarn_span_of_text(entry->name)), entry);
        if (entry->alias)
            ck_assert_ptr_eq(yarn_catalog_find(yarn_span_of_text(entry->alias)), entry);
        ck_assert_str_eq(parse_one(entry->name).name, entry->name);
        ck_assert_int_gt((int)strlen(entry->help), 0);
    }
    ck_assert_uint_gt(count, 0);
    ck_assert_ptr_null(yarn_catalog_at(count + 1));
    ck_assert_ptr_null(yarn_catalog_find(YARN_SPAN_EMPTY));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("event spec");
    TCase *specs = tcase_create("specs out of lists");
    tcase_add_checked_fixture(specs, set_up, tear_down);
    tcase_add_loop_test(specs, the_rate_is_its_own_or_the_default_of_its_kind, 0,
                        YARN_COUNT_OF(rates));
    tcase_add_test(specs, auto_is_cycles_until_it_falls_back_to_the_clock);
    tcase_add_test(specs, a_fallback_keeps_what_was_asked_for);
    tcase_add_test(specs, what_is_not_auto_does_not_fall_back);
    tcase_add_loop_test(specs, a_description_reads_back_as_the_same_spec, 0,
                        YARN_COUNT_OF(round_trips));
    tcase_add_test(specs, names_of_probes_in_one_long_path_differ);
    tcase_add_test(specs, precision_is_lowered_step_by_step);
    tcase_add_test(specs, every_entry_of_the_catalogue_is_found_by_name_and_alias);
    suite_add_tcase(suite, specs);
    return run_suite(suite);
}
