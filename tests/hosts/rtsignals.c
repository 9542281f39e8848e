/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes every real-time signal for itself and prints what it found and got:
 *
 *   rtsignals handle  looks at every disposition, handles all of them, sends each to itself once
 *   rtsignals wait    blocks them all, computes, then waits for any of them, of which none may come
 *   rtsignals die     computes, then sends itself one that nobody handles: the end by that signal
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/hosts/work.h"

enum { LAST = 64 };

static volatile sig_atomic_t nr_expected, nr_others;

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_code == SI_QUEUE && info->si_value.sival_int == number)
        nr_expected = nr_expected + 1;
    else
        nr_others = nr_others + 1;
}

static int handle(void)
{
    uint64_t value = yarn_host_work(10, 1, 1);
    int nr_defaults = 0;
    for (int number = SIGRTMIN; number <= LAST; number++) {
        struct sigaction before;
        sigaction(number, NULL, &before);
        nr_defaults += before.sa_handler == SIG_DFL;
    }
    for (int number = SIGRTMIN; number <= LAST; number++) {
        struct sigaction before, action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
        sigaction(number, &action, &before);
        nr_defaults += before.sa_handler == SIG_DFL;
    }
    value = yarn_host_work(12, value, 1);
    for (int number = SIGRTMIN; number <= LAST; number++)
        sigqueue(getpid(), number, (union sigval){.sival_int = number});
    printf("defaults: %d, expected: %d, others: %d, %016" PRIx64 "\n", nr_defaults,
           (int)nr_expected, (int)nr_others, value);
    return 0;
}

static int wait_for_none(void)
{
    sigset_t all;
    struct timespec duration = {.tv_nsec = 20000000};
    sigfillset(&all);
    uint64_t value = yarn_host_work(5, 1, 1);
    sigprocmask(SIG_SETMASK, &all, NULL);
    for (int i = 0; i < 10; i++) {
        value = yarn_host_work(3, value, 1);
        int number = sigtimedwait(&all, NULL, &duration);
        if (number != -1 || errno != EAGAIN)
            printf("got signal %d, errno %d\n", number, errno);
    }
    printf("waited, %016" PRIx64 "\n", value);
    return 0;
}

int main(int argc, char *argv[])
{
    const char *what = argc > 1 ? argv[1] : "handle";
    if (!strcmp(what, "wait"))
        return wait_for_none();
    if (!strcmp(what, "handle"))
        return handle();
    printf("%016" PRIx64 "\n", yarn_host_work(20, 1, 1));
    fflush(stdout);
    /* Which one is borrowed is none of the host's business: each would end it. */
    for (int number = LAST - 2; number >= SIGRTMIN; number--)
        raise(number);
    return 0;
}
