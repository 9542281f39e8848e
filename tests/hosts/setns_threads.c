/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many threads enter the namespace that they are in, at once and again and again; `timer`: a
 * handler that a timer calls each 700 us leaves what it shares, while the thread computes.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "tests/hosts/work.h"

enum { NR_THREADS = 24, NR_TURNS = 8, PERIOD_US = 700, UNITS = 10 };

static void *enter_namespace(void *unused)
{
    for (int turn = 0; turn < NR_TURNS; turn++) {
        int fd = open("/proc/self/ns/uts", O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            continue;
        int refused = setns(fd, 0);
        close(fd);
        if (refused)
            break; /* only root may */
    }
    return unused;
}

static void leave(int number)
{
    (void)number;
    unshare(CLONE_FS);
}

static int work_under_timer(void)
{
    struct sigaction action = {.sa_handler = leave};
    struct itimerval each = {.it_interval.tv_usec = PERIOD_US, .it_value.tv_usec = PERIOD_US};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &each, NULL);
    unsigned long long value = yarn_host_work(UNITS, 1, 1);
    printf("%llx\n", value);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "timer") == 0)
        return work_under_timer();
    pthread_t threads[NR_THREADS];
    for (int i = 0; i < NR_THREADS; i++) {
        if (pthread_create(&threads[i], NULL, enter_namespace, NULL))
            return 1;
    }
    for (int i = 0; i < NR_THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%d threads have ended\n", NR_THREADS);
    return 0;
}
