/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hosts that end without the C library. `raw_exit only`: the only thread leaves by the raw
 * system call with status 7. `raw_exit main`: so does the main thread, while another works and
 * ends the process with status 3. `raw_exit both`: that other thread leaves raw with 5, too.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/raw.h"
#include "tests/hosts/work.h"

static _Noreturn void leave_raw(int status)
{
    for (;;)
        yarn_raw_call(SYS_exit, status, 0, 0, 0, 0, 0);
}

static void *work_and_end(void *way)
{
    printf("thread: %016" PRIx64 "\n", yarn_host_work(40, 1, 3));
    fflush(stdout);
    if (!strcmp(way, "both"))
        leave_raw(5);
    _exit(3);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    pthread_t thread;
    if (strcmp(argv[1], "only") && pthread_create(&thread, NULL, work_and_end, argv[1]))
        return EXIT_FAILURE;
    printf("main: %016" PRIx64 "\n", yarn_host_work(10, 1, 5));
    fflush(stdout);
    leave_raw(7);
}
