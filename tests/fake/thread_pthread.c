/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * core/sys/thread.h by the C library's threads: for sanitizers, which know no others. One at a
 * time.
 */
#include "core/sys/thread.h"

#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/sys/timer.h"

enum { WAKE_SIGNAL = 33 };

static struct {
    pthread_t handle;
    struct yarn_thread *thread;
    yarn_thread_fn run;
    void *argument;
} the_thread;

/* Raw, because the C library's functions leave out its own signals, one of which is the wake-up. */
static uint64_t set_mask(uint64_t mask)
{
    uint64_t before = 0;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, &before, sizeof mask);
    return before;
}

static void *enter(void *unused)
{
    (void)unused;
    set_mask(~UINT64_C(0)); /* the C library has taken its own out again */
    atomic_store(&the_thread.thread->tid, (uint32_t)syscall(SYS_gettid));
    the_thread.run(the_thread.argument);
    atomic_store(&the_thread.thread->tid, 0);
    return NULL;
}

int yarn_thread_start(struct yarn_thread *thread, yarn_thread_fn run, void *argument, bool is_apart)
{
    (void)is_apart;
    the_thread.thread = thread;
    the_thread.run = run;
    the_thread.argument = argument;
    uint64_t before = set_mask(~UINT64_C(0));
    int err = pthread_create(&the_thread.handle, NULL, enter, NULL);
    set_mask(before);
    return -err;
}

int yarn_thread_start_in_child(struct yarn_thread *thread, yarn_thread_fn run, void *argument,
                               bool is_apart)
{
    return yarn_thread_start(thread, run, argument, is_apart);
}

void yarn_thread_count_memory(const struct yarn_thread *thread)
{
    (void)thread;
}

int yarn_thread_join(struct yarn_thread *thread, uint64_t timeout_ns)
{
    (void)thread;
    (void)timeout_ns;
    return -pthread_join(the_thread.handle, NULL);
}

void yarn_thread_fini(struct yarn_thread *thread)
{
    (void)thread;
}

int yarn_thread_wake(struct yarn_thread *thread, pid_t pid)
{
    return (int)syscall(SYS_tgkill, pid, (pid_t)atomic_load(&thread->tid), WAKE_SIGNAL);
}

int yarn_thread_open_wake(void)
{
    uint64_t mask = UINT64_C(1) << (WAKE_SIGNAL - 1);
    return (int)syscall(SYS_signalfd4, -1, &mask, sizeof mask, SFD_CLOEXEC | SFD_NONBLOCK);
}

int yarn_thread_open_alarm(int *ret_timer)
{
    return yarn_timer_open_of_process((pid_t)syscall(SYS_gettid), WAKE_SIGNAL, ret_timer);
}

bool yarn_thread_clear_wakes(struct yarn_thread *thread, int fd)
{
    (void)thread;
    (void)fd;
    const struct timespec none = {0};
    uint64_t mask = UINT64_C(1) << (WAKE_SIGNAL - 1);
    while (syscall(SYS_rt_sigtimedwait, &mask, NULL, &none, sizeof mask) == WAKE_SIGNAL)
        ;
    return false;
}

bool yarn_thread_is_asked(struct yarn_thread *thread)
{
    (void)thread;
    return false;
}
