/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/sys/line.h"
#include "tests/support/suite.h"

enum { LIMIT = 8 };

static const char text[] = "a line\n";

static int write_to(int fd)
{
    return yarn_line_write(fd, yarn_span_of_text(text));
}

static sigset_t pending(void)
{
    sigset_t set;
    ck_assert_int_eq(sigpending(&set), 0);
    return set;
}

static void block(int number)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    ck_assert_int_eq(sigprocmask(SIG_BLOCK, &set, NULL), 0);
}

static int closed_pipe(void)
{
    int fds[2];
    ck_assert_int_eq(pipe(fds), 0);
    close(fds[0]);
    return fds[1];
}

/* The results of two lines into a file that has room for one. Why no assertions: the framework
 * writes a file itself. */
static void write_two_into_a_limited_file(int fd, int ret_results[2])
{
    struct rlimit before, limit;
    getrlimit(RLIMIT_FSIZE, &before);
    limit = (struct rlimit){LIMIT, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
    ret_results[0] = write_to(fd);
    ret_results[1] = write_to(fd);
    setrlimit(RLIMIT_FSIZE, &before);
}

START_TEST(line_is_written)
{
    char read_back[sizeof text] = "";
    int fds[2];
    ck_assert_int_eq(pipe(fds), 0);
    ck_assert_int_eq(write_to(fds[1]), 0);
    ck_assert_int_eq(read(fds[0], read_back, sizeof read_back), sizeof text - 1);
    ck_assert_str_eq(read_back, text);
}
END_TEST

/* The default of the signal would end the test. */
START_TEST(pipe_that_nobody_reads_raises_nothing)
{
    int fd = closed_pipe();
    ck_assert_int_eq(write_to(fd), -EPIPE);
    block(SIGPIPE);
    ck_assert_int_eq(write_to(fd), -EPIPE);
    sigset_t set = pending();
    ck_assert(!sigismember(&set, SIGPIPE));
}
END_TEST

START_TEST(file_takes_whole_lines_up_to_its_limit)
{
    int results[2];
    FILE *file = tmpfile();
    ck_assert_ptr_nonnull(file);
    write_two_into_a_limited_file(fileno(file), results);
    ck_assert_int_eq(results[0], 0);
    ck_assert_int_eq(results[1], -EFBIG);
    ck_assert_int_eq(lseek(fileno(file), 0, SEEK_END), sizeof text - 1);
}
END_TEST

START_TEST(full_pipe_is_not_waited_for)
{
    int fds[2];
    ck_assert_int_eq(pipe2(fds, O_NONBLOCK), 0);
    while (write(fds[1], text, sizeof text) > 0)
        continue;
    ck_assert_int_eq(fcntl(fds[1], F_SETFL, 0), 0);
    ck_assert_int_eq(write_to(fds[1]), -EAGAIN);
}
END_TEST

START_TEST(signal_of_the_hosts_own_stays)
{
    int fds[2];
    ck_assert_int_eq(pipe(fds), 0);
    block(SIGPIPE);
    raise(SIGPIPE);
    ck_assert_int_eq(write_to(fds[1]), -EAGAIN);
    sigset_t set = pending();
    ck_assert(sigismember(&set, SIGPIPE));
}
END_TEST

START_TEST(no_descriptor_is_an_error)
{
    ck_assert_int_eq(write_to(-1), -EBADF);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("line");
    TCase *tcase = tcase_create("");
    tcase_add_test(tcase, line_is_written);
    tcase_add_test(tcase, pipe_that_nobody_reads_raises_nothing);
    tcase_add_test(tcase, file_takes_whole_lines_up_to_its_limit);
    tcase_add_test(tcase, full_pipe_is_not_waited_for);
    tcase_add_test(tcase, signal_of_the_hosts_own_stays);
    tcase_add_test(tcase, no_descriptor_is_an_error);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
