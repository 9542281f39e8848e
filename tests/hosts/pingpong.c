/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pingpong ROUNDS: two processes hand a byte to and fro through pipes, so that nearly all that
 * happens is context switches.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void pass_on(int from, int to, long count)
{
    char byte;
    while (count-- > 0)
        if (read(from, &byte, 1) != 1 || write(to, &byte, 1) != 1)
            exit(EXIT_FAILURE);
}

int main(int argc, char **argv)
{
    int there[2], back[2], status;
    long nr_rounds = argc > 1 ? atol(argv[1]) : 0;
    if (pipe(there) || pipe(back) || write(there[1], "", 1) != 1)
        return EXIT_FAILURE;
    pid_t child = fork();
    pass_on(child ? back[0] : there[0], child ? there[1] : back[1], nr_rounds);
    return child && (wait(&status) != child || status) ? EXIT_FAILURE : EXIT_SUCCESS;
}
