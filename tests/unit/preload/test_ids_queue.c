/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <unistd.h>

#include "preload/control/ids_queue.h"
#include "tests/support/suite.h"

static struct yarn_ids_queue queue;

static void put(void)
{
    ck_assert_int_eq(yarn_ids_queue_put(&queue, false), 0);
}

START_TEST(rights_are_those_of_who_puts_them)
{
    ck_assert_ptr_null(yarn_ids_queue_next(&queue));
    put();
    const struct yarn_ids *ids = yarn_ids_queue_next(&queue);
    ck_assert_ptr_nonnull(ids);
    ck_assert_uint_eq(ids->real_user, getuid());
    ck_assert_uint_eq(ids->effective_group, getegid());
    yarn_ids_queue_free(&queue, ids);
    ck_assert_ptr_null(yarn_ids_queue_next(&queue));
}
END_TEST

/* Also where a place that was freed meanwhile lies before the older one's. */
START_TEST(the_oldest_comes_first)
{
    put();
    put();
    const struct yarn_ids *first = yarn_ids_queue_next(&queue);
    yarn_ids_queue_free(&queue, first);
    put();
    const struct yarn_ids *second = yarn_ids_queue_next(&queue);
    ck_assert_ptr_ne(second, first);
    yarn_ids_queue_free(&queue, second);
    ck_assert_ptr_eq(yarn_ids_queue_next(&queue), first);
}
END_TEST

START_TEST(what_can_be_taken_back_gives_way_to_what_comes_later)
{
    for (int i = 0; i < 3 * YARN_IDS_QUEUE_MAX; i++)
        ck_assert_int_eq(yarn_ids_queue_put(&queue, true), 0);
    put();
    const struct yarn_ids *last = yarn_ids_queue_next(&queue);
    ck_assert_ptr_nonnull(last);
    ck_assert_ptr_null(yarn_ids_queue_next(&queue));
    ck_assert_int_eq(yarn_ids_queue_put(&queue, true), 0);
    yarn_ids_queue_free(&queue, last);
    ck_assert_ptr_nonnull(yarn_ids_queue_next(&queue));
}
END_TEST

START_TEST(there_is_room_for_so_many_and_again_when_they_are_taken)
{
    for (int i = 0; i < YARN_IDS_QUEUE_MAX; i++)
        put();
    ck_assert_int_eq(yarn_ids_queue_put(&queue, false), -EAGAIN);
    for (const struct yarn_ids *ids; (ids = yarn_ids_queue_next(&queue));)
        yarn_ids_queue_free(&queue, ids);
    put();
}
END_TEST

START_TEST(a_child_has_none_of_its_parents)
{
    put();
    yarn_slots_clear(queue.state, YARN_IDS_QUEUE_MAX);
    ck_assert_ptr_null(yarn_ids_queue_next(&queue));
}
END_TEST

static void reset(void)
{
    yarn_slots_clear(queue.state, YARN_IDS_QUEUE_MAX);
}

int main(void)
{
    Suite *suite = suite_create("ids_queue");
    TCase *tcase = tcase_create("one reader");
    tcase_add_checked_fixture(tcase, reset, NULL);
    tcase_add_test(tcase, rights_are_those_of_who_puts_them);
    tcase_add_test(tcase, the_oldest_comes_first);
    tcase_add_test(tcase, what_can_be_taken_back_gives_way_to_what_comes_later);
    tcase_add_test(tcase, there_is_room_for_so_many_and_again_when_they_are_taken);
    tcase_add_test(tcase, a_child_has_none_of_its_parents);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
