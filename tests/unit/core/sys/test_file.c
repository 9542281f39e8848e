/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/sys/file.h"
#include "tests/support/suite.h"

enum { BIG_BYTES = 1 << 20 };

static char folder[] = "/tmp/yarn-test-file-XXXXXX";
static int dir; /* the folder, opened */

static void make_folder(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
    dir = yarn_file_open_folder(YARN_FILE_CWD, folder);
    ck_assert_int_ge(dir, 0);
}

static void remove_folder(void)
{
    char command[128];
    yarn_file_close(dir);
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static int file_with(const char *name, const char *text)
{
    int fd = yarn_file_create(dir, name);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(yarn_file_write_all(fd, yarn_span_of_text(text)), 0);
    yarn_file_close(fd);
    fd = yarn_file_open(dir, name);
    ck_assert_int_ge(fd, 0);
    return fd;
}

START_TEST(file_is_created_once_private_and_through_no_link)
{
    struct yarn_file_info info;
    char link_name[128];
    umask(0);
    int fd = yarn_file_create(dir, "new");
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(yarn_file_stat(fd, &info), 0);
    ck_assert_uint_eq(info.mode, S_IFREG | 0600);
    ck_assert_uint_eq(info.size_bytes, 0);
    ck_assert_int_eq(yarn_file_create(dir, "new"), -EEXIST);
    snprintf(link_name, sizeof link_name, "%s/link", folder);
    ck_assert_int_eq(symlink("nowhere", link_name), 0);
    ck_assert_int_eq(yarn_file_create(dir, "link"), -EEXIST);
}
END_TEST

START_TEST(file_descriptors_are_close_on_exec)
{
    const int fds[] = {dir, file_with("a", "a"), yarn_file_create(dir, "b"),
                       yarn_file_open_append(dir, "c")};
    for (size_t i = 0; i < YARN_COUNT_OF(fds); i++)
        ck_assert_int_eq(fcntl(fds[i], F_GETFD), FD_CLOEXEC);
}
END_TEST

START_TEST(file_is_appended_to_wherever_it_was)
{
    char text[16] = "";
    yarn_file_close(file_with("log", "one"));
    for (int i = 0; i < 2; i++) {
        int fd = yarn_file_open_append(dir, "log");
        ck_assert_int_eq(yarn_file_write_all(fd, yarn_span_of_text(i ? "three" : "two")), 0);
        yarn_file_close(fd);
    }
    int fd = yarn_file_open(dir, "log");
    ck_assert_int_eq(yarn_file_read(fd, text, sizeof text), 11);
    ck_assert_str_eq(text, "onetwothree");
    ck_assert_int_eq(yarn_file_read(fd, text, sizeof text), 0);
}
END_TEST

START_TEST(file_is_read_at_an_offset_without_moving)
{
    char text[4] = "";
    int fd = file_with("read", "0123456789");
    ck_assert_int_eq(yarn_file_read_at(fd, text, 3, 4), 3);
    ck_assert_str_eq(text, "456");
    ck_assert_int_eq(yarn_file_read_at(fd, text, 3, 8), 2);
    ck_assert_int_eq(yarn_file_read_at(fd, text, 3, 100), 0);
    ck_assert_int_eq(yarn_file_read(fd, text, 3), 3);
    ck_assert_str_eq(text, "012");
    ck_assert_int_eq(yarn_file_read(-1, text, 3), -EBADF);
    ck_assert_int_eq(yarn_file_read_at(-1, text, 3, 0), -EBADF);
}
END_TEST

START_TEST(file_stat_is_as_libc_says)
{
    struct yarn_file_info info;
    struct stat want;
    int fd = file_with("stat", "1234567");
    ck_assert_int_eq(fstat(fd, &want), 0);
    ck_assert_int_eq(yarn_file_stat(fd, &info), 0);
    ck_assert_uint_eq(info.device, want.st_dev);
    ck_assert_uint_eq(info.inode, want.st_ino);
    ck_assert_uint_eq(info.size_bytes, 7);
    ck_assert_uint_eq(info.mode, want.st_mode);
    ck_assert_uint_eq(info.modified_ns, (uint64_t)want.st_mtim.tv_sec * YARN_NS_PER_SECOND +
                                            (uint64_t)want.st_mtim.tv_nsec);
    ck_assert_int_eq(yarn_file_stat(-1, &info), -EBADF);
}
END_TEST

START_TEST(file_link_is_read_terminated_and_cut)
{
    char name[128], text[8];
    snprintf(name, sizeof name, "%s/points", folder);
    ck_assert_int_eq(symlink("target", name), 0);
    memset(text, 'x', sizeof text);
    ck_assert_int_eq(yarn_file_read_link(dir, "points", text, sizeof text), 6);
    ck_assert_str_eq(text, "target");
    ck_assert_int_eq(yarn_file_read_link(dir, "points", text, 4), 3);
    ck_assert_str_eq(text, "tar");
    ck_assert_int_eq(yarn_file_read_link(dir, "points", text, 0), -EINVAL);
    ck_assert_int_eq(yarn_file_read_link(dir, "missing", text, sizeof text), -ENOENT);
}
END_TEST

START_TEST(file_folder_is_made_once_and_found_writable)
{
    ck_assert_int_eq(yarn_file_make_folder(dir, "sub"), 0);
    ck_assert_int_eq(yarn_file_make_folder(dir, "sub"), -EEXIST);
    ck_assert_int_eq(yarn_file_can_write(dir, "sub"), 0);
    ck_assert_int_eq(yarn_file_can_write(dir, "missing"), -ENOENT);
    yarn_file_close(file_with("plain", ""));
    ck_assert_int_eq(yarn_file_open_folder(dir, "plain"), -ENOTDIR);
}
END_TEST

START_TEST(file_that_is_a_fifo_is_opened_without_waiting_for_its_writer)
{
    char name[128];
    snprintf(name, sizeof name, "%s/fifo", folder);
    ck_assert_int_eq(mkfifo(name, 0600), 0);
    ck_assert_int_ge(yarn_file_open(dir, "fifo"), 0);
}
END_TEST

static void *drain(void *argument)
{
    static uint8_t room[4093];
    size_t count = 0;
    for (ssize_t got; (got = read(*(int *)argument, room, sizeof room)) > 0;)
        for (ssize_t i = 0; i < got; i++)
            count += room[i] == (uint8_t)(count * 7 >> 3);
    return (void *)count;
}

/* Whole links, and ways up, end below it. */
START_TEST(file_below_a_root_is_never_outside_of_it)
{
    struct yarn_file_info info, wanted;
    char link_name[128];
    int fd = file_with("inside", "x");
    ck_assert_int_eq(yarn_file_stat(fd, &wanted), 0);
    yarn_file_close(fd);
    snprintf(link_name, sizeof link_name, "%s/link", folder);
    ck_assert_int_eq(symlink("/inside", link_name), 0);
    const char *const paths[] = {"/inside", "/link", "/../../inside"};
    for (size_t i = 0; i < YARN_COUNT_OF(paths); i++) {
        fd = yarn_file_open_below(dir, paths[i]);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(yarn_file_stat(fd, &info), 0);
        ck_assert(yarn_file_is_same(&info, &wanted));
        yarn_file_close(fd);
    }
    ck_assert_int_eq(yarn_file_open_below(dir, "/etc/passwd"), -ENOENT);
    fd = yarn_file_open_below(YARN_FILE_CWD, "/etc/passwd");
    ck_assert_int_ge(fd, 0);
    yarn_file_close(fd);
}
END_TEST

START_TEST(file_write_all_goes_on_after_short_writes)
{
    static uint8_t data[BIG_BYTES];
    pthread_t thread;
    void *nr_right;
    int fds[2];
    for (size_t i = 0; i < BIG_BYTES; i++)
        data[i] = (uint8_t)(i * 7 >> 3);
    ck_assert_int_eq(pipe(fds), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, drain, &fds[0]), 0);
    ck_assert_int_eq(yarn_file_write_all(fds[1], yarn_span_of(data, sizeof data)), 0);
    yarn_file_close(fds[1]);
    ck_assert_int_eq(pthread_join(thread, &nr_right), 0);
    ck_assert_uint_eq((size_t)nr_right, BIG_BYTES);
}
END_TEST

START_TEST(file_calls_leave_errno_alone)
{
    errno = 1234;
    ck_assert_int_eq(yarn_file_open(dir, "missing"), -ENOENT);
    ck_assert_int_eq(yarn_file_write_all(-1, yarn_span_of_text("x")), -EBADF);
    ck_assert_int_eq(yarn_file_write_all(-1, YARN_SPAN_EMPTY), 0);
    yarn_file_close(-1);
    yarn_file_close(100000);
    ck_assert_int_eq(errno, 1234);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("file");
    TCase *tcase = tcase_create("files in a folder");
    tcase_add_checked_fixture(tcase, make_folder, remove_folder);
    tcase_add_test(tcase, file_is_created_once_private_and_through_no_link);
    tcase_add_test(tcase, file_descriptors_are_close_on_exec);
    tcase_add_test(tcase, file_is_appended_to_wherever_it_was);
    tcase_add_test(tcase, file_is_read_at_an_offset_without_moving);
    tcase_add_test(tcase, file_stat_is_as_libc_says);
    tcase_add_test(tcase, file_link_is_read_terminated_and_cut);
    tcase_add_test(tcase, file_folder_is_made_once_and_found_writable);
    tcase_add_test(tcase, file_that_is_a_fifo_is_opened_without_waiting_for_its_writer);
    tcase_add_test(tcase, file_below_a_root_is_never_outside_of_it);
    tcase_add_test(tcase, file_write_all_goes_on_after_short_writes);
    tcase_add_test(tcase, file_calls_leave_errno_alone);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
