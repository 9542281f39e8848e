/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a host may do with signals beyond an ordinary handler, each beside threads that compute:
 *
 *   raw        handles every signal but the C library's own two by the kernel's call
 *   forward    blocks every signal, passes on to a child what comes by signalfd and sigtimedwait
 *   blocked    computes behind a mask of all signals and in front of it, and prints the mask
 *   rawblocked blocks every signal by the kernel's call, for stretches
 *   old        sighold, sigset, sigsetmask and their like, on every number
 *   masks      waits under masks of its own, and counts what was interrupted
 *   small      a handler of 2.5 KiB that computes on an alternate stack of 8 KiB
 *   rawsmall   the same on 8 and 10 KiB that the kernel's call has set, some ticks before
 *   bad        gives sigaltstack what it refuses
 *   cancel     cancels threads in both ways, and prints what their clean-up sees blocked
 */
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/hosts/work.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

enum { LAST = 64, MASK_BYTES = 8, RESTORER = 0x04000000 };

static volatile sig_atomic_t nr_strays;

struct action {
    void (*handler)(int number);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

static void on_stray(int number)
{
    (void)number;
    nr_strays = nr_strays + 1;
}

static int is_left_alone(int number)
{
    return number == 32 || number == 33 || number == SIGKILL || number == SIGSTOP;
}

/* The kernel wants a way back: the one that the C library gave. */
static void handle_raw(void)
{
    struct action action;
    signal(SIGUSR1, on_stray);
    syscall(SYS_rt_sigaction, SIGUSR1, NULL, &action, MASK_BYTES);
    for (int number = 1; number <= LAST; number++)
        if (!is_left_alone(number))
            syscall(SYS_rt_sigaction, number, &action, NULL, MASK_BYTES);
}

static void raw(void)
{
    uint64_t value = yarn_host_work(10, 1, 1);
    handle_raw();
    value = yarn_host_work(12, value, 1);
    printf("strays: %d, %016" PRIx64 "\n", (int)nr_strays, value);
}

static void *work_beside(void *seed)
{
    return (void *)(uintptr_t)yarn_host_work(20, (uintptr_t)seed, 1);
}

/* The parent's strays would end the child, or be counted by it. */
static void forward(void)
{
    pthread_t thread;
    sigset_t all;
    void *value;
    int nr_forwarded = 0, status;
    struct timespec duration = {.tv_nsec = 20000000};
    uint64_t before = yarn_host_work(5, 1, 1);
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    sigdelset(&all, SIGCHLD); /* on a slow machine the child's end comes before that of the loop */
    pid_t child = fork();
    if (!child) {
        sigset_t none;
        handle_raw();
        sigemptyset(&none);
        for (int i = 0; i < 50; i++)
            pselect(0, NULL, NULL, NULL, &duration, &none);
        _exit(nr_strays);
    }
    pthread_create(&thread, NULL, work_beside, (void *)1);
    int fd = signalfd(-1, &all, SFD_NONBLOCK | SFD_CLOEXEC);
    for (int i = 0; i < 10; i++) {
        struct signalfd_siginfo info;
        before = yarn_host_work(1, before, 1);
        while (read(fd, &info, sizeof info) == sizeof info)
            nr_forwarded += !kill(child, (int)info.ssi_signo);
        int number = sigtimedwait(&all, NULL, &duration);
        if (number > 0)
            nr_forwarded += !kill(child, number);
    }
    pthread_join(thread, &value);
    waitpid(child, &status, 0);
    printf("forwarded: %d, child: %d, %016" PRIx64 ", %p\n", nr_forwarded, status, before, value);
}

__attribute__((noinline)) static uint64_t behind_mask(uint64_t units, uint64_t value)
{
    return yarn_host_work(units, value, 1) + 1;
}

__attribute__((noinline)) static uint64_t in_front_of_mask(uint64_t units, uint64_t value)
{
    return yarn_host_work(units, value, 1) + 2;
}

static void print_mask(void)
{
    char line[128];
    FILE *status = fopen("/proc/thread-self/status", "re");
    while (status && fgets(line, sizeof line, status))
        if (!strncmp(line, "SigBlk:", 7))
            fputs(line, stdout);
    if (status)
        fclose(status);
}

static void blocked(void)
{
    sigset_t all, before, now;
    uint64_t value = 1;
    sigfillset(&all);
    for (int i = 0; i < 20; i++) {
        value = in_front_of_mask(2, value);
        pthread_sigmask(SIG_BLOCK, &all, &before);
        value = behind_mask(2, value);
        if (!i)
            print_mask();
        sigprocmask(SIG_SETMASK, &before, &now);
    }
    print_mask();
    printf("%d %d %016" PRIx64 "\n", memcmp(&all, &now, MASK_BYTES), sigismember(&now, 32), value);
}

static void rawblocked(void)
{
    uint64_t all = ~UINT64_C(0), before, value = 1;
    for (int i = 0; i < 40; i++) {
        value = in_front_of_mask(1, value);
        syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, MASK_BYTES);
        value = behind_mask(1, value);
        syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, MASK_BYTES);
    }
    printf("%016" PRIx64 "\n", value);
}

static void old(void)
{
    typedef sighandler_t (*signal_fn)(int number, sighandler_t handler);
    signal_fn sysv = (signal_fn)(uintptr_t)dlsym(RTLD_DEFAULT, "__sysv_signal");
    uint64_t value = yarn_host_work(5, 1, 1);
    for (int number = 1; number <= LAST; number++) {
        struct sigaction action = {.sa_flags = 0};
        printf("%d: %d %d", number, sigaction(number, NULL, &action), action.sa_flags);
        if (is_left_alone(number)) {
            printf("\n");
            continue;
        }
        printf(" %d", sighold(number));
        printf(" %d", sigset(number, SIG_HOLD) == SIG_HOLD);
        printf(" %d", sigset(number, on_stray) == SIG_HOLD);
        printf(" %d", sigrelse(number));
        printf(" %d", sysv(number, on_stray) == on_stray);
        printf(" %d", sigset(number, SIG_DFL) == on_stray);
        printf(" %d", sigignore(number));
        printf(" %d", signal(number, SIG_DFL) == SIG_IGN);
        printf(" %d\n", sigblock(0));
        value = yarn_host_work(1, value, 1);
    }
    printf("%x", sigsetmask(~0));
    printf(" %x", siggetmask());
    value = yarn_host_work(5, value, 1);
    printf(" %x, strays: %d, %016" PRIx64 "\n", sigsetmask(0), (int)nr_strays, value);
}

static void masks(void)
{
    sigset_t all, none;
    struct timespec duration = {.tv_nsec = 1500000};
    struct epoll_event event;
    int nr_interrupted = 0, epoll = epoll_create1(EPOLL_CLOEXEC);
    uint64_t value = 1;
    sigfillset(&all);
    sigemptyset(&none);
    for (int i = 0; i < 60; i++) {
        sigprocmask(SIG_SETMASK, i % 3 ? &all : &none, NULL);
        value = yarn_host_work(1, value, 1);
        const sigset_t *set = i & 1 ? &all : &none;
        nr_interrupted += ppoll(NULL, 0, &duration, set) == -1 && errno == EINTR;
        nr_interrupted += pselect(0, NULL, NULL, NULL, &duration, set) == -1 && errno == EINTR;
        nr_interrupted += epoll_pwait(epoll, &event, 1, 2, set) == -1 && errno == EINTR;
        nr_interrupted += epoll_wait(epoll, &event, 1, 2) == -1 && errno == EINTR;
        nr_interrupted += nanosleep(&duration, NULL) == -1 && errno == EINTR;
        nr_interrupted += sigtimedwait(&all, NULL, &duration) == -1 && errno == EINTR;
    }
    printf("interrupted: %d, %016" PRIx64 "\n", nr_interrupted, value);
}

static uint64_t value_of_handler;

static void on_small_stack(int number)
{
    volatile uint8_t used[2560];
    for (size_t i = 0; i < sizeof used; i++)
        used[i] = (uint8_t)number;
    value_of_handler = yarn_host_work(20, used[sizeof used / 2], 1);
}

static void small(void)
{
    static _Alignas(64) uint8_t stack[8192];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = on_small_stack, .sa_flags = SA_ONSTACK};
    uint64_t value = yarn_host_work(5, 1, 1);
    printf("%d", sigaction(SIGUSR1, &action, NULL));
    printf(" %d", sigaltstack(&alternate, NULL));
    raise(SIGUSR1);
    raise(SIGUSR1);
    printf(" %016" PRIx64 " %016" PRIx64 "\n", value, value_of_handler);
}

/* By the instruction itself: nothing that could be interposed is called. */
static long set_stack(const stack_t *stack)
{
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(SYS_sigaltstack), "D"(stack), "S"(NULL)
                     : "rcx", "r11", "memory");
    return result;
}

static void *work_on_raw_stack(void *bytes)
{
    static _Alignas(64) uint8_t stacks[2][10240];
    static _Atomic int nr_used;
    stack_t alternate = {.ss_sp = stacks[nr_used++], .ss_size = (uintptr_t)bytes};
    if (set_stack(&alternate))
        return NULL;
    uint64_t value = yarn_host_work(20, 1, 1);
    raise(SIGUSR1);
    raise(SIGUSR1);
    return (void *)(uintptr_t)(value ^ value_of_handler);
}

static void raw_small(void)
{
    struct sigaction action = {.sa_handler = on_small_stack, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR1, &action, NULL);
    for (uintptr_t bytes = 8192; bytes <= 10240; bytes += 2048) {
        pthread_t thread;
        void *value = NULL;
        pthread_create(&thread, NULL, work_on_raw_stack, (void *)bytes);
        pthread_join(thread, &value);
        printf("%p ", value);
    }
    puts("");
}

static void bad(void)
{
    stack_t stack = {.ss_sp = &stack, .ss_size = 1}, before = {.ss_flags = 77};
    static uint8_t room[65536];
    for (uintptr_t address = 1; address; address <<= 8)
        printf("%d %d, ", sigaltstack((const stack_t *)(uintptr_t)address, NULL), errno);
    printf("%d %d, ", sigaltstack(&stack, NULL), errno);
    stack = (stack_t){.ss_sp = room, .ss_size = sizeof room};
    errno = 0;
    printf("%d %d ", sigaltstack(&stack, &before), errno);
    printf("%d ", before.ss_flags);
    printf("%d %zu\n", sigaltstack(NULL, &stack), stack.ss_size);
}

static _Atomic int nr_begun, nr_cleaned;

static void clean_up(void *is_reported)
{
    nr_cleaned++;
    if (is_reported)
        print_mask();
}

static void *be_cancelled(void *is_asynchronous)
{
    pthread_setcanceltype(is_asynchronous ? PTHREAD_CANCEL_ASYNCHRONOUS : PTHREAD_CANCEL_DEFERRED,
                          NULL);
    pthread_cleanup_push(clean_up, is_asynchronous);
    nr_begun++;
    if (is_asynchronous)
        for (volatile uint64_t value = 1;; value = value + 1)
            ;
    for (;;)
        pause();
    pthread_cleanup_pop(0);
    return NULL;
}

static void cancel(void)
{
    uint64_t value = yarn_host_work(3, 1, 1);
    for (int i = 0; i < 8; i++) {
        pthread_t threads[2];
        void *results[2];
        for (intptr_t j = 0; j < 2; j++)
            pthread_create(&threads[j], NULL, be_cancelled, (void *)j);
        value = yarn_host_work(3, value, 1);
        while (nr_begun < 2 * (i + 1))
            sched_yield();
        for (int j = 0; j < 2; j++)
            pthread_cancel(threads[j]);
        for (int j = 0; j < 2; j++)
            pthread_join(threads[j], &results[j]);
        printf("%d ", results[0] == PTHREAD_CANCELED && results[1] == PTHREAD_CANCELED);
    }
    printf("cleaned: %d, %016" PRIx64 "\n", nr_cleaned, value);
}

int main(int argc, char *argv[])
{
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {
        {"raw", raw},         {"forward", forward},
        {"blocked", blocked}, {"rawblocked", rawblocked},
        {"old", old},         {"masks", masks},
        {"small", small},     {"bad", bad},
        {"cancel", cancel},   {"rawsmall", raw_small},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (argc > 1 && !strcmp(argv[1], all[i].name)) {
            all[i].run();
            return 0;
        }
    return 2;
}
