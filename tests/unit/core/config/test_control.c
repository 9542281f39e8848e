/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "core/config/control.h"
#include "tests/support/suite.h"

static const struct {
    const char *line;
    enum yarn_control_verb verb; /* COUNT: refused */
    const char *text;            /* of the mark, or words of the refusal */
} rows[] = {
    {"start", YARN_CONTROL_START, ""},
    {"stop", YARN_CONTROL_STOP, ""},
    {"flush", YARN_CONTROL_FLUSH, ""},
    {"status", YARN_CONTROL_STATUS, ""},
    {"  status\t \r", YARN_CONTROL_STATUS, ""},
    {"mark here", YARN_CONTROL_MARK, "here"},
    {"mark \t two  words \r", YARN_CONTROL_MARK, "two  words"},
    {"mark start", YARN_CONTROL_MARK, "start"},
    {"", YARN_CONTROL_VERB_COUNT, "start, stop, mark TEXT"},
    {"   ", YARN_CONTROL_VERB_COUNT, "not a command"},
    {"Start", YARN_CONTROL_VERB_COUNT, "not a command"},
    {"starts", YARN_CONTROL_VERB_COUNT, "not a command"},
    {"star", YARN_CONTROL_VERB_COUNT, "not a command"},
    {"start now", YARN_CONTROL_VERB_COUNT, "nothing behind"},
    {"mark", YARN_CONTROL_VERB_COUNT, "needs a text"},
    {"mark   ", YARN_CONTROL_VERB_COUNT, "needs a text"},
    {"markhere", YARN_CONTROL_VERB_COUNT, "not a command"},
};

START_TEST(a_line_is_a_command_or_says_what_is_wrong)
{
    struct yarn_control_command command;
    const char *why = NULL;
    int err = yarn_control_parse(yarn_span_of_text(rows[_i].line), &command, &why);
    if (rows[_i].verb == YARN_CONTROL_VERB_COUNT) {
        ck_assert_int_eq(err, -EINVAL);
        ck_assert_ptr_nonnull(strstr(why, rows[_i].text));
        return;
    }
    ck_assert_int_eq(err, 0);
    ck_assert_int_eq(command.verb, rows[_i].verb);
    ck_assert_uint_eq(command.text.size, strlen(rows[_i].text));
    ck_assert_mem_eq(command.text.data, rows[_i].text, strlen(rows[_i].text));
}
END_TEST

START_TEST(a_mark_of_239_bytes_is_taken_and_one_of_240_refused)
{
    char line[300] = "mark ";
    struct yarn_control_command command;
    const char *why;
    memset(line + 5, 'm', 240);
    ck_assert_int_eq(yarn_control_parse(yarn_span_of(line, 244), &command, &why), 0);
    ck_assert_uint_eq(command.text.size, 239);
    ck_assert_int_eq(yarn_control_parse(yarn_span_of(line, 245), &command, &why), -EINVAL);
    ck_assert_ptr_nonnull(strstr(why, "239"));
}
END_TEST

START_TEST(control_characters_do_not_break_a_line)
{
    char buffer[16];
    struct yarn_text text = yarn_text_of(buffer, sizeof buffer);
    yarn_control_add_line(&text, yarn_span_of("a\nb\tc\x7f\xc3\xa4", 8));
    ck_assert_str_eq(buffer, "a b c \xc3\xa4");
}
END_TEST

static void put(struct yarn_control_lines *lines, const char *bytes, size_t size)
{
    size_t room;
    char *to = yarn_control_lines_room(lines, &room);
    ck_assert_uint_ge(room, size);
    memcpy(to, bytes, size);
    yarn_control_lines_added(lines, size);
}

static void expect(struct yarn_control_lines *lines, const char *want)
{
    struct yarn_span line;
    ck_assert_int_eq(yarn_control_lines_next(lines, &line), YARN_CONTROL_LINE);
    ck_assert_uint_eq(line.size, strlen(want));
    ck_assert_mem_eq(line.data, want, line.size);
}

START_TEST(lines_come_out_whole_however_they_come_in)
{
    static const char stream[] = "start\n\nmark a b\nstop\n";
    for (size_t step = 1; step < sizeof stream; step++) {
        static const char *const want[] = {"start", "", "mark a b", "stop"};
        struct yarn_control_lines lines = {.size = 0};
        struct yarn_span line;
        size_t seen = 0;
        for (size_t at = 0; at < sizeof stream - 1; at += step) {
            put(&lines, stream + at, yarn_size_min(step, sizeof stream - 1 - at));
            while (yarn_control_lines_next(&lines, &line) == YARN_CONTROL_LINE) {
                ck_assert_uint_lt(seen, YARN_COUNT_OF(want));
                ck_assert(yarn_span_equal(line, yarn_span_of_text(want[seen++])));
            }
        }
        ck_assert_uint_eq(seen, YARN_COUNT_OF(want));
    }
}
END_TEST

START_TEST(a_line_that_just_fits_is_taken)
{
    struct yarn_control_lines lines = {.size = 0};
    char line[YARN_CONTROL_LINE_MAX + 2];
    memset(line, 'x', sizeof line);
    line[YARN_CONTROL_LINE_MAX] = '\n';
    put(&lines, line, YARN_CONTROL_LINE_MAX + 1);
    line[YARN_CONTROL_LINE_MAX] = 0;
    expect(&lines, line);
}
END_TEST

START_TEST(a_line_that_is_too_long_is_reported_once_and_the_next_is_read)
{
    struct yarn_control_lines lines = {.size = 0};
    struct yarn_span line;
    size_t reported = 0;
    for (size_t i = 0; i < 1000; i++) {
        put(&lines, "01234567", 8);
        enum yarn_control_next next = yarn_control_lines_next(&lines, &line);
        ck_assert_int_ne(next, YARN_CONTROL_LINE);
        reported += next == YARN_CONTROL_LINE_TOO_LONG;
        while (yarn_control_lines_next(&lines, &line) != YARN_CONTROL_NO_LINE)
            reported++;
    }
    ck_assert_uint_eq(reported, 1);
    put(&lines, "tail\nstop\n", 10);
    expect(&lines, "stop");
    ck_assert_int_eq(yarn_control_lines_next(&lines, &line), YARN_CONTROL_NO_LINE);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("control");
    TCase *command = tcase_create("a line");
    TCase *stream = tcase_create("a stream of lines");
    tcase_add_loop_test(command, a_line_is_a_command_or_says_what_is_wrong, 0,
                        (int)YARN_COUNT_OF(rows));
    tcase_add_test(command, a_mark_of_239_bytes_is_taken_and_one_of_240_refused);
    tcase_add_test(command, control_characters_do_not_break_a_line);
    tcase_add_test(stream, lines_come_out_whole_however_they_come_in);
    tcase_add_test(stream, a_line_that_just_fits_is_taken);
    tcase_add_test(stream, a_line_that_is_too_long_is_reported_once_and_the_next_is_read);
    suite_add_tcase(suite, command);
    suite_add_tcase(suite, stream);
    return run_suite(suite);
}
