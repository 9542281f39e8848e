/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host that makes children by fork, vfork and posix_spawn, and prints what they see: their
 * number of threads, their descriptors, their status. Parent and children do some work.
 */
#include <dirent.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/hosts/work.h"

extern char **environ;

static int count_entries(const char *folder)
{
    int nr = 0;
    DIR *entries = opendir(folder);
    if (!entries)
        return -1;
    for (struct dirent *entry = readdir(entries); entry; entry = readdir(entries))
        nr += entry->d_name[0] != '.';
    closedir(entries);
    return nr;
}

static void print_status_of(const char *what, pid_t child)
{
    int status = 0;
    if (waitpid(child, &status, 0) != child) {
        perror(what);
        exit(EXIT_FAILURE);
    }
    printf("%s: status %x\n", what, (unsigned)status);
    fflush(stdout);
}

static void try_fork(int status)
{
    pid_t child = fork();
    if (child == 0) {
        uint64_t value = yarn_host_work(5, 1, 7);
        printf("child: %d descriptors, %016" PRIx64 "\n", count_entries("/proc/self/fd"), value);
        if (status == 0)
            exit(0);
        fflush(stdout);
        _exit(status);
    }
    print_status_of("fork", child);
}

static void try_vfork(void)
{
    pid_t child = vfork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", "exit 9", (char *)NULL);
        _exit(127);
    }
    print_status_of("vfork and exec", child);

    child = vfork();
    if (child == 0)
        _exit(11);
    print_status_of("vfork and _exit", child);
}

static void try_spawn(void)
{
    char *argv[] = {"sh", "-c", "exit 10", NULL};
    pid_t child;
    if (posix_spawn(&child, "/bin/sh", NULL, NULL, argv, environ))
        exit(EXIT_FAILURE);
    print_status_of("posix_spawn", child);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int status = 0; status < 4; status++)
        try_fork(status);
    try_vfork();
    try_spawn();
    printf("parent: %d descriptors, %016" PRIx64 "\n", count_entries("/proc/self/fd"),
           yarn_host_work(12, 1, 5));
    return 0;
}
