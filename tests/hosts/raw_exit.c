/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hosts that end without the C library. `raw_exit only`: the only thread leaves by the raw
 * system call with status 7. `raw_exit main`: so does the main thread, while another works and
 * ends the process with status 3. `raw_exit both`: that other thread leaves raw with 5, too.
 */
#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
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

/* The thread ends behind the main one's line however busy the machine is. */
static sem_t main_has_said;

static void *work_and_end(void *way)
{
    uint64_t value = yarn_host_work(20, 1, 3);
    sem_wait(&main_has_said);
    printf("thread: %016" PRIx64 "\n", value);
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
    printf("main: %016" PRIx64 "\n", yarn_host_work(5, 1, 5));
    fflush(stdout);
    sem_post(&main_has_said);
    leave_raw(7);
}
