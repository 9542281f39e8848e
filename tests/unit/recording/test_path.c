/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recording/process/path.h"
#include "tests/support/suite.h"

static char folder[] = "/tmp/yarn-test.XXXXXX";
static char path[YARN_PATH_MAX];

static const struct yarn_facts facts = {
    .pid = 321,
    .exe = "/usr/bin/host",
    .folder = "/srv/begun",
    .system.node = "machine",
};

static void set_up(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void tear_down(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static const struct {
    const char *pattern, *want;
} patterns[] = {
    {"/var/%e.%p", "/var/host.321"},     {"/var/%h", "/var/machine"},
    {"%e.dump", "/srv/begun/host.dump"}, {"deep/%p", "/srv/begun/deep/321"},
    {"/var/%{SET}.x", "/var/value.x"},   {"/var/%{UNSET}x", "/var/x"},
};

START_TEST(pattern_is_a_path_that_begins_where_the_program_was_started)
{
    char *const envp[] = {"OTHER=1", "SET=value", NULL};
    struct yarn_pattern_facts given = yarn_path_facts(&facts, envp);
    ck_assert_int_eq(yarn_path_expand(path, patterns[_i].pattern, &given), 0);
    ck_assert_str_eq(path, patterns[_i].want);
}
END_TEST

START_TEST(relative_path_stays_so_where_the_folder_has_no_name)
{
    struct yarn_facts lost = facts;
    lost.folder = NULL;
    struct yarn_pattern_facts given = yarn_path_facts(&lost, NULL);
    ck_assert_int_eq(yarn_path_expand(path, "%p.dump", &given), 0);
    ck_assert_str_eq(path, "321.dump");
}
END_TEST

START_TEST(what_is_too_long_or_no_pattern_is_refused)
{
    static char much[YARN_PATH_MAX + 8];
    struct yarn_pattern_facts given = yarn_path_facts(&facts, NULL);
    memset(much, 'x', sizeof much - 1);
    ck_assert_int_eq(yarn_path_expand(path, much, &given), -EINVAL);
    much[YARN_PATH_MAX - 4] = 0; /* alone it would fit */
    ck_assert_int_eq(yarn_path_expand(path, much, &given), -ENAMETOOLONG);
    ck_assert_int_eq(yarn_path_expand(path, "%y", &given), -EINVAL);
}
END_TEST

START_TEST(folder_gets_a_name_of_its_own_in_it)
{
    char want[128];
    struct yarn_pattern_facts given = yarn_path_facts(&facts, NULL);
    ck_assert_int_eq(yarn_path_find(path, folder, &given), 0);
    snprintf(want, sizeof want, "%s/yarn.host.321.dump", folder);
    ck_assert_str_eq(path, want);
    ck_assert(given.is_folder);
    ck_assert_int_eq(yarn_path_find(path, want, &given), 0);
    ck_assert_str_eq(path, want);
    ck_assert(!given.is_folder);
}
END_TEST

START_TEST(folders_on_the_way_are_made_and_may_be_there)
{
    char before[YARN_PATH_MAX];
    struct stat found;
    snprintf(path, sizeof path, "%s/a/b/file", folder);
    memcpy(before, path, sizeof before);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(yarn_path_make_folders(path), 0);
    ck_assert_str_eq(path, before);
    ck_assert_int_ne(stat(path, &found), 0);
    *strrchr(path, '/') = 0;
    ck_assert_int_eq(stat(path, &found), 0);
    ck_assert(S_ISDIR(found.st_mode));
}
END_TEST

START_TEST(file_in_the_way_is_no_folder)
{
    snprintf(path, sizeof path, "%s/file", folder);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fclose(file);
    snprintf(path, sizeof path, "%s/file/a/b", folder);
    ck_assert_int_eq(yarn_path_make_folders(path), -ENOTDIR);
}
END_TEST

START_TEST(folder_of_a_file_is_what_stands_before_its_name)
{
    char found[YARN_PATH_MAX];
    ck_assert_str_eq(yarn_path_folder("/a/b/c", found), "/a/b");
    ck_assert_str_eq(yarn_path_folder("/c", found), "/");
    ck_assert_str_eq(yarn_path_folder("c", found), ".");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("path");
    TCase *tcase = tcase_create("a made process");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, pattern_is_a_path_that_begins_where_the_program_was_started, 0,
                        (int)YARN_COUNT_OF(patterns));
    tcase_add_test(tcase, relative_path_stays_so_where_the_folder_has_no_name);
    tcase_add_test(tcase, what_is_too_long_or_no_pattern_is_refused);
    tcase_add_test(tcase, folder_gets_a_name_of_its_own_in_it);
    tcase_add_test(tcase, folders_on_the_way_are_made_and_may_be_there);
    tcase_add_test(tcase, file_in_the_way_is_no_folder);
    tcase_add_test(tcase, folder_of_a_file_is_what_stands_before_its_name);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
