/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host that closes every descriptor from 3 on, as daemons do, and fills the numbers with
 * files of its own. `closefds FOLDER`: prints the numbers that it was given, what stands in
 * /proc/self/fd after a second of work, and whether its files hold what it wrote.
 */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/hosts/work.h"

#define NR_FILES 64

static int name_file(char *name, size_t size, const char *folder, int i)
{
    int length = snprintf(name, size, "%s/file%d", folder, i);
    return length > 0 && (size_t)length < size ? 0 : -1;
}

static bool open_files(const char *folder, int fds[NR_FILES])
{
    char name[4096];
    for (int i = 0; i < NR_FILES; i++) {
        if (name_file(name, sizeof name, folder, i) < 0)
            return false;
        fds[i] = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
        if (fds[i] < 0)
            return false;
        if (dprintf(fds[i], "content of file %d\n", i) < 0)
            return false;
        printf("file %d has descriptor %d\n", i, fds[i]);
    }
    return true;
}

static bool check_files(const char *folder, const int fds[NR_FILES])
{
    char name[4096];
    for (int i = 0; i < NR_FILES; i++) {
        char want[64];
        char have[4096];
        int length = snprintf(want, sizeof want, "content of file %d\n", i);
        ssize_t size = pread(fds[i], have, sizeof have, 0);
        if (size != length || memcmp(want, have, (size_t)size))
            return false;
        close(fds[i]);
        if (name_file(name, sizeof name, folder, i) < 0)
            return false;
        unlink(name);
    }
    return true;
}

/* A number above 2 and below the files' own, or above them, can only be a stranger's. */
static void print_descriptors(const char *when)
{
    DIR *folder = opendir("/proc/self/fd");
    if (!folder)
        return;
    bool open_numbers[1024] = {false};
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        int number = atoi(entry->d_name);
        if (entry->d_name[0] != '.' && number != dirfd(folder) && number < 1024)
            open_numbers[number] = true;
    }
    closedir(folder);
    printf("%s:", when);
    for (int number = 0; number < 1024; number++) {
        if (open_numbers[number])
            printf(" %d", number);
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    if (close_range(3, ~0U, 0) < 0)
        return EXIT_FAILURE;
    print_descriptors("after close_range");
    int fds[NR_FILES];
    if (!open_files(argv[1], fds))
        return EXIT_FAILURE;
    uint64_t value = yarn_host_work(30, 1, 1);
    print_descriptors("after the work");
    bool whole = check_files(argv[1], fds);
    printf("files are %s; %016" PRIx64 "\n", whole ? "whole" : "DAMAGED", value);
    return whole ? 0 : EXIT_FAILURE;
}
