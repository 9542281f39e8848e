/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/sys/file.h"
#include "recording/dump/dump_file.h"
#include "tests/support/suite.h"

static char folder[] = "/tmp/yarn-test.XXXXXX";
static struct yarn_dump_file file;

static const struct yarn_facts facts = {
    .pid = 321,
    .exe = "/usr/bin/host",
    .start_realtime_ns = UINT64_C(1700000000) * YARN_NS_PER_SECOND,
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

static const char *in_folder(const char *name)
{
    static char text[128];
    snprintf(text, sizeof text, "%s/%s", folder, name);
    return text;
}

static int create(void)
{
    ck_assert_int_eq(yarn_dump_file_prepare(&file, in_folder("%p.dump"), &facts, NULL), 0);
    int fd = yarn_dump_file_create(&file, true);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(fd, file.fd);
    return fd;
}

START_TEST(owner_may_read_it_whatever_the_umask)
{
    struct stat status;
    mode_t before = umask(0777);
    int fd = create();
    umask(before);
    ck_assert_int_eq(fstat(fd, &status), 0);
    ck_assert_int_eq(status.st_mode & 0777, 0600);
    close(fd);
}
END_TEST

START_TEST(taken_name_gets_a_number)
{
    close(create());
    ck_assert_str_eq(file.path, in_folder("321.dump"));
    ck_assert_uint_eq(file.number, 0);
    close(create());
    ck_assert_str_eq(file.path, in_folder("321.dump.1"));
    ck_assert_uint_eq(file.number, 1);
    close(create());
    ck_assert_str_eq(file.path, in_folder("321.dump.2"));
}
END_TEST

START_TEST(link_is_a_taken_name)
{
    char target[128];
    snprintf(target, sizeof target, "%s/elsewhere", folder);
    ck_assert_int_eq(symlink(target, in_folder("321.dump")), 0);
    close(create());
    ck_assert_str_eq(file.path, in_folder("321.dump.1"));
    ck_assert_int_ne(access(target, F_OK), 0);
}
END_TEST

START_TEST(file_is_its_owner_s_alone)
{
    struct stat found;
    int fd = create();
    ck_assert_int_eq(fstat(fd, &found), 0);
    ck_assert_uint_eq(found.st_mode & 0777, 0600);
    ck_assert_int_eq(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    close(fd);
}
END_TEST

START_TEST(missing_folders_are_made_and_nothing_in_them)
{
    ck_assert_int_eq(yarn_dump_file_prepare(&file, in_folder("a/b/%p.dump"), &facts, NULL), 0);
    ck_assert_int_eq(access(in_folder("a/b"), F_OK), 0);
    ck_assert_int_ne(access(file.path, F_OK), 0);
}
END_TEST

START_TEST(file_is_removed_only_where_its_name_still_leads_to_it)
{
    int fd = create(); /* open, so that no other file gets its number */
    ck_assert_int_eq(unlink(file.path), 0);
    ck_assert_int_eq(symlink("/dev/null", file.path), 0);
    yarn_file_remove_same(YARN_FILE_CWD, file.path, &file.made);
    ck_assert_int_eq(unlink(file.path), 0); /* was left alone */
    close(fd);
    close(create());
    yarn_file_remove_same(YARN_FILE_CWD, file.path, &file.made);
    ck_assert_int_ne(access(file.path, F_OK), 0);
}
END_TEST

static bool remove_left(void)
{
    return yarn_dump_file_remove_left(in_folder("%p.dump"), &facts, NULL, file.number);
}

START_TEST(empty_file_of_a_process_that_has_gone_is_removed)
{
    int fd = create();
    ck_assert(yarn_file_lock(fd));
    ck_assert(!remove_left()); /* somebody has it open and locked */
    ck_assert_int_eq(access(file.path, F_OK), 0);
    close(fd);
    ck_assert(remove_left());
    ck_assert_int_ne(access(file.path, F_OK), 0);
    ck_assert(remove_left());
}
END_TEST

START_TEST(empty_file_is_not_forgotten_while_it_may_not_be_removed)
{
    close(create());
    ck_assert_int_eq(chmod(file.path, 0), 0);
    ck_assert(geteuid() != 0 || seteuid(65534) == 0);
    ck_assert(!remove_left());
    ck_assert(getuid() != 0 || seteuid(0) == 0);
    ck_assert_int_eq(chmod(file.path, 0600), 0);
    ck_assert(remove_left());
    ck_assert_int_ne(access(file.path, F_OK), 0);
}
END_TEST

START_TEST(file_with_something_in_it_stays)
{
    int fd = create();
    ck_assert_int_eq(write(fd, "x", 1), 1);
    close(fd);
    ck_assert(remove_left());
    ck_assert_int_eq(access(file.path, F_OK), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("dump_file");
    TCase *tcase = tcase_create("in a folder of its own");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, taken_name_gets_a_number);
    tcase_add_test(tcase, owner_may_read_it_whatever_the_umask);
    tcase_add_test(tcase, link_is_a_taken_name);
    tcase_add_test(tcase, file_is_its_owner_s_alone);
    tcase_add_test(tcase, missing_folders_are_made_and_nothing_in_them);
    tcase_add_test(tcase, file_is_removed_only_where_its_name_still_leads_to_it);
    tcase_add_test(tcase, empty_file_is_not_forgotten_while_it_may_not_be_removed);
    tcase_add_test(tcase, empty_file_of_a_process_that_has_gone_is_removed);
    tcase_add_test(tcase, file_with_something_in_it_stays);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
