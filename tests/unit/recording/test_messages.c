/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recording/dump/failure.h"
#include "recording/dump/messages.h"
#include "tests/support/suite.h"

static struct yarn_messages messages;

static void start_anew(void)
{
    memset(&messages, 0, sizeof messages);
    messages.most_detailed = YARN_DUMP_MESSAGE_INFO;
}

START_TEST(both_texts_are_joined)
{
    yarn_messages_add(&messages, YARN_DUMP_MESSAGE_WARNING, false, "%s: %s", "what", "why");
    yarn_messages_add(&messages, YARN_DUMP_MESSAGE_INFO, false, "alone");
    ck_assert_uint_eq(atomic_load(&messages.count), 2);
    ck_assert(yarn_span_equal(messages.message[0].text, yarn_span_of_text("what: why")));
    ck_assert(yarn_span_equal(messages.message[1].text, yarn_span_of_text("alone")));
    ck_assert_uint_ne(messages.message[0].time_ns, 0);
    ck_assert(!messages.message[0].is_aside);
}
END_TEST

START_TEST(more_detail_than_was_asked_for_is_not_kept)
{
    yarn_messages_add(&messages, YARN_DUMP_MESSAGE_DEBUG, false, "detail");
    messages.most_detailed = -1;
    yarn_messages_add(&messages, YARN_DUMP_MESSAGE_ERROR, false, "error");
    ck_assert_uint_eq(atomic_load(&messages.count), 0);
    ck_assert_uint_eq(messages.nr_dropped, 0);
}
END_TEST

START_TEST(what_finds_no_room_is_counted)
{
    for (int i = 0; i < YARN_MESSAGES_MAX + 3; i++)
        yarn_messages_add(&messages, YARN_DUMP_MESSAGE_INFO, false, "again");
    ck_assert_uint_eq(atomic_load(&messages.count), YARN_MESSAGES_MAX);
    ck_assert_uint_eq(messages.nr_dropped, 3);
}
END_TEST

START_TEST(a_text_that_is_too_long_is_cut)
{
    char text[2 * YARN_MESSAGE_BYTES];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    yarn_messages_add(&messages, YARN_DUMP_MESSAGE_INFO, false, "%s: %s", text, "more");
    ck_assert_uint_lt(messages.message[0].text.size, YARN_MESSAGE_BYTES);
    ck_assert_uint_ge(messages.message[0].text.size, YARN_MESSAGE_BYTES - 4);
    ck_assert_int_eq(messages.message[0].line[messages.message[0].line_size - 1], '\n');
}
END_TEST

START_TEST(an_error_is_reported_by_its_number_and_none_by_nothing)
{
    char bytes[64] = "";
    struct yarn_text text = yarn_text_of(bytes, sizeof bytes);
    yarn_messages_add_error(&text, 0);
    ck_assert_uint_eq(text.size, 0);
    yarn_messages_add_error(&text, -5);
    ck_assert_str_eq(bytes, " (errno 5)");
}
END_TEST

START_TEST(the_log_file_gets_each_once)
{
    char path[] = "/tmp/yarn-messages.XXXXXX", read_back[256] = "";
    uint32_t written = 0;
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    yarn_messages_add(&messages, YARN_DUMP_MESSAGE_ERROR, false, "first");
    yarn_messages_write(&messages, path, &written);
    yarn_messages_add(&messages, YARN_DUMP_MESSAGE_WARNING, false, "second");
    yarn_messages_write(&messages, path, &written);
    yarn_messages_write(&messages, path, &written);
    ck_assert_uint_eq(written, 2);
    ck_assert_int_gt(read(fd, read_back, sizeof read_back - 1), 0);
    ck_assert_str_eq(read_back, "yarn: error: first\nyarn: warning: second\n");
    ck_assert_int_eq(close(fd), 0);
    ck_assert_int_eq(unlink(path), 0);
}
END_TEST

START_TEST(of_failures_the_first_counts)
{
    struct yarn_failure failure = {.what = NULL};
    ck_assert_int_eq(yarn_failure_note(&failure, "first", -EIO), -EIO);
    ck_assert_int_eq(yarn_failure_note(&failure, "second", -ENOMEM), -ENOMEM);
    ck_assert_str_eq(failure.what, "first");
    ck_assert_int_eq(failure.error, -EIO);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("messages");
    TCase *tcase = tcase_create("messages");
    tcase_add_checked_fixture(tcase, start_anew, NULL);
    tcase_add_test(tcase, both_texts_are_joined);
    tcase_add_test(tcase, more_detail_than_was_asked_for_is_not_kept);
    tcase_add_test(tcase, what_finds_no_room_is_counted);
    tcase_add_test(tcase, a_text_that_is_too_long_is_cut);
    tcase_add_test(tcase, an_error_is_reported_by_its_number_and_none_by_nothing);
    tcase_add_test(tcase, the_log_file_gets_each_once);
    tcase_add_test(tcase, of_failures_the_first_counts);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
