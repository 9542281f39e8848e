/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/command/spawn.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "output/yarnprof/io/status.h"

static volatile sig_atomic_t child_pid, has_passed_on;

/* The terminal sends SIGINT and SIGQUIT to the command as well; the others come to us alone. */
static void pass_on(int number)
{
    has_passed_on = 1;
    if (child_pid > 0)
        (void)kill((pid_t)child_pid, number);
}

bool yarn_spawn_is_told_to_end(void)
{
    return has_passed_on;
}

static const struct {
    int number;
    void (*handler)(int number);
} passed[YARN_SPAWN_PASSED] = {
    {SIGINT, SIG_IGN},
    {SIGQUIT, SIG_IGN},
    {SIGTERM, pass_on},
    {SIGHUP, pass_on},
};

static void watch_signals(struct yarn_spawn *spawn)
{
    for (size_t i = 0; i < YARN_COUNT_OF(passed); i++) {
        struct sigaction action = {.sa_handler = passed[i].handler, .sa_flags = SA_RESTART};
        (void)sigaction(passed[i].number, &action, &spawn->before[i]);
    }
}

/* Its end is to be waited for, also where who started us does not wait for his children. */
static void hold_child_signal(struct yarn_spawn *spawn)
{
    struct sigaction plain = {.sa_handler = SIG_DFL};
    sigset_t mask;
    (void)sigemptyset(&mask);
    (void)sigaddset(&mask, SIGCHLD);
    (void)sigprocmask(SIG_BLOCK, &mask, &spawn->mask_before);
    (void)sigaction(SIGCHLD, &plain, &spawn->child_before);
}

static void give_back_child_signal(const struct yarn_spawn *spawn)
{
    (void)sigaction(SIGCHLD, &spawn->child_before, NULL);
    (void)sigprocmask(SIG_SETMASK, &spawn->mask_before, NULL);
}

uint64_t yarn_spawn_now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * YARN_NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

/* In the child: becomes the command, or reports to the parent why not. */
static _Noreturn void become(const struct yarn_spawn *spawn, char *const argv[], int gate,
                             int report, yarn_spawn_prepare_fn *prepare, const void *self)
{
    char byte;
    ssize_t got;
    do {
        got = read(gate, &byte, 1);
    } while (got < 0 && errno == EINTR);
    if (got != 1)
        _exit(YARN_STATUS_CANNOT_RUN);
    give_back_child_signal(spawn);
    int err = prepare ? prepare(self) : 0;
    if (!err) {
        (void)execvp(argv[0], argv);
        err = -errno;
    }
    ssize_t written = write(report, &err, sizeof err);
    _exit(written == (ssize_t)sizeof err ? YARN_STATUS_NO_COMMAND : YARN_STATUS_CANNOT_RUN);
}

static void close_both(const int ends[2])
{
    (void)close(ends[0]);
    (void)close(ends[1]);
}

int yarn_spawn_start(struct yarn_spawn *spawn, char *const argv[], yarn_spawn_prepare_fn *prepare,
                     const void *self)
{
    int gate[2], report[2];
    *spawn = (struct yarn_spawn){.pid = -1};
    if (pipe2(gate, O_CLOEXEC))
        return -errno;
    if (pipe2(report, O_CLOEXEC)) {
        int err = -errno;
        close_both(gate);
        return err;
    }
    hold_child_signal(spawn);
    spawn->pid = fork();
    if (spawn->pid < 0) {
        int err = -errno;
        give_back_child_signal(spawn);
        close_both(gate);
        close_both(report);
        return err;
    }
    if (spawn->pid == 0) {
        (void)close(gate[1]); /* so that our end is seen here */
        become(spawn, argv, gate[0], report[1], prepare, self);
    }
    child_pid = spawn->pid;
    watch_signals(spawn);
    (void)close(gate[0]);
    (void)close(report[1]);
    spawn->gate = gate[1];
    spawn->report = report[0];
    return 0;
}

void yarn_spawn_release(struct yarn_spawn *spawn)
{
    spawn->begin_ns = yarn_spawn_now_ns();
    ssize_t written = write(spawn->gate, "", 1);
    (void)written; /* a child that is gone is seen by its status */
}

void yarn_spawn_cancel(struct yarn_spawn *spawn)
{
    int status, err;
    (void)close(spawn->gate);
    spawn->gate = -1;
    err = yarn_spawn_finish(spawn, &status);
    (void)err; /* there was no command */
}

static bool has_ended(struct yarn_spawn *spawn, int flags)
{
    pid_t got;
    do {
        got = wait4(spawn->pid, &spawn->status, flags, &spawn->usage);
    } while (got < 0 && errno == EINTR);
    if (got == 0)
        return false;
    spawn->end_ns = yarn_spawn_now_ns();
    spawn->is_over = true;
    child_pid = 0;
    return true;
}

bool yarn_spawn_wait(struct yarn_spawn *spawn, uint64_t timeout_ns)
{
    uint64_t begin_ns = yarn_spawn_now_ns(), past_ns = 0;
    sigset_t mask;
    if (spawn->is_over || timeout_ns == UINT64_MAX)
        return spawn->is_over || has_ended(spawn, 0);
    (void)sigemptyset(&mask);
    (void)sigaddset(&mask, SIGCHLD);
    while (!has_ended(spawn, WNOHANG)) {
        past_ns = yarn_spawn_now_ns() - begin_ns;
        if (past_ns >= timeout_ns)
            return false;
        uint64_t left_ns = timeout_ns - past_ns;
        struct timespec left = {(time_t)(left_ns / YARN_NS_PER_SECOND),
                                (long)(left_ns % YARN_NS_PER_SECOND)};
        (void)sigtimedwait(&mask, NULL, &left);
    }
    return true;
}

int yarn_spawn_finish(struct yarn_spawn *spawn, int *ret_status)
{
    int err = 0;
    bool is_over = yarn_spawn_wait(spawn, UINT64_MAX);
    ssize_t got = read(spawn->report, &err, sizeof err); /* the child was its only writer */
    (void)close(spawn->report);
    if (spawn->gate >= 0)
        (void)close(spawn->gate);
    for (size_t i = 0; i < YARN_COUNT_OF(passed); i++)
        (void)sigaction(passed[i].number, &spawn->before[i], NULL);
    give_back_child_signal(spawn);
    if (got == (ssize_t)sizeof err)
        return err;
    if (!is_over)
        return -ECHILD;
    *ret_status = WIFSIGNALED(spawn->status) ? YARN_STATUS_SIGNAL + WTERMSIG(spawn->status)
                                             : WEXITSTATUS(spawn->status);
    return 0;
}
