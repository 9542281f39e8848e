/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "core/event/encoded.h"
#include "core/event/parse.h"
#include "tests/support/suite.h"

static struct yarn_arena arena;
static struct yarn_event_list list;

static void set_up(void)
{
    arena = YARN_ARENA_CLOSED;
    yarn_arena_open(&arena, YARN_KIB(64));
}

static void tear_down(void)
{
    yarn_arena_close(&arena);
}

/* Where nobody can say that there is no such tracepoint. */
static void parse(const char *text)
{
    struct yarn_parse_error error;
    struct yarn_event_machine machine = yarn_event_machine_here;
    machine.tracing = "/nonexistent";
    ck_assert_int_eq(yarn_event_list_parse_on(&machine, text, strlen(text), &arena, &list, &error),
                     0);
}

/* Between bars. */
static const char *names(void)
{
    static char line[1024];
    struct yarn_text text = yarn_text_of(line, sizeof line);
    for (size_t i = 0; i < list.count; i++) {
        yarn_text_add(&text, i ? "|" : "");
        yarn_text_add(&text, list.specs[i].name);
    }
    return line;
}

static const struct {
    const char *text, *names;
} lists[] = {
    {"cpu-clock/freq=100/,task-clock/freq=100/", "cpu-clock|task-clock"},
    {"cpu-clock/freq=100/,cpu-clock/freq=1000/", "cpu-clock/freq=100/|cpu-clock/freq=1000/"},
    {"cpu-clock,cpu-clock/freq=1000/", "cpu-clock|cpu-clock/freq=1000/"},
    {"cpu-clock,cpu-clock,cpu-clock", "cpu-clock|cpu-clock #2|cpu-clock #3"},
    {"cpu-clock:u,cpu-clock/freq=9/u", "cpu-clock:u|cpu-clock/freq=9/u"},
    {"mem:x:x,mem:x:x/period=1/", "mem:x:x|mem:x:x/period=1/"},
    {"cs/name=a/,faults/name=a/,cs", "cs/name=a/|faults/name=a/|context-switches"},
    {"cs/name=a b/,faults/name=a b #2/,cs/name=a b/", "cs/name=a b/|a b #2|cs/name=a b/ #2"},
    {"auto,cpu-clock", "auto|cpu-clock"},
    {"auto/name=mine/,cpu-clock", "mine|cpu-clock"},
};

START_TEST(two_that_are_called_alike_get_what_tells_them_apart)
{
    parse(lists[_i].text);
    ck_assert_str_eq(names(), lists[_i].names);
    yarn_event_specs_tell_apart(list.specs, list.count);
    ck_assert_str_eq(names(), lists[_i].names);
}
END_TEST

START_TEST(a_name_that_tells_apart_outlives_the_fallback)
{
    parse("auto,cpu-clock");
    yarn_event_spec_fall_back(&list.specs[0]);
    ck_assert_str_eq(list.specs[0].event, "cpu-clock");
    ck_assert_str_eq(names(), "auto|cpu-clock");
}
END_TEST

START_TEST(a_long_name_is_cut_and_still_another)
{
    parse("cs/name=n01234567890123456789012345678901234567890123456789012345678901/,"
          "cs/name=n01234567890123456789012345678901234567890123456789012345678901/");
    ck_assert_str_ne(list.specs[0].name, list.specs[1].name);
    ck_assert_uint_lt(strlen(list.specs[1].name), YARN_EVENT_NAME_MAX);
    const char *name = list.specs[1].name;
    ck_assert_str_eq(name + strlen(name) - 3, " #2");
}
END_TEST

START_TEST(the_kinds_of_core_keep_one_name)
{
    parse("cycles,cycles");
    list.specs[0].item = list.specs[1].item = 0;
    yarn_event_spec_call(&list.specs[1], list.specs[0].name);
    yarn_event_specs_tell_apart(list.specs, list.count);
    ck_assert_str_eq(list.specs[0].name, list.specs[1].name);
}
END_TEST

/* As who has defined a probe writes it for who measures. */
static void encode(struct yarn_event_spec *spec)
{
    spec->is_encoded = true;
    spec->event = "made:p0";
    spec->kind = YARN_EVENT_TRACEPOINT;
    spec->has_own_name = true;
}

static const char *const probes[] = {
    "uprobe:/bin/x:main,cpu-clock",
    "cpu-clock, {uprobe:/bin/x:a,uprobe:/bin/x:b}:S",
    "uprobe:/bin/x:main/name='it'/,cs",
};

START_TEST(a_list_that_was_encoded_says_in_which_words_it_was_asked_for)
{
    char encoded[1024], decoded[1024];
    struct yarn_text text = yarn_text_of(encoded, sizeof encoded);
    struct yarn_text back = yarn_text_of(decoded, sizeof decoded);
    parse(probes[_i]);
    const char *asked = list.specs[0].asked;
    for (size_t i = 0; i < list.count; i++)
        if (list.specs[i].kind == YARN_EVENT_PROBE)
            encode(&list.specs[i]);
    yarn_event_list_encode(&list, probes[_i], &text);
    ck_assert_ptr_nonnull(strstr(encoded, "made:p0"));
    parse(encoded);
    ck_assert_str_eq(list.specs[0].asked, asked);
    yarn_event_list_decode(&list, encoded, &back);
    ck_assert_str_eq(decoded, probes[_i]);
}
END_TEST

START_TEST(the_events_of_a_pattern_are_one_in_the_words)
{
    char decoded[1024];
    struct yarn_text back = yarn_text_of(decoded, sizeof decoded);
    static const char text[] =
        "cs,made:p0/name=f1,asked='it''s'/,made:p1/name=f2,asked='it''s'/,cs";
    parse(text);
    ck_assert_str_eq(list.specs[2].asked, "it's");
    yarn_event_list_decode(&list, text, &back);
    ck_assert_str_eq(decoded, "cs,it's,cs");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("names of events");
    TCase *alike = tcase_create("lists with events that are called alike");
    tcase_add_checked_fixture(alike, set_up, tear_down);
    tcase_add_loop_test(alike, two_that_are_called_alike_get_what_tells_them_apart, 0,
                        YARN_COUNT_OF(lists));
    tcase_add_test(alike, a_name_that_tells_apart_outlives_the_fallback);
    tcase_add_test(alike, a_long_name_is_cut_and_still_another);
    tcase_add_test(alike, the_kinds_of_core_keep_one_name);
    suite_add_tcase(suite, alike);
    TCase *encoded = tcase_create("lists that were written anew");
    tcase_add_checked_fixture(encoded, set_up, tear_down);
    tcase_add_loop_test(encoded, a_list_that_was_encoded_says_in_which_words_it_was_asked_for, 0,
                        YARN_COUNT_OF(probes));
    tcase_add_test(encoded, the_events_of_a_pattern_are_one_in_the_words);
    suite_add_tcase(suite, encoded);
    return run_suite(suite);
}
