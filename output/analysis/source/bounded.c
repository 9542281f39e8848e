/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/source/bounded.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static sigjmp_buf before_work;
static volatile sig_atomic_t is_working;

uint64_t yarn_bounded_data_bytes(void)
{
    static int fd = -1;
    unsigned long long pages = 0;
    char text[128];
    if (fd < 0)
        fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t size = pread(fd, text, sizeof text - 1, 0);
    text[size > 0 ? size : 0] = 0;
    if (sscanf(text, "%*u %*u %*u %*u %*u %llu", &pages) != 1)
        return 0;
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

void yarn_bounded_give_up(void)
{
    if (is_working)
        siglongjmp(before_work, 1);
    abort();
}

static void on_abort(int signal_number)
{
    if (is_working)
        siglongjmp(before_work, 1);
    (void)signal(signal_number, SIG_DFL);
}

/* Why only once: a search for an address takes some microseconds. */
static void catch_aborts(void)
{
    static bool is_caught;
    struct sigaction action = {.sa_handler = on_abort, .sa_flags = SA_NODEFER};
    if (!is_caught)
        is_caught = sigaction(SIGABRT, &action, NULL) == 0;
}

int yarn_bounded_call(uint64_t *left, int (*work)(void *context), void *context)
{
    struct rlimit limit, none;
    uint64_t before = yarn_bounded_data_bytes();
    if (!before || getrlimit(RLIMIT_DATA, &none))
        return work(context);
    catch_aborts();
    limit = none;
    limit.rlim_cur = yarn_u64_min(none.rlim_cur, before + *left);
    (void)setrlimit(RLIMIT_DATA, &limit);
    volatile int err = -E2BIG;
    if (!sigsetjmp(before_work, 0)) {
        is_working = true;
        errno = 0;
        err = work(context);
        /* Why errno too: some libraries go on without what there was no memory for. */
        if (errno == ENOMEM)
            err = -E2BIG;
    }
    is_working = false;
    (void)setrlimit(RLIMIT_DATA, &none);
    uint64_t after = yarn_bounded_data_bytes();
    *left -= after > before ? yarn_u64_min(*left, after - before) : 0;
    return err;
}
