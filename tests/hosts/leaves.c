/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that leave a call before it has returned, or meet in it. What is printed is the same in
 * every run. The call is an exec of a file that is executable and no program.
 *
 *     leaves exit      a signal handler ends the process by _exit, again and again in children
 *     leaves jump      a signal handler jumps out of the call
 *     leaves cancel    threads are cancelled in the call, asynchronously
 *     leaves together  one thread's exec fails all the time while another's succeeds, in children
 *     leaves stopped   children that end, each in another way, while a debugger has the reader
 * stopped
 *     leaves delayed   the same, and it has it for a moment only
 */
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/hosts/hinder.h"
#include "tests/hosts/work.h"

enum { ROUNDS = 12, CALLS = 60, UNITS = 8, STATUS = 3, STOPPED_MS = 60000, DELAYED_MS = 200 };

extern char **environ;

static char no_program[64];
static sigjmp_buf outside;

__attribute__((noinline)) static void own_work(uint64_t nr_units)
{
    printf("own: %016" PRIx64 "\n", yarn_host_work(nr_units, 1, 3));
    fflush(stdout);
}

static void fail_to_exec(void)
{
    char *const argv[] = {"none", NULL};
    execve(no_program, argv, environ);
}

static void *fail_for_ever(void *unused)
{
    for (;;)
        fail_to_exec();
    return unused;
}

static void on_exit_signal(int number)
{
    (void)number;
    _exit(STATUS);
}

static void on_jump_signal(int number)
{
    (void)number;
    siglongjmp(outside, 1);
}

static void expect_signal(void (*handler)(int), long after_us)
{
    struct sigaction action = {.sa_handler = handler};
    struct itimerval timer = {.it_value.tv_usec = after_us};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
}

static int status_of(pid_t child)
{
    int status = 0;
    return child < 0 || waitpid(child, &status, 0) != child ? -1 : status;
}

static int by_exit(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        pid_t child = fork();
        if (child == 0) {
            own_work(UNITS);
            expect_signal(on_exit_signal, 20000 + 137 * i);
            fail_for_ever(NULL);
        }
        printf("status %x\n", (unsigned)status_of(child));
        fflush(stdout);
    }
    return 0;
}

static int by_jump(void)
{
    for (volatile int i = 0; i < ROUNDS; i++)
        if (!sigsetjmp(outside, 1)) {
            expect_signal(on_jump_signal, 20000 + 137 * i);
            fail_for_ever(NULL);
        }
    own_work(UNITS);
    for (int i = 0; i < CALLS; i++)
        fail_to_exec();
    own_work(UNITS);
    return STATUS;
}

static void *wait_for_cancel(void *unused)
{
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    return fail_for_ever(unused);
}

static int by_cancel(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_t thread;
        struct timespec pause = {.tv_nsec = 20000000 + 137000 * i};
        if (pthread_create(&thread, NULL, wait_for_cancel, NULL))
            return EXIT_FAILURE;
        nanosleep(&pause, NULL);
        pthread_cancel(thread);
        pthread_join(thread, NULL);
    }
    own_work(UNITS);
    for (int i = 0; i < CALLS; i++)
        fail_to_exec();
    own_work(UNITS);
    return STATUS;
}

static int together(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        pid_t child = fork();
        if (child == 0) {
            pthread_t thread;
            char *const argv[] = {"true", NULL};
            own_work(UNITS);
            if (pthread_create(&thread, NULL, fail_for_ever, NULL))
                _exit(EXIT_FAILURE);
            usleep(20000 + 137 * (unsigned)i);
            execve("/bin/true", argv, environ);
            _exit(EXIT_FAILURE);
        }
        printf("status %x\n", (unsigned)status_of(child));
        fflush(stdout);
    }
    return 0;
}

static void leave_in_way(int way)
{
    char *const argv[] = {"true", NULL};
    if (way == 0)
        execve("/bin/true", argv, environ);
    if (way == 1)
        fail_to_exec();
    _exit(STATUS);
}

static int stopped(int for_ms)
{
    for (int way = 0; way < 3; way++) {
        pid_t child = fork();
        if (child == 0) {
            own_work(UNITS);
            if (!yarn_hinder_reader(for_ms))
                _exit(77);
            leave_in_way(way);
        }
        printf("status %x\n", (unsigned)status_of(child));
        fflush(stdout);
    }
    return 0;
}

/* Neither a program nor a script. */
static int make_no_program(void)
{
    int fd = memfd_create("none", 0);
    if (fd < 0 || write(fd, "\177none", 5) != 5 || fchmod(fd, 0755))
        return -1;
    return snprintf(no_program, sizeof no_program, "/proc/self/fd/%d", fd) < 0;
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    if (make_no_program())
        return EXIT_FAILURE;
    if (!strcmp(way, "exit"))
        return by_exit();
    if (!strcmp(way, "jump"))
        return by_jump();
    if (!strcmp(way, "cancel"))
        return by_cancel();
    if (!strcmp(way, "together"))
        return together();
    if (!strcmp(way, "stopped"))
        return stopped(STOPPED_MS);
    if (!strcmp(way, "delayed"))
        return stopped(DELAYED_MS);
    return EXIT_FAILURE;
}
