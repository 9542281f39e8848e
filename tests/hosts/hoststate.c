/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints what a guest could change in a process and must not: twice, at the start of main and
 * after half a second of work. Equal output with and without the preload is the proof.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/single_threaded.h>
#include <sys/time.h>
#include <unistd.h>

#include "tests/hosts/work.h"

extern char **environ;

static void print_status(void)
{
    static const char *const wanted[] = {
        "Umask:",   "Uid:",         "Gid:",    "SigPnd:",      "ShdPnd:",
        "SigBlk:",  "SigIgn:",      "SigCgt:", "CapEff:",      "NoNewPrivs:",
        "Seccomp:", "THP_enabled:", "CapBnd:", "Cpus_allowed:"};
    char line[512];
    FILE *status = fopen("/proc/self/status", "re");
    while (status && fgets(line, sizeof line, status)) {
        for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
            if (!strncmp(line, wanted[i], strlen(wanted[i])))
                fputs(line, stdout);
        }
    }
    if (status)
        fclose(status);
}

static void print_limits(void)
{
    for (int resource = 0; resource < (int)RLIMIT_NLIMITS; resource++) {
        struct rlimit limit;
        if (!getrlimit((__rlimit_resource_t)resource, &limit))
            printf("limit %d: %ju %ju\n", resource, (uintmax_t)limit.rlim_cur,
                   (uintmax_t)limit.rlim_max);
    }
}

static void print_descriptors(void)
{
    int nr = 0;
    DIR *folder = opendir("/proc/self/fd");
    for (struct dirent *entry = folder ? readdir(folder) : NULL; entry; entry = readdir(folder))
        nr += entry->d_name[0] != '.';
    if (folder)
        closedir(folder);
    printf("descriptors: %d\n", nr);
}

static void print_handlers(void)
{
    for (int number = 1; number < NSIG; number++) {
        struct sigaction action;
        if (!sigaction(number, NULL, &action) && action.sa_handler != SIG_DFL)
            printf("signal %d is handled: %d\n", number, action.sa_handler != SIG_IGN);
    }
    static const __itimer_which_t timers[] = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};
    for (size_t i = 0; i < sizeof timers / sizeof timers[0]; i++) {
        struct itimerval value;
        if (!getitimer(timers[i], &value))
            printf("timer %zu: %jd\n", i,
                   (intmax_t)(value.it_value.tv_sec + value.it_value.tv_usec));
    }
    stack_t stack;
    if (!sigaltstack(NULL, &stack))
        printf("alternate stack: %d %zu\n", stack.ss_flags, stack.ss_size);
}

static void print_environment(void)
{
    for (char **entry = environ; *entry; entry++) {
        if (strncmp(*entry, "LD_PRELOAD=", 11) && strncmp(*entry, "YARN", 4) &&
            strncmp(*entry, "HOST_", 5))
            printf("%s\n", *entry);
    }
}

static void print_state(const char *when, int error)
{
    printf("== %s\nerrno: %d\nsingle-threaded: %d\n", when, error, __libc_single_threaded);
    print_status();
    print_limits();
    print_descriptors();
    print_handlers();
    print_environment();
    char folder[4096];
    printf("folder: %s\n", getcwd(folder, sizeof folder) ? folder : "?");
    printf("dumpable: %d, timer slack: %d, child subreaper: %d, priority: %d\n",
           prctl(PR_GET_DUMPABLE), prctl(PR_GET_TIMERSLACK),
           prctl(PR_GET_CHILD_SUBREAPER, &(int){0}), getpriority(PRIO_PROCESS, 0));
}

int main(void)
{
    print_state("start of main", errno);
    errno = 0;
    uint64_t value = yarn_host_work(10, 1, 1);
    print_state("after the work", errno);
    printf("%016" PRIx64 "\n", value);
    return 0;
}
