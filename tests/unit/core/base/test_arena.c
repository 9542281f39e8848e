/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "core/base/arena.h"
#include "core/base/pages.h"
#include "tests/support/suite.h"

START_TEST(what_is_allocated_is_zeroed_aligned_and_apart)
{
    struct yarn_arena arena = YARN_ARENA_CLOSED;
    yarn_arena_open(&arena, YARN_KIB(64));
    char *one = yarn_arena_alloc(&arena, 3, 1);
    uint64_t *two = YARN_ARENA_NEW(&arena, uint64_t, 4);
    void *three = yarn_arena_alloc(&arena, 1, 256);
    ck_assert_ptr_nonnull(one);
    ck_assert_uint_eq((uintptr_t)two % alignof(uint64_t), 0);
    ck_assert_uint_eq((uintptr_t)three % 256, 0);
    ck_assert((char *)two >= one + 3 && (char *)three >= (char *)(two + 4));
    for (size_t i = 0; i < 4; i++)
        ck_assert_uint_eq(two[i], 0);
    yarn_arena_close(&arena);
}
END_TEST

START_TEST(the_cap_is_reached_and_never_passed)
{
    struct yarn_arena arena = YARN_ARENA_CLOSED;
    yarn_arena_open(&arena, 4096);
    ck_assert_ptr_null(yarn_arena_alloc(&arena, 4097, 1));
    ck_assert_ptr_null(yarn_arena_alloc(&arena, SIZE_MAX, 1));
    ck_assert_ptr_nonnull(yarn_arena_alloc(&arena, 4095, 1));
    ck_assert_ptr_null(yarn_arena_alloc(&arena, 1, 16));
    ck_assert_ptr_null(yarn_arena_text(&arena, "a", 1));
    uint8_t *last = yarn_arena_alloc(&arena, 1, 1);
    ck_assert_ptr_eq(last, arena.base + 4095);
    ck_assert_ptr_null(yarn_arena_alloc(&arena, 1, 1));
    yarn_arena_close(&arena);
}
END_TEST

START_TEST(a_text_is_copied_up_to_its_size)
{
    struct yarn_arena arena = YARN_ARENA_CLOSED;
    yarn_arena_open(&arena, 4096);
    char source[] = "copied";
    char *copy = yarn_arena_text(&arena, source, 4);
    memset(source, 'x', sizeof source);
    ck_assert_str_eq(copy, "copi");
    ck_assert_str_eq(yarn_arena_text(&arena, NULL, 0), "");
    yarn_arena_close(&arena);
}
END_TEST

START_TEST(a_rewind_frees_what_came_after_the_mark)
{
    struct yarn_arena arena = YARN_ARENA_CLOSED;
    yarn_arena_open(&arena, 4096);
    ck_assert_ptr_nonnull(yarn_arena_alloc(&arena, 100, 1));
    size_t mark = arena.used;
    void *first = yarn_arena_alloc(&arena, 10, 1);
    yarn_arena_rewind(&arena, mark);
    ck_assert_ptr_eq(yarn_arena_alloc(&arena, 10, 1), first);
    yarn_arena_rewind(&arena, 4000); /* not yet reached: nothing to free */
    ck_assert_uint_eq(arena.used, mark + 10);
    yarn_arena_close(&arena);
}
END_TEST

START_TEST(a_close_gives_all_back_and_may_come_twice)
{
    size_t before = yarn_pages_total();
    struct yarn_arena arena = YARN_ARENA_CLOSED;
    yarn_arena_close(&arena);
    yarn_arena_open(&arena, YARN_MIB(1));
    ck_assert_ptr_nonnull(yarn_arena_alloc(&arena, 5000, 1));
    ck_assert_uint_ge(yarn_pages_total(), before + 5000);
    yarn_arena_close(&arena);
    yarn_arena_close(&arena);
    ck_assert_ptr_null(arena.base);
    ck_assert_ptr_null(yarn_arena_alloc(&arena, 1, 1));
    ck_assert_uint_eq(yarn_pages_total(), before);
}
END_TEST

START_TEST(memory_that_is_borrowed_is_zeroed_and_given_back)
{
    static char room[4096];
    size_t before = yarn_pages_total();
    struct yarn_arena arena;
    yarn_arena_open_over(&arena, room, sizeof room);
    char *copy = yarn_arena_text(&arena, "borrowed", 8);
    ck_assert_ptr_eq(copy, room);
    ck_assert_uint_eq(yarn_pages_total(), before + 9);
    ck_assert_ptr_null(yarn_arena_alloc(&arena, sizeof room, 1));
    yarn_arena_close(&arena);
    yarn_arena_close(&arena);
    ck_assert_ptr_null(arena.base);
    ck_assert_int_eq(room[0], 0);
    ck_assert_uint_eq(yarn_pages_total(), before);
}
END_TEST

START_TEST(an_arena_that_the_kernel_refuses_is_no_memory)
{
    struct yarn_arena arena = YARN_ARENA_CLOSED;
    yarn_pages_cap(1);
    yarn_arena_open(&arena, YARN_MIB(1));
    ck_assert_ptr_null(yarn_arena_alloc(&arena, 1, 1));
    yarn_arena_close(&arena);
    yarn_pages_cap(0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("arena");
    TCase *tcase = tcase_create("memory from the kernel");
    tcase_add_test(tcase, what_is_allocated_is_zeroed_aligned_and_apart);
    tcase_add_test(tcase, the_cap_is_reached_and_never_passed);
    tcase_add_test(tcase, a_text_is_copied_up_to_its_size);
    tcase_add_test(tcase, a_rewind_frees_what_came_after_the_mark);
    tcase_add_test(tcase, a_close_gives_all_back_and_may_come_twice);
    tcase_add_test(tcase, memory_that_is_borrowed_is_zeroed_and_given_back);
    tcase_add_test(tcase, an_arena_that_the_kernel_refuses_is_no_memory);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
