/* SPDX-License-Identifier: Apache-2.0 */
/* A host that works, and ends in the way that its argument names. */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/hosts/work.h"

static const char *how = "";

static void work(void)
{
    printf("%016" PRIx64 "\n", yarn_host_work(8, 1, 9));
    fflush(stdout);
}

__attribute__((constructor)) static void begin(int argc, char **argv)
{
    if (argc > 1)
        how = argv[1];
    if (strcmp(how, "constructor") == 0) {
        work();
        exit(4);
    }
}

__attribute__((destructor)) static void finish(void)
{
    if (strcmp(how, "destructor") == 0) {
        work();
        _exit(5);
    }
}

static void say(void)
{
    printf("handler\n");
    fflush(stdout);
    work();
}

static void *exit_here(void *unused)
{
    work();
    exit(6);
    return unused;
}

static void *work_on(void *unused)
{
    for (;;)
        yarn_host_work(1, 1, 9);
    return unused;
}

static void nest(void)
{
    work();
    exit(8);
}

enum { LATER = 3 };

static int is_signal(const char *way)
{
    return !strcmp(way, "abort") || !strcmp(way, "kill") || !strcmp(way, "term") ||
           !strcmp(way, "fault");
}

int main(int argc, char **argv)
{
    pthread_t thread;
    if (argc != 2)
        return 2;
    atexit(say);
    at_quick_exit(say);
    work();
    /* What ends it by a signal comes after the interval at which what was sampled is stored. */
    for (int i = 0; i < LATER && is_signal(how); i++)
        work();
    if (!strcmp(how, "exit"))
        exit(3);
    if (!strcmp(how, "_Exit"))
        _Exit(3);
    if (!strcmp(how, "quick_exit"))
        quick_exit(3);
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "kill"))
        raise(SIGKILL);
    if (!strcmp(how, "term"))
        raise(SIGTERM);
    if (!strcmp(how, "fault"))
        raise(SIGSEGV);
    if (!strcmp(how, "group"))
        syscall(SYS_exit_group, 3);
    if (!strcmp(how, "nested"))
        atexit(nest);
    if (!strcmp(how, "thread")) {
        if (pthread_create(&thread, NULL, exit_here, NULL))
            return EXIT_FAILURE;
        pthread_join(thread, NULL);
    }
    if (!strcmp(how, "busy") && pthread_create(&thread, NULL, work_on, NULL))
        return EXIT_FAILURE;
    (void)argv;
    return 7;
}
