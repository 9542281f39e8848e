/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a program's threads say of themselves: each adds a line with its number and its CPU time to
 * the file that HOST_TIMES names, as the last thing that it does. C and C++ alike.
 */
#pragma once

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/include/yarn/control.h"

static int yarn_host_own_times = -1;

/* Before the first thread. The dump, if there is one, is begun, so that it has every thread.
 */
static inline void yarn_host_begin_own_times(void)
{
    const char *path = getenv("HOST_TIMES");
    if (!path)
        return;
    yarn_host_own_times = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    yarn_flush();
}

static inline void yarn_host_print_own_time(void)
{
    char line[64];
    struct timespec used;
    if (yarn_host_own_times < 0 || clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used))
        return;
    int size = snprintf(line, sizeof line, "%ld %lld\n", syscall(SYS_gettid),
                        used.tv_sec * 1000000000LL + used.tv_nsec);
    if (write(yarn_host_own_times, line, (size_t)size) != size)
        _exit(3);
}
