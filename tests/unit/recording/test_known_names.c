/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "recording/pipeline/pipeline_shared.h"
#include "tests/support/suite.h"

static struct yarn_known_names names;
static const struct yarn_image first = {.id = 1}, second = {.id = 2};

static void begin(void)
{
    names = (struct yarn_known_names){.by_place = YARN_TABLE_CLOSED};
    ck_assert_int_eq(yarn_known_names_open(&names), 0);
}

static void end(void)
{
    yarn_known_names_close(&names);
}

/* At an address of a function of 64 bytes whose name holds for its first half. */
static struct yarn_symbol_question question_at(uint64_t vaddr, const char *name)
{
    struct yarn_symbol_question question = {.vaddr = vaddr, .start = 0x1000, .end = 0x1040};
    if (!name)
        return question;
    question.is_answered = true;
    question.answer = (struct yarn_symbol){.name = yarn_span_of_text(name),
                                           .start = 0x1000,
                                           .end = 0x1040,
                                           .from = 0x1000,
                                           .to = 0x1020};
    return question;
}

static bool has_name(const struct yarn_image *image, uint64_t vaddr, const char *name)
{
    struct yarn_symbol_question question = question_at(vaddr, NULL);
    yarn_known_names_answer(&names, image, &question);
    return question.is_answered && yarn_span_equal(question.answer.name, yarn_span_of_text(name));
}

START_TEST(a_name_is_known_at_the_addresses_that_it_holds_for_in_its_image)
{
    char text[] = "work";
    const struct yarn_symbol_question found = question_at(0x1004, text);
    yarn_known_names_keep(&names, &first, &found);
    memset(text, 'x', sizeof text - 1);
    ck_assert(has_name(&first, 0x1004, "work"));
    ck_assert(has_name(&first, 0x101f, "work"));
    ck_assert(!has_name(&first, 0x1020, "work"));
    ck_assert(!has_name(&second, 0x1004, "work"));
}
END_TEST

START_TEST(what_has_no_answer_is_not_kept)
{
    const struct yarn_symbol_question asked = question_at(0x1004, NULL);
    yarn_known_names_keep(&names, &first, &asked);
    ck_assert_uint_eq(names.names.used, 0);
}
END_TEST

START_TEST(functions_at_one_address_with_other_bounds_are_others)
{
    const struct yarn_symbol_question found = question_at(0x1004, "work");
    yarn_known_names_keep(&names, &first, &found);
    struct yarn_symbol_question other = {.vaddr = 0x1004, .start = 0x1000, .end = 0x1080};
    yarn_known_names_answer(&names, &first, &other);
    ck_assert(!other.is_answered);
}
END_TEST

START_TEST(more_names_than_there_is_room_for_take_the_place_of_all)
{
    char text[32];
    for (uint64_t i = 0; i < 300000; i++) {
        (void)snprintf(text, sizeof text, "f%lu", (unsigned long)i);
        struct yarn_symbol_question found = question_at(0x1004, text);
        found.start = found.answer.start = found.answer.from = found.vaddr = 0x1000 + 64 * i;
        found.end = found.answer.end = found.answer.to = found.start + 64;
        yarn_known_names_keep(&names, &first, &found);
    }
    struct yarn_symbol_question last = {.vaddr = 0x1000 + 64 * UINT64_C(299999)};
    last.start = last.vaddr;
    last.end = last.start + 64;
    yarn_known_names_answer(&names, &first, &last);
    ck_assert(last.is_answered);
    ck_assert(yarn_span_equal(last.answer.name, yarn_span_of_text("f299999")));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("known names");
    TCase *tests = tcase_create("of several processes");
    tcase_add_checked_fixture(tests, begin, end);
    tcase_add_test(tests, a_name_is_known_at_the_addresses_that_it_holds_for_in_its_image);
    tcase_add_test(tests, what_has_no_answer_is_not_kept);
    tcase_add_test(tests, functions_at_one_address_with_other_bounds_are_others);
    tcase_add_test(tests, more_names_than_there_is_room_for_take_the_place_of_all);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
