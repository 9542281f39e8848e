/* SPDX-License-Identifier: Apache-2.0 */
/*
 * closes FILE LEAST [apart]: children after fork close the one end of a pipe and a locked file, at
 * all times around five milliseconds after their birth, and look whether both are closed: the pipe
 * has an end then, and the lock is free. The numbers are LEAST and higher. With `apart` each takes
 * a table of its own first, at once. Prints how many found another.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CHILDREN = 200, BEGIN_US = 4500, STEP_US = 5 };

static int high(int fd, int least)
{
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, least);
    close(fd);
    return moved;
}

static void sleep_us(long us)
{
    struct timespec time = {.tv_nsec = us * 1000};
    nanosleep(&time, NULL);
}

/* How many of the two are still open; without a number the child takes a table of its own. */
static int be_child(const char *file, int reading, int writing, int locked, int nr)
{
    char byte;
    if (nr >= 0)
        sleep_us(BEGIN_US + STEP_US * nr);
    else if (unshare(CLONE_FILES))
        return 1;
    close(writing);
    int found = read(reading, &byte, 1) != 0;
    close(locked);
    int other = open(file, O_RDWR | O_CLOEXEC);
    return found + (flock(other, LOCK_EX | LOCK_NB) != 0);
}

int main(int argc, char *argv[])
{
    int found = 0, least = argc > 2 ? atoi(argv[2]) : 0;
    for (int i = 0; argc > 1 && i < CHILDREN; i++) {
        int fds[2], closed[2], status;
        if (pipe(closed) || pipe2(fds, O_NONBLOCK | O_CLOEXEC))
            return 1;
        int reading = high(fds[0], least), writing = high(fds[1], least);
        int locked = high(open(argv[1], O_RDWR | O_CREAT | O_CLOEXEC, 0600), least);
        if (flock(locked, LOCK_EX))
            return 1;
        pid_t child = fork();
        if (child == 0) /* whose parent may be slower than it */
            _exit(read(closed[0], &status, 1) == 1
                      ? be_child(argv[1], reading, writing, locked, argc > 3 ? -1 : i)
                      : 2);
        close(reading);
        close(writing);
        close(locked);
        if (write(closed[1], "", 1) != 1)
            return 1;
        close(closed[0]);
        close(closed[1]);
        if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
            return 1;
        found += WEXITSTATUS(status);
    }
    printf("still open: %d\n", found);
    return 0;
}
