/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/single_threaded.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/raw.h"
#include "core/sys/clock.h"
#include "core/sys/futex.h"
#include "core/sys/own_files.h"
#include "core/sys/perf.h"
#include "core/sys/process.h"
#include "core/sys/thread.h"
#include "tests/support/suite.h"

enum { STEPS_MAX = 8 };
#define LONG_NS (10 * YARN_NS_PER_SECOND)

/* Between a test and its thread: steps that each side takes and the other waits for. What a thread
 * found goes through here too, since it may not assert. */
static struct room {
    _Atomic uint32_t step;
    int tid, result[STEPS_MAX];
    uint64_t signal_mask, waited_ns;
    bool is_apart;
} room;

static struct yarn_thread thread;

static void go_to(uint32_t step)
{
    atomic_store(&room.step, step);
    yarn_futex_wake(&room.step);
}

static void wait_for(uint32_t step)
{
    for (uint32_t now; (now = atomic_load(&room.step)) < step;)
        yarn_futex_wait(&room.step, now, LONG_NS);
}

static void start(yarn_thread_fn run)
{
    ck_assert_int_eq(yarn_thread_start(&thread, run, &room, false), 0);
}

static void end(void)
{
    ck_assert_int_eq(yarn_thread_join(&thread, LONG_NS), 0);
    ck_assert(!yarn_thread_is_running(&thread));
    yarn_thread_fini(&thread);
    ck_assert_ptr_null(thread.memory);
}

static uint64_t signal_mask(void)
{
    uint64_t mask = 0;
    yarn_raw_call(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&mask, sizeof mask, 0, 0);
    return mask;
}

static int look_around(void *argument)
{
    struct room *around = argument;
    around->tid = yarn_process_tid();
    around->signal_mask = signal_mask();
    return 0;
}

/* Lives from step 1 to step 2. */
static int live_until_released(void *argument)
{
    (void)argument;
    go_to(1);
    wait_for(2);
    return 0;
}

START_TEST(thread_runs_as_another_thread_of_the_process)
{
    start(look_around);
    end();
    ck_assert_int_gt(room.tid, 0);
    ck_assert_int_ne(room.tid, getpid());
    yarn_thread_fini(&thread);
}
END_TEST

START_TEST(thread_can_be_started_again_and_again)
{
    for (int i = 0; i < 300; i++) {
        room.tid = 0;
        start(look_around);
        end();
        ck_assert_int_ne(room.tid, 0);
    }
}
END_TEST

START_TEST(thread_has_every_signal_blocked_and_its_starter_none_the_more)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    ck_assert_int_eq(sigprocmask(SIG_BLOCK, &set, NULL), 0);
    uint64_t before = signal_mask();
    start(look_around);
    ck_assert_uint_eq(signal_mask(), before);
    end();
    uint64_t never = UINT64_C(1) << (SIGKILL - 1) | UINT64_C(1) << (SIGSTOP - 1);
    ck_assert_uint_eq(room.signal_mask | never, UINT64_MAX);
}
END_TEST

START_TEST(thread_join_times_out_while_the_thread_lives)
{
    start(live_until_released);
    wait_for(1);
    uint64_t begin = yarn_clock_ns(YARN_TIME_MONOTONIC);
    ck_assert_int_eq(yarn_thread_join(&thread, 20 * YARN_NS_PER_MS), -ETIMEDOUT);
    ck_assert_uint_ge(yarn_clock_ns(YARN_TIME_MONOTONIC) - begin, 20 * YARN_NS_PER_MS);
    ck_assert_int_eq(yarn_thread_join(&thread, 0), -ETIMEDOUT);
    ck_assert(yarn_thread_is_running(&thread));
    go_to(2);
    end();
}
END_TEST

static int live_for_20_ms(void *argument)
{
    static _Atomic uint32_t nobody;
    (void)argument;
    yarn_futex_wait(&nobody, 0, 20 * YARN_NS_PER_MS);
    return 0;
}

START_TEST(thread_join_without_a_limit_waits_for_the_end)
{
    start(live_for_20_ms);
    ck_assert_int_eq(yarn_thread_join(&thread, UINT64_MAX), 0);
    ck_assert(!yarn_thread_is_running(&thread));
}
END_TEST

static int touch_errno(void *argument)
{
    struct room *around = argument;
    around->result[0] = errno;
    errno = 77;
    around->result[1] = errno;
    return 0;
}

START_TEST(thread_has_an_errno_of_its_own)
{
    errno = 1234;
    start(touch_errno);
    ck_assert_int_eq(yarn_thread_join(&thread, LONG_NS), 0);
    yarn_thread_fini(&thread);
    ck_assert_int_eq(errno, 1234);
    ck_assert_int_eq(room.result[0], 0);
    ck_assert_int_eq(room.result[1], 77);
}
END_TEST

START_TEST(thread_calls_that_fail_leave_errno_alone)
{
    errno = 1234;
    ck_assert_int_eq(yarn_thread_start(&thread, live_until_released, &room, false), 0);
    wait_for(1);
    ck_assert_int_eq(yarn_thread_join(&thread, 0), -ETIMEDOUT);
    ck_assert_int_eq(yarn_thread_wake(&thread, 1), -ESRCH);
    ck_assert_int_eq(errno, 1234);
    go_to(2);
    end();
}
END_TEST

START_TEST(thread_leaves_the_process_single_threaded_to_libc)
{
    ck_assert_int_eq(__libc_single_threaded, 1);
    start(live_until_released);
    wait_for(1);
    ck_assert_int_eq(__libc_single_threaded, 1);
    free(malloc(1000));
    go_to(2);
    end();
    ck_assert_int_eq(__libc_single_threaded, 1);
}
END_TEST

START_TEST(thread_that_the_kernel_refuses_leaves_nothing_behind)
{
    int status;
    pid_t child = fork();
    if (!child) {
        const struct rlimit none = {0, 0};
        uint64_t before = signal_mask();
        if (setrlimit(RLIMIT_NPROC, &none) || (!getuid() && setresuid(65534, 65534, 65534)))
            _exit(1);
        if (yarn_thread_start(&thread, look_around, &room, false) != -EAGAIN)
            _exit(2);
        bool is_clean = !thread.memory && !yarn_thread_is_running(&thread);
        _exit(is_clean && signal_mask() == before ? 0 : 3);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}
END_TEST

/* How long until the descriptor is readable; UINT64_MAX where it was not within `timeout_ns`. */
static uint64_t wait_readable(int fd, uint64_t timeout_ns)
{
    struct pollfd waited = {.fd = fd, .events = POLLIN};
    uint64_t begin = yarn_clock_ns(YARN_TIME_MONOTONIC);
    int count = yarn_perf_poll(&waited, 1, timeout_ns);
    bool is_readable = count == 1 && waited.revents == POLLIN;
    return is_readable ? yarn_clock_ns(YARN_TIME_MONOTONIC) - begin : UINT64_MAX;
}

static int wait_for_wakes(void *argument)
{
    struct room *around = argument;
    int fd = yarn_thread_open_wake();
    around->result[0] = wait_readable(fd, 0) == UINT64_MAX; /* not yet */
    go_to(1);
    around->waited_ns = wait_readable(fd, LONG_NS);
    around->result[1] = !yarn_thread_clear_wakes(&thread, fd);
    around->result[2] = wait_readable(fd, 0) == UINT64_MAX; /* taken out */
    go_to(2);
    wait_for(3); /* woken twice meanwhile, and signalled by somebody else in between */
    around->result[3] = wait_readable(fd, LONG_NS) < LONG_NS;
    around->result[4] = yarn_thread_clear_wakes(&thread, fd);
    around->result[5] = wait_readable(fd, 0) == UINT64_MAX;
    around->result[6] = !yarn_thread_clear_wakes(&thread, fd); /* does not wait for one */
    return 0;
}

static void check_wakes(void)
{
    for (int i = 0; i < 7; i++)
        ck_assert_msg(room.result[i], "step %d", i);
    ck_assert_uint_lt(room.waited_ns, LONG_NS / 2);
}

START_TEST(thread_that_polls_is_woken_at_once_and_knows_who_else_signals_it)
{
    start(wait_for_wakes);
    wait_for(1);
    ck_assert_int_eq(yarn_thread_wake(&thread, getpid()), 0);
    wait_for(2);
    ck_assert_int_eq(yarn_thread_wake(&thread, getpid()), 0);
    ck_assert_int_eq(syscall(SYS_tkill, (pid_t)atomic_load(&thread.tid), 33), 0);
    ck_assert_int_eq(yarn_thread_wake(&thread, getpid()), 0);
    go_to(3);
    end();
    check_wakes();
}
END_TEST

START_TEST(thread_that_does_not_live_cannot_be_woken)
{
    ck_assert_int_eq(yarn_thread_wake(&thread, getpid()), -ESRCH);
    start(look_around);
    end();
    ck_assert_int_eq(yarn_thread_wake(&thread, getpid()), -ESRCH);
}
END_TEST

static unsigned long pending_of_process(void)
{
    char line[256];
    unsigned long pending = 99;
    FILE *status = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, status))
        if (sscanf(line, "ShdPnd: %lx", &pending) == 1)
            break;
    fclose(status);
    return pending;
}

START_TEST(thread_wake_reaches_nobody_else)
{
    sigset_t pending;
    start(live_until_released);
    wait_for(1);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(yarn_thread_wake(&thread, getpid()), 0);
    ck_assert_int_eq(sigpending(&pending), 0);
    for (int number = 1; number <= SIGRTMAX; number++)
        ck_assert_int_eq(sigismember(&pending, number) > 0, 0);
    ck_assert_uint_eq(pending_of_process(), 0);
    go_to(2);
    end();
}
END_TEST

static void *be_a_host_thread(void *argument)
{
    (void)argument;
    wait_for(3);
    return NULL;
}

static int poll_through_setuid(void *argument)
{
    struct room *around = argument;
    int fd = yarn_thread_open_wake();
    go_to(1);
    wait_for(2);
    around->result[0] = wait_readable(fd, 0) == UINT64_MAX; /* setuid was none of our business */
    return 0;
}

START_TEST(thread_does_not_hang_a_host_of_many_threads_that_changes_its_user)
{
    pthread_t host;
    start(poll_through_setuid);
    wait_for(1);
    ck_assert_int_eq(pthread_create(&host, NULL, be_a_host_thread, NULL), 0);
    for (int i = 0; i < 100; i++) {
        ck_assert_int_eq(setuid(getuid()), 0);
        ck_assert_int_eq(setgid(getgid()), 0);
    }
    go_to(2);
    end();
    go_to(3);
    ck_assert_int_eq(pthread_join(host, NULL), 0);
    ck_assert(room.result[0]);
}
END_TEST

static int own_files(void *argument)
{
    struct room *around = argument;
    struct stat info, null;
    around->result[0] = yarn_own_files_open(around->is_apart);
    yarn_raw_call(SYS_stat, (long)"/dev/null", (long)&null, 0, 0, 0, 0);
    for (int fd = 0; fd < 3; fd++)
        if (yarn_raw_call(SYS_fstat, fd, (long)&info, 0, 0, 0, 0) || info.st_rdev != null.st_rdev)
            around->result[1]++;
    for (int fd = 3; fd < 1024; fd++)
        if (yarn_raw_call(SYS_fcntl, fd, F_GETFD, 0, 0, 0, 0) != -EBADF)
            around->result[2]++;
    return 0;
}

static int go_elsewhere(void *argument)
{
    struct room *around = argument;
    around->result[0] = yarn_own_files_open(around->is_apart);
    yarn_raw_call(SYS_chdir, (long)"/", 0, 0, 0, 0, 0);
    return 0;
}

START_TEST(thread_that_owns_its_files_leaves_the_host_its_own)
{
    char byte = 0;
    int fds[2];
    ck_assert_int_eq(pipe(fds), 0);
    room.is_apart = _i;
    ck_assert_int_eq(yarn_thread_start(&thread, own_files, &room, room.is_apart), 0);
    end();
    ck_assert_int_eq(room.result[0], 0);
    ck_assert_int_eq(room.result[1], 0); /* 0, 1, 2 that are not /dev/null */
    ck_assert_int_eq(room.result[2], 0); /* others that are open */
    ck_assert_int_eq(write(fds[1], "x", 1), 1);
    ck_assert_int_eq(read(fds[0], &byte, 1), 1);
    ck_assert_int_eq(byte, 'x');
}
END_TEST

/* Or it would be a way out of a root that the host has left. */
START_TEST(thread_is_where_the_host_is)
{
    char folder[4096];
    ck_assert_int_eq(chdir("/tmp"), 0);
    room.is_apart = _i;
    ck_assert_int_eq(yarn_thread_start(&thread, go_elsewhere, &room, room.is_apart), 0);
    end();
    ck_assert_int_eq(room.result[0], 0);
    ck_assert_ptr_nonnull(getcwd(folder, sizeof folder));
    ck_assert_str_eq(folder, "/");
}
END_TEST

enum { FROM_HANDLER = 42 };

/* As the child's atexit function; ends it before a sanitizer looks for leaks of Check's. */
static void exit_from_handler(void)
{
    _exit(FROM_HANDLER);
}

START_TEST(thread_does_not_keep_a_host_whose_last_thread_leaves)
{
    int status;
    pid_t child = fork();
    if (!child) {
        atexit(exit_from_handler);
        if (yarn_thread_start(&thread, live_until_released, &room, false))
            _exit(1);
        wait_for(1);
        pthread_exit(NULL);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), FROM_HANDLER);
}
END_TEST

static int burn_stack(void *argument)
{
    struct room *around = argument;
    uint8_t big[192 * 1024];
    memset(big, 1, sizeof big);
    for (volatile uint8_t *byte = big; byte < big + sizeof big; byte += 4096)
        around->result[0] += *byte;
    return 0;
}

START_TEST(thread_has_most_of_256_kib_of_stack)
{
    start(burn_stack);
    end();
    ck_assert_int_eq(room.result[0], 48);
}
END_TEST

static void add_life_tests(TCase *tcase)
{
    tcase_add_test(tcase, thread_runs_as_another_thread_of_the_process);
    tcase_add_test(tcase, thread_can_be_started_again_and_again);
    tcase_add_test(tcase, thread_has_every_signal_blocked_and_its_starter_none_the_more);
    tcase_add_test(tcase, thread_join_times_out_while_the_thread_lives);
    tcase_add_test(tcase, thread_join_without_a_limit_waits_for_the_end);
    tcase_add_test(tcase, thread_that_the_kernel_refuses_leaves_nothing_behind);
    tcase_add_test(tcase, thread_has_most_of_256_kib_of_stack);
}

static void add_host_tests(TCase *tcase)
{
    tcase_add_test(tcase, thread_has_an_errno_of_its_own);
    tcase_add_test(tcase, thread_calls_that_fail_leave_errno_alone);
    tcase_add_test(tcase, thread_leaves_the_process_single_threaded_to_libc);
    tcase_add_test(tcase, thread_does_not_hang_a_host_of_many_threads_that_changes_its_user);
    tcase_add_loop_test(tcase, thread_that_owns_its_files_leaves_the_host_its_own, 0, 2);
    tcase_add_loop_test(tcase, thread_is_where_the_host_is, 0, 2);
    tcase_add_test(tcase, thread_does_not_keep_a_host_whose_last_thread_leaves);
}

int main(void)
{
    Suite *suite = suite_create("thread");

    TCase *life = tcase_create("its life");
    tcase_set_timeout(life, 20);
    add_life_tests(life);
    suite_add_tcase(suite, life);

    TCase *wake = tcase_create("its wake-up");
    tcase_set_timeout(wake, 20);
    tcase_add_test(wake, thread_that_polls_is_woken_at_once_and_knows_who_else_signals_it);
    tcase_add_test(wake, thread_that_does_not_live_cannot_be_woken);
    tcase_add_test(wake, thread_wake_reaches_nobody_else);
    suite_add_tcase(suite, wake);

    TCase *host = tcase_create("what its host sees of it");
    tcase_set_timeout(host, 20);
    add_host_tests(host);
    suite_add_tcase(suite, host);
    return run_suite(suite);
}
