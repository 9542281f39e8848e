/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output/yarnprof/io/new_file.h"
#include "tests/support/suite.h"

static char folder[64];
static char path[128];
static struct yarn_new_file file;

static void make_folder(void)
{
    (void)snprintf(folder, sizeof folder, "/tmp/yarn_new_file.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/out", folder);
}

static void remove_folder(void)
{
    yarn_new_file_abandon(&file);
    (void)unlink(path);
    ck_assert_int_eq(rmdir(folder), 0);
}

static size_t count_entries(void)
{
    size_t count = 0;
    struct dirent *entry;
    DIR *directory = opendir(folder);
    ck_assert_ptr_nonnull(directory);
    while ((entry = readdir(directory)))
        count += entry->d_name[0] != '.';
    (void)closedir(directory);
    return count;
}

static void write_old(void)
{
    FILE *old = fopen(path, "w");
    ck_assert_ptr_nonnull(old);
    (void)fputs("old", old);
    (void)fclose(old);
}

static const char *content(void)
{
    static char text[64];
    FILE *read = fopen(path, "r");
    if (!read)
        return "(none)";
    text[fread(text, 1, sizeof text - 1, read)] = 0;
    (void)fclose(read);
    return text;
}

START_TEST(the_name_appears_with_the_commit)
{
    ck_assert_int_eq(yarn_new_file_open(&file, path, YARN_NEW_FILE_BOUNDED), 0);
    (void)fputs("new", file.file);
    ck_assert_str_eq(content(), "(none)");
    ck_assert_int_eq(yarn_new_file_commit(&file), 0);
    ck_assert_str_eq(content(), "new");
    ck_assert_uint_eq(count_entries(), 1);
}
END_TEST

START_TEST(what_was_there_stays_until_the_commit)
{
    write_old();
    ck_assert_int_eq(yarn_new_file_open(&file, path, YARN_NEW_FILE_SEEKABLE), 0);
    ck_assert_ptr_nonnull(file.beside);
    (void)fputs("newer", file.file);
    ck_assert_str_eq(content(), "old");
    ck_assert_int_eq(yarn_new_file_commit(&file), 0);
    ck_assert_str_eq(content(), "newer");
}
END_TEST

START_TEST(an_abandoned_file_leaves_nothing)
{
    write_old();
    ck_assert_int_eq(yarn_new_file_open(&file, path, YARN_NEW_FILE_BOUNDED), 0);
    (void)fputs("new", file.file);
    yarn_new_file_abandon(&file);
    yarn_new_file_abandon(&file);
    ck_assert_str_eq(content(), "old");
    ck_assert_uint_eq(count_entries(), 1);
}
END_TEST

START_TEST(others_may_read_it_as_far_as_the_umask_lets_them)
{
    struct stat status;
    mode_t mask = umask(027);
    ck_assert_int_eq(yarn_new_file_open(&file, path, YARN_NEW_FILE_BOUNDED), 0);
    ck_assert_int_eq(yarn_new_file_commit(&file), 0);
    (void)umask(mask);
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_uint_eq(status.st_mode & 0777, 0640);
}
END_TEST

START_TEST(a_link_stays_a_link)
{
    struct stat status;
    char target[160];
    (void)snprintf(target, sizeof target, "%s/target", folder);
    ck_assert_int_eq(symlink("target", path), 0);
    FILE *old = fopen(target, "w");
    ck_assert_ptr_nonnull(old);
    (void)fclose(old);
    ck_assert_int_eq(yarn_new_file_open(&file, path, YARN_NEW_FILE_BOUNDED), 0);
    (void)fputs("new", file.file);
    ck_assert_int_eq(yarn_new_file_commit(&file), 0);
    ck_assert_int_eq(lstat(path, &status), 0);
    ck_assert(S_ISLNK(status.st_mode));
    ck_assert_str_eq(content(), "new");
    (void)unlink(target);
}
END_TEST

START_TEST(a_pipe_gets_all_at_once_from_a_writer_that_goes_back)
{
    int ends[2];
    char name[32], text[8] = {0};
    ck_assert_int_eq(pipe(ends), 0);
    (void)snprintf(name, sizeof name, "/dev/fd/%d", ends[1]);
    ck_assert_int_eq(yarn_new_file_open(&file, name, YARN_NEW_FILE_SEEKABLE), 0);
    (void)fputs("xbc", file.file);
    ck_assert_int_eq(fseek(file.file, 0, SEEK_SET), 0);
    (void)fputs("a", file.file);
    ck_assert_int_eq(yarn_new_file_commit(&file), 0);
    (void)close(ends[1]);
    ck_assert_int_eq((int)read(ends[0], text, sizeof text - 1), 3);
    ck_assert_str_eq(text, "abc");
    (void)close(ends[0]);
}
END_TEST

START_TEST(a_full_device_is_a_failure)
{
    ck_assert_int_eq(yarn_new_file_open(&file, "/dev/full", YARN_NEW_FILE_BOUNDED), 0);
    (void)fputs("new", file.file);
    ck_assert_int_eq(yarn_new_file_commit(&file), -ENOSPC);
}
END_TEST

/* What does not fit is then known before the end. */
START_TEST(a_full_device_is_a_failure_of_that_name_however_much_is_written)
{
    ck_assert_int_eq(yarn_new_file_open(&file, "/dev/full", YARN_NEW_FILE_BOUNDED), 0);
    for (size_t i = 0; i < 100000; i++)
        (void)fputs("a line of some characters\n", file.file);
    ck_assert_int_eq(yarn_new_file_commit(&file), -ENOSPC);
}
END_TEST

START_TEST(folders_and_missing_folders_are_refused)
{
    char absent[160];
    (void)snprintf(absent, sizeof absent, "%s/absent/out", folder);
    ck_assert_int_eq(yarn_new_file_open(&file, folder, YARN_NEW_FILE_BOUNDED), -EISDIR);
    ck_assert_int_eq(yarn_new_file_open(&file, absent, YARN_NEW_FILE_BOUNDED), -ENOENT);
    ck_assert_ptr_null(file.file);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("new_file");
    TCase *tcase = tcase_create("a folder");
    tcase_add_checked_fixture(tcase, make_folder, remove_folder);
    tcase_add_test(tcase, the_name_appears_with_the_commit);
    tcase_add_test(tcase, what_was_there_stays_until_the_commit);
    tcase_add_test(tcase, an_abandoned_file_leaves_nothing);
    tcase_add_test(tcase, others_may_read_it_as_far_as_the_umask_lets_them);
    tcase_add_test(tcase, a_link_stays_a_link);
    tcase_add_test(tcase, a_pipe_gets_all_at_once_from_a_writer_that_goes_back);
    tcase_add_test(tcase, a_full_device_is_a_failure);
    tcase_add_test(tcase, a_full_device_is_a_failure_of_that_name_however_much_is_written);
    tcase_add_test(tcase, folders_and_missing_folders_are_refused);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
