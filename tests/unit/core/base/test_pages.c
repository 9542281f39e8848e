/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/pages.h"

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
        yarn_pages_forget();
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

int main(void)
{
    Suite *suite = suite_create("pages");
    TCase *tcase = tcase_create("fork");
    tcase_add_test(tcase, children_see_what_was_not_hidden);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
