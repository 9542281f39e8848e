/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `asked tasks NUMBER [FOLDER]`: signals each task of the process, by the C library's internal
 * number as libpsx does to change the rights of all, or by any, and waits until each has handled it
 * or is gone; in FOLDER as its root, for root. `asked all`: blocks every signal, sends itself each,
 * and takes it by sigtimedwait.
 */
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/hosts/work.h"

enum { TASKS_MAX = 16, MASK_BYTES = 8, ROUNDS = 3, UNITS = 4, PAUSE_US = 300 };

struct kernel_action {
    void *handler;
    unsigned long flags;
    void *restorer;
    uint64_t mask;
};

static _Atomic pid_t answered[TASKS_MAX];
static pid_t asked[TASKS_MAX];
static atomic_bool is_over;
static DIR *tasks;
static int asking;

static void answer(int number)
{
    pid_t own = gettid();
    (void)number;
    for (size_t i = 0; i < TASKS_MAX; i++)
        if (asked[i] == own)
            atomic_store(&answered[i], own);
}

/* The C library lets nobody handle it: the kernel does. */
static void handle_asking(void)
{
    struct kernel_action action;
    struct sigaction own = {.sa_handler = answer, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &own, NULL);
    syscall(SYS_rt_sigaction, SIGUSR1, NULL, &action, MASK_BYTES);
    syscall(SYS_rt_sigaction, asking, &action, NULL, MASK_BYTES);
}

static bool waits_for(pid_t task)
{
    size_t i = 0;
    while (asked[i] && asked[i] != task)
        i++;
    if (!asked[i]) {
        asked[i] = task;
        syscall(SYS_tkill, task, asking);
    }
    return atomic_load(&answered[i]) != task;
}

static void ask_all(void)
{
    bool is_waiting = true;
    memset(asked, 0, sizeof asked);
    memset(answered, 0, sizeof answered);
    while (is_waiting) {
        is_waiting = false;
        rewinddir(tasks);
        for (struct dirent *entry = readdir(tasks); entry; entry = readdir(tasks))
            if (atoi(entry->d_name) && atoi(entry->d_name) != getpid())
                is_waiting |= waits_for(atoi(entry->d_name));
        sched_yield();
    }
}

static void *live(void *argument)
{
    while (!atomic_load(&is_over))
        yarn_host_work(1, 1, 3);
    return argument;
}

static int ask_tasks(const char *root)
{
    pthread_t thread;
    tasks = opendir("/proc/self/task");
    if (!tasks || (root && chroot(root)) || pthread_create(&thread, NULL, live, NULL))
        return 1;
    handle_asking();
    for (int i = 0; i < ROUNDS; i++) {
        yarn_host_work(UNITS, 1, 3);
        ask_all();
    }
    atomic_store(&is_over, true);
    pthread_join(thread, NULL);
    puts("each has answered");
    return 0;
}

static int send_all(void)
{
    const struct timespec none = {0};
    sigset_t all;
    int lost = 0;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    yarn_host_work(UNITS, 1, 3);
    for (int number = 1; number <= SIGRTMAX; number++) {
        if (!sigismember(&all, number) || number == SIGKILL || number == SIGSTOP)
            continue;
        kill(getpid(), number);
        usleep(PAUSE_US);
        lost += sigtimedwait(&all, NULL, &none) != number;
    }
    printf("%d lost\n", lost);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    asking = argc > 2 ? atoi(argv[2]) : 0;
    return strcmp(argv[1], "all") == 0 ? send_all() : ask_tasks(argc > 3 ? argv[3] : NULL);
}
