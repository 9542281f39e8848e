/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/kept_pages.h"
#include "core/base/pages.h"
#include "tests/support/mappings.h"
#include "tests/support/suite.h"

enum { SIZE = 3 * 4096 };

static bool is_mapped(void *pages)
{
    unsigned char resident[3];
    return mincore(pages, SIZE, resident) == 0;
}

/* Bits: 1 `hidden` is there, 2 `shown` is there, 4 the total is 0. Touches `common`. */
static int look_from_child(void *hidden, void *shown, char *common)
{
    pid_t child = fork();
    if (child == 0) {
        common[0] = 'c';
        yarn_pages_after_fork();
        _exit(is_mapped(hidden) | is_mapped(shown) << 1 | (yarn_pages_total() == 0) << 2);
    }
    int status = -1;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

START_TEST(children_see_what_was_not_hidden)
{
    char *before = yarn_pages_map(SIZE);
    char *common = yarn_pages_map_shared(SIZE);
    yarn_pages_hide_from_children();
    char *hidden = yarn_pages_map(SIZE);
    char *shown = yarn_pages_map(SIZE);
    yarn_pages_show_to_children(shown, SIZE);
    hidden[0] = shown[0] = before[0] = 'p';
    ck_assert_int_eq(look_from_child(hidden, shown, common), 2 | 4);
    ck_assert_int_eq(look_from_child(before, shown, common), 1 | 2 | 4);
    ck_assert_int_eq(common[0], 'c');
    ck_assert_int_eq(hidden[0], 'p');
    ck_assert_uint_eq(yarn_pages_total(), 3 * SIZE);
}
END_TEST

START_TEST(many_that_are_hidden_are_one_mapping)
{
    char *pages[50];
    yarn_pages_hide_from_children();
    ck_assert_uint_gt(nr_mappings(), 0); /* what stdio wants is mapped */
    size_t before = nr_mappings();
    for (size_t i = 0; i < 50; i++) {
        pages[i] = yarn_pages_map(SIZE);
        ck_assert_int_eq(pages[i][SIZE - 1], 0);
        pages[i][0] = (char)i;
    }
    ck_assert_uint_lt(nr_mappings(), before + 5); /* a sanitizer's own come, too */
    ck_assert_uint_eq(yarn_pages_total(), 50 * SIZE);
    yarn_pages_unmap(pages[7], SIZE);
    ck_assert(!is_mapped(pages[7]));
    ck_assert_int_eq(pages[6][0], 6);
    ck_assert_int_eq(pages[8][0], 8);
    ck_assert_uint_eq(yarn_pages_total(), 49 * SIZE);
}
END_TEST

/* Few are touched, more are asked for at once. */
START_TEST(pages_that_are_populated_are_there_and_keep_what_they_have)
{
    enum { PAGE = 4096, MOST = 5 };
    unsigned char resident[MOST];
    for (size_t count = 1; count <= MOST; count++) {
        uint8_t *pages = yarn_pages_map(MOST * PAGE);
        pages[7] = 'x';
        yarn_pages_populate(pages + 7, (count - 1) * PAGE + 1);
        ck_assert_int_eq(mincore(pages, MOST * PAGE, resident), 0);
        for (size_t i = 0; i < count; i++)
            ck_assert(resident[i] & 1);
        ck_assert_int_eq(pages[7], 'x');
        yarn_pages_unmap(pages, MOST * PAGE);
    }
}
END_TEST

START_TEST(what_the_stock_does_not_hold_is_mapped_by_itself)
{
    yarn_pages_hide_from_children();
    for (size_t i = 0; i < 5; i++) {
        char *pages = yarn_pages_map(YARN_MIB(10));
        ck_assert_ptr_nonnull(pages);
        pages[0] = pages[YARN_MIB(10) - 1] = 'x';
    }
    char *more = yarn_pages_map(YARN_MIB(100));
    ck_assert_ptr_nonnull(more);
    more[YARN_MIB(100) - 1] = 'x';
    ck_assert_ptr_null(yarn_pages_map((size_t)1 << 60));
}
END_TEST

START_TEST(clearing_zeroes_exactly_these_bytes_also_where_they_are_locked)
{
    static const size_t starts[] = {0, 1, 100, 4095, 4096}, sizes[] = {0, 5, 4096, 8191, 12288};
    uint8_t *pages = yarn_pages_map(5 * 4096);
    ck_assert_ptr_nonnull(pages);
    if (_i)
        (void)mlock(pages, 5 * 4096);
    for (size_t i = 0; i < YARN_COUNT_OF(starts); i++)
        for (size_t k = 0; k < YARN_COUNT_OF(sizes); k++) {
            size_t end = starts[i] + sizes[k];
            memset(pages, 7, 5 * 4096);
            yarn_pages_clear(pages + starts[i], sizes[k]);
            size_t nr_wrong = 0;
            for (size_t at = 0; at < 5 * 4096; at++)
                nr_wrong += pages[at] != (at >= starts[i] && at < end ? 0 : 7);
            ck_assert_uint_eq(nr_wrong, 0);
        }
    yarn_pages_unmap(pages, 5 * 4096);
}
END_TEST

START_TEST(a_cap_holds_for_all_of_it)
{
    yarn_pages_cap(YARN_MIB(1));
    yarn_pages_hide_from_children();
    char *most = yarn_pages_map(YARN_MIB(1) - 4096);
    ck_assert_ptr_nonnull(most);
    ck_assert_ptr_null(yarn_pages_map(8192));
    yarn_pages_unmap(most, YARN_MIB(1) - 4096);
    ck_assert_ptr_nonnull(yarn_pages_map(8192));
}
END_TEST

START_TEST(kept_blocks_are_had_again_zeroed_and_large_ones_are_not_kept)
{
    char *blocks[2], *large = yarn_pages_map(YARN_MIB(1));
    yarn_pages_keep_released();
    for (size_t i = 0; i < 2; i++) {
        blocks[i] = yarn_pages_map(SIZE);
        memset(blocks[i], 7, SIZE);
    }
    yarn_pages_unmap(large, YARN_MIB(1));
    ck_assert(!is_mapped(large));
    for (size_t i = 0; i < 2; i++)
        yarn_pages_unmap(blocks[i], SIZE);
    ck_assert(is_mapped(blocks[0]));
    ck_assert_uint_eq(yarn_pages_total(), 0);
    ck_assert_ptr_ne(yarn_pages_map(2 * SIZE), blocks[1]);
    for (size_t i = 2; i-- > 0;) {
        ck_assert_ptr_eq(yarn_pages_map(SIZE - 100), blocks[i]);
        size_t nr_wrong = 0;
        for (size_t at = 0; at < SIZE; at++)
            nr_wrong += blocks[i][at] != 0;
        ck_assert_uint_eq(nr_wrong, 0);
    }
    ck_assert_ptr_ne(yarn_pages_map(SIZE), blocks[0]);
}
END_TEST

START_TEST(kept_blocks_are_no_more_than_16_mib)
{
    enum { COUNT = 300 };
    static char *blocks[COUNT];
    size_t nr_kept = 0;
    yarn_pages_keep_released();
    for (size_t i = 0; i < COUNT; i++)
        blocks[i] = yarn_pages_map(YARN_KIB(128));
    for (size_t i = 0; i < COUNT; i++)
        yarn_pages_unmap(blocks[i], YARN_KIB(128));
    for (size_t i = 0; i < COUNT; i++)
        nr_kept += is_mapped(blocks[i]);
    ck_assert_uint_le(nr_kept, YARN_MIB(16) / YARN_KIB(128));
    ck_assert_uint_gt(nr_kept, 100);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pages");
    TCase *tcase = tcase_create("fork");
    tcase_add_test(tcase, children_see_what_was_not_hidden);
    suite_add_tcase(suite, tcase);
    TCase *stock = tcase_create("stock");
    tcase_add_test(stock, many_that_are_hidden_are_one_mapping);
    tcase_add_test(stock, pages_that_are_populated_are_there_and_keep_what_they_have);
    tcase_add_test(stock, what_the_stock_does_not_hold_is_mapped_by_itself);
    tcase_add_loop_test(stock, clearing_zeroes_exactly_these_bytes_also_where_they_are_locked, 0,
                        2);
    tcase_add_test(stock, a_cap_holds_for_all_of_it);
    suite_add_tcase(suite, stock);
    TCase *kept = tcase_create("kept");
    tcase_add_test(kept, kept_blocks_are_had_again_zeroed_and_large_ones_are_not_kept);
    tcase_add_test(kept, kept_blocks_are_no_more_than_16_mib);
    suite_add_tcase(suite, kept);
    return run_suite(suite);
}
