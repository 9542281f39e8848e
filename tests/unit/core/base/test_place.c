/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdio.h>
#include <sys/mman.h>

#include "core/base/pages.h"
#include "tests/support/suite.h"

enum { SIZE = 3 * 4096, NR_MAPPINGS = 1000 };

static void *map_as_host(void)
{
    void *pages = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(pages, MAP_FAILED);
    return pages;
}

START_TEST(an_address_that_the_host_has_given_back_is_not_taken)
{
    void *hosts = map_as_host();
    ck_assert_int_eq(munmap(hosts, SIZE), 0);
    for (int i = 0; i < NR_MAPPINGS; i++) {
        uint8_t *ours = yarn_pages_map(SIZE);
        ck_assert_ptr_nonnull(ours);
        ck_assert(ours + SIZE <= (uint8_t *)hosts || ours >= (uint8_t *)hosts + SIZE);
    }
    ck_assert_ptr_eq(map_as_host(), hosts);
}
END_TEST

START_TEST(an_address_that_we_have_given_back_is_not_given_to_the_host)
{
    uint8_t *ours = yarn_pages_map(SIZE);
    yarn_pages_unmap(ours, SIZE);
    for (int i = 0; i < NR_MAPPINGS; i++) {
        uint8_t *hosts = map_as_host();
        ck_assert(hosts + SIZE <= ours || hosts >= ours + SIZE);
    }
}
END_TEST

START_TEST(places_do_not_overlap)
{
    uintptr_t before = yarn_address_next(1);
    ck_assert_uint_eq(before % 4096, 0);
    for (size_t i = 1; i < NR_MAPPINGS; i++) {
        uintptr_t place = yarn_address_next(i);
        ck_assert_uint_ge(place, before + yarn_align_up(i - 1, 4096));
        before = place;
    }
}
END_TEST

START_TEST(a_place_that_is_taken_is_no_obstacle)
{
    void *next = (void *)(yarn_address_next(SIZE) + SIZE);
    void *taken = mmap(next, SIZE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    ck_assert_ptr_eq(taken, next);
    void *ours = yarn_pages_map(SIZE);
    ck_assert_ptr_nonnull(ours);
    ck_assert_ptr_ne(ours, next);
}
END_TEST

/* ThreadSanitizer places all mappings by itself. */
#if defined(__SANITIZE_THREAD__)
#define IS_FREE 0
#elif defined(__has_feature)
#define IS_FREE (!__has_feature(thread_sanitizer))
#else
#define IS_FREE 1
#endif

int main(void)
{
    Suite *suite = suite_create("place");
    TCase *tcase = tcase_create("a host that goes on using addresses");
    tcase_add_test(tcase, places_do_not_overlap);
    if (IS_FREE) {
        tcase_add_test(tcase, an_address_that_the_host_has_given_back_is_not_taken);
        tcase_add_test(tcase, an_address_that_we_have_given_back_is_not_given_to_the_host);
        tcase_add_test(tcase, a_place_that_is_taken_is_no_obstacle);
    } else {
        puts("three tests skipped: ThreadSanitizer gives out all addresses");
    }
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
