/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <string.h>

#include "core/base/base.h"
#include "preload/process/ld_preload.h"
#include "tests/support/suite.h"

static const struct {
    const char *before, *after; /* NULL: the entry is gone */
} rows[] = {
    {"LD_PRELOAD=/usr/lib/libyarn_preload.so", NULL},
    {"LD_PRELOAD=libyarn_preload.so", NULL},
    {"LD_PRELOAD= libyarn_preload.so: ", NULL},
    {"LD_PRELOAD=/a/libyarn_preload.so.1:/b/libx.so", "LD_PRELOAD=/b/libx.so"},
    {"LD_PRELOAD=/b/libx.so /a/libyarn_preload.so liby.so", "LD_PRELOAD=/b/libx.so:liby.so"},
    {"LD_PRELOAD=/b/libx.so", "LD_PRELOAD=/b/libx.so"},
    {"LD_PRELOAD=/libyarn_preload.so.d/libx.so", "LD_PRELOAD=/libyarn_preload.so.d/libx.so"},
    {"LD_PRELOADS=libyarn_preload.so", "LD_PRELOADS=libyarn_preload.so"},
};

START_TEST(only_our_name_is_taken_out)
{
    char first[] = "A=1", last[] = "B=2", entry[128];
    char *envp[] = {first, entry, last, NULL};
    strcpy(entry, rows[_i].before);
    yarn_ld_preload_remove(envp);
    size_t at = 1;
    ck_assert_str_eq(envp[0], "A=1");
    if (rows[_i].after)
        ck_assert_str_eq(envp[at++], rows[_i].after);
    ck_assert_str_eq(envp[at++], "B=2");
    ck_assert_ptr_null(envp[at]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ld_preload");
    TCase *tcase = tcase_create("LD_PRELOAD");
    tcase_add_loop_test(tcase, only_our_name_is_taken_out, 0, YARN_COUNT_OF(rows));
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
