/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * parts [codes]: three functions of equal work, of which only wanted() is to be recorded: it has
 * its recording stopped for the others, by <yarn/control.h> and nothing else of yarn's. Where
 * YARN_START is off the first stop changes nothing. With `codes` it prints what the calls returned.
 * C and C++ alike.
 */
#include <errno.h>
#include <stdio.h>
#include <yarn/control.h>

#include "tests/hosts/work.h"

enum { UNITS = 12 };

static uint64_t sink;

__attribute__((noinline)) static void before(void)
{
    sink += yarn_host_work(UNITS, 1, 3);
}

__attribute__((noinline)) static void wanted(void)
{
    sink += yarn_host_work(UNITS, 2, 5);
}

__attribute__((noinline)) static void after(void)
{
    sink += yarn_host_work(UNITS, 3, 7);
}

int main(int argc, char **argv)
{
    int (*by_address)(void) = yarn_flush;
    (void)argv;
    errno = 77;
    int stop = yarn_stop();
    before();
    int start = yarn_start();
    int mark = yarn_mark("wanted begins");
    wanted();
    int again = yarn_stop();
    after();
    int flush = by_address();
    if (argc > 1)
        printf("%d %d %d %d %d errno %d\n", stop, start, mark, again, flush, errno);
    return sink == 0;
}
