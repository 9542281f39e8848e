/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/sys/clock.h"
#include "core/sys/perf.h"
#include "tests/support/suite.h"

enum { SKIPPED = 77, RING_BYTES = 8192, FORMAT_LOST = 1 << 4 /* absent from headers before 6.0 */ };

#define TIMES (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

static struct perf_event_attr attr_of(uint64_t config, uint64_t more_format)
{
    return (struct perf_event_attr){
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof(struct perf_event_attr),
        .config = config,
        .disabled = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .read_format = TIMES | more_format,
    };
}

static int open_event(uint64_t config, uint64_t more_format)
{
    struct perf_event_attr attr = attr_of(config, more_format);
    return yarn_perf_open(&attr, 0, -1, -1);
}

static void burn(uint64_t ns)
{
    uint64_t begin = yarn_clock_ns(YARN_TIME_THREAD_CPU);
    while (yarn_clock_ns(YARN_TIME_THREAD_CPU) - begin < ns)
        ;
}

START_TEST(perf_event_is_close_on_exec_and_has_an_id_of_its_own)
{
    uint64_t id[2] = {0, 0};
    int fd[2];
    for (int i = 0; i < 2; i++) {
        fd[i] = open_event(PERF_COUNT_SW_TASK_CLOCK, 0);
        ck_assert_int_ge(fd[i], 0);
        ck_assert_int_eq(fcntl(fd[i], F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
        ck_assert_int_eq(yarn_perf_id(fd[i], &id[i]), 0);
        ck_assert_uint_ne(id[i], 0);
    }
    ck_assert_uint_ne(id[0], id[1]);
}
END_TEST

START_TEST(perf_event_counts_only_while_it_is_enabled)
{
    struct yarn_perf_count before, during, after;
    int fd = open_event(PERF_COUNT_SW_TASK_CLOCK, 0);
    burn(2 * YARN_NS_PER_MS);
    ck_assert_int_eq(yarn_perf_read(fd, TIMES, 0, &before), 0);
    ck_assert_uint_eq(before.count, 0);
    ck_assert_uint_eq(before.lost, 0);
    ck_assert_int_eq(yarn_perf_enable(fd), 0);
    burn(5 * YARN_NS_PER_MS);
    ck_assert_int_eq(yarn_perf_disable(fd), 0);
    ck_assert_int_eq(yarn_perf_read(fd, TIMES, 0, &during), 0);
    ck_assert_uint_ge(during.count, 4 * YARN_NS_PER_MS);
    ck_assert_uint_ge(during.time_enabled_ns, during.time_running_ns);
    ck_assert_uint_gt(during.time_running_ns, 0);
    burn(2 * YARN_NS_PER_MS);
    ck_assert_int_eq(yarn_perf_read(fd, TIMES, 0, &after), 0);
    ck_assert_uint_eq(after.count, during.count);
}
END_TEST

START_TEST(perf_count_of_another_format_is_refused)
{
    struct yarn_perf_count count = {.count = 99};
    int fd = open_event(PERF_COUNT_SW_TASK_CLOCK, 0);
    ck_assert_int_eq(yarn_perf_read(fd, TIMES | FORMAT_LOST, 0, &count), -ENODATA);
    ck_assert_uint_eq(count.count, 99);
    ck_assert_int_eq(yarn_perf_read(-1, TIMES, 0, &count), -EBADF);
    fd = open_event(PERF_COUNT_SW_TASK_CLOCK, FORMAT_LOST);
    if (fd >= 0) { /* Linux 6.0 and later */
        ck_assert_int_eq(yarn_perf_read(fd, TIMES | FORMAT_LOST, 0, &count), 0);
        ck_assert_uint_eq(count.lost, 0);
    }
}
END_TEST

START_TEST(perf_ring_is_mapped_empty_and_unmapped_again)
{
    struct perf_event_mmap_page *page = NULL;
    int fd = open_event(PERF_COUNT_SW_DUMMY, 0);
    ck_assert_int_eq(yarn_perf_map(fd, RING_BYTES, &page), 0);
    ck_assert_uint_eq(page->data_head, 0);
    ck_assert_uint_eq(page->data_tail, 0);
    ck_assert_uint_eq(page->data_size, RING_BYTES);
    ck_assert_uint_eq(page->data_offset, 4096);
    page->data_tail = 0; /* it may be written */
    yarn_perf_unmap(page, RING_BYTES);
    ck_assert_int_eq(msync(page, 4096, MS_ASYNC), -1); /* nothing is there */
    yarn_perf_unmap(NULL, RING_BYTES);
}
END_TEST

START_TEST(perf_ring_of_no_power_of_two_is_refused)
{
    struct perf_event_mmap_page *page = NULL;
    int fd = open_event(PERF_COUNT_SW_DUMMY, 0);
    ck_assert_int_eq(yarn_perf_map(fd, (size_t)3 * 4096, &page), -EINVAL);
    ck_assert_int_eq(yarn_perf_map(-1, RING_BYTES, &page), -EBADF);
    ck_assert_ptr_null(page);
}
END_TEST

START_TEST(perf_output_goes_to_another_event_only)
{
    struct perf_event_mmap_page *page;
    int leader = open_event(PERF_COUNT_SW_DUMMY, 0);
    int fd = open_event(PERF_COUNT_SW_TASK_CLOCK, 0);
    ck_assert_int_eq(yarn_perf_map(leader, RING_BYTES, &page), 0);
    ck_assert_int_eq(yarn_perf_set_output(fd, leader), 0);
    ck_assert_int_eq(yarn_perf_set_output(fd, open("/dev/null", O_RDONLY)), -EBADF);
    yarn_perf_unmap(page, RING_BYTES);
}
END_TEST

START_TEST(perf_calls_on_what_is_no_event_are_errors)
{
    struct perf_event_attr attr = attr_of(12345, 0);
    uint64_t id = 5;
    ck_assert_int_lt(yarn_perf_open(&attr, 0, -1, -1), 0);
    attr = attr_of(PERF_COUNT_SW_DUMMY, 0);
    ck_assert_int_eq(yarn_perf_open(&attr, 1 << 30, -1, -1), -ESRCH);
    ck_assert_int_eq(yarn_perf_id(-1, &id), -EBADF);
    ck_assert_uint_eq(id, 5);
    ck_assert_int_eq(yarn_perf_enable(-1), -EBADF);
    ck_assert_int_eq(yarn_perf_disable(-1), -EBADF);
    ck_assert_int_eq(yarn_perf_set_output(-1, -1), -EBADF);
}
END_TEST

START_TEST(poll_shows_what_is_ready_or_times_out_not_before_its_time)
{
    int fds[2];
    ck_assert_int_eq(pipe(fds), 0);
    struct pollfd waited = {.fd = fds[0], .events = POLLIN};
    uint64_t begin = yarn_clock_ns(YARN_TIME_MONOTONIC);
    ck_assert_int_eq(yarn_perf_poll(&waited, 1, 20 * YARN_NS_PER_MS), 0);
    ck_assert_uint_ge(yarn_clock_ns(YARN_TIME_MONOTONIC) - begin, 20 * YARN_NS_PER_MS);
    ck_assert_int_eq(write(fds[1], "x", 1), 1);
    ck_assert_int_eq(yarn_perf_poll(&waited, 1, UINT64_MAX), 1);
    ck_assert_int_eq(waited.revents, POLLIN);
    ck_assert_int_eq(yarn_perf_poll(NULL, 1, 0), -EFAULT);
}
END_TEST

/* Why perf_event_open cannot be had here, or 0. */
static int missing(void)
{
    int fd = open_event(PERF_COUNT_SW_DUMMY, 0);
    if (fd < 0)
        return fd;
    close(fd);
    return 0;
}

int main(void)
{
    int err = missing();
    if (err)
        printf("skipped but for poll: perf_event_open says %s\n", strerror(-err));
    Suite *suite = suite_create("perf");
    TCase *tcase = tcase_create("events");
    if (!err) {
        tcase_add_test(tcase, perf_event_is_close_on_exec_and_has_an_id_of_its_own);
        tcase_add_test(tcase, perf_event_counts_only_while_it_is_enabled);
        tcase_add_test(tcase, perf_count_of_another_format_is_refused);
        tcase_add_test(tcase, perf_ring_is_mapped_empty_and_unmapped_again);
        tcase_add_test(tcase, perf_ring_of_no_power_of_two_is_refused);
        tcase_add_test(tcase, perf_output_goes_to_another_event_only);
        tcase_add_test(tcase, perf_calls_on_what_is_no_event_are_errors);
    }
    tcase_add_test(tcase, poll_shows_what_is_ready_or_times_out_not_before_its_time);
    suite_add_tcase(suite, tcase);
    int status = run_suite(suite);
    return status == EXIT_SUCCESS && err ? SKIPPED : status;
}
