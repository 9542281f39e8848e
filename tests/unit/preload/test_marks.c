/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <sys/mman.h>

#include "preload/control/marks.h"
#include "tests/support/suite.h"

static struct yarn_marks *new_marks(void)
{
    struct yarn_marks *marks =
        mmap(NULL, sizeof *marks, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(marks, MAP_FAILED);
    yarn_marks_init(marks);
    return marks;
}

START_TEST(what_is_put_is_taken_once)
{
    struct yarn_marks *marks = new_marks();
    ck_assert_ptr_null(yarn_marks_next(marks));
    ck_assert_int_eq(yarn_marks_put(marks, "one\nline"), 0);
    const struct yarn_mark *mark = yarn_marks_next(marks);
    ck_assert_ptr_nonnull(mark);
    ck_assert_str_eq(mark->text, "one line");
    ck_assert_uint_gt(mark->time_ns, 0);
    yarn_marks_free(marks, mark);
    ck_assert_ptr_null(yarn_marks_next(marks));
}
END_TEST

START_TEST(there_is_room_for_so_many_and_again_when_they_are_taken)
{
    struct yarn_marks *marks = new_marks();
    for (size_t i = 0; i < YARN_MARKS_MAX; i++)
        ck_assert_int_eq(yarn_marks_put(marks, "waits"), 0);
    ck_assert_int_eq(yarn_marks_put(marks, "too many"), -EAGAIN);
    for (const struct yarn_mark *mark; (mark = yarn_marks_next(marks));)
        yarn_marks_free(marks, mark);
    ck_assert_int_eq(yarn_marks_put(marks, "again"), 0);
}
END_TEST

START_TEST(a_text_that_is_too_long_is_refused)
{
    static char text[YARN_CONTROL_MARK_MAX + 2];
    struct yarn_marks *marks = new_marks();
    memset(text, 'a', sizeof text - 1);
    ck_assert_int_eq(yarn_marks_put(marks, text), -EMSGSIZE);
    text[YARN_CONTROL_MARK_MAX] = 0;
    ck_assert_int_eq(yarn_marks_put(marks, text), 0);
    ck_assert_str_eq(yarn_marks_next(marks)->text, text);
}
END_TEST

START_TEST(an_init_drops_what_waits)
{
    struct yarn_marks *marks = new_marks();
    ck_assert_int_eq(yarn_marks_put(marks, "of the parent"), 0);
    yarn_marks_init(marks);
    ck_assert_ptr_null(yarn_marks_next(marks));
    for (size_t i = 0; i < YARN_MARKS_MAX; i++)
        ck_assert_int_eq(yarn_marks_put(marks, "of the child"), 0);
}
END_TEST

START_TEST(an_init_of_what_is_empty_writes_nothing)
{
    struct yarn_marks *marks = new_marks();
    ck_assert_int_eq(mprotect(marks, sizeof *marks, PROT_READ), 0);
    yarn_marks_init(marks); /* a write would be a SIGSEGV */
    ck_assert_ptr_null(yarn_marks_next(marks));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("marks");
    TCase *tcase = tcase_create("on their way");
    tcase_add_test(tcase, what_is_put_is_taken_once);
    tcase_add_test(tcase, there_is_room_for_so_many_and_again_when_they_are_taken);
    tcase_add_test(tcase, a_text_that_is_too_long_is_refused);
    tcase_add_test(tcase, an_init_drops_what_waits);
    tcase_add_test(tcase, an_init_of_what_is_empty_writes_nothing);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
