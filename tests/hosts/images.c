/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host that becomes other images. `images CALL LEFT`: works, then execs itself by CALL (a name
 * of the family) until LEFT is 0. `images fail 0`: execs that fail in every way, work between them.
 * `images to FILE`: works, then execs FILE. `images thread FILE`: a second thread does.
 * `images bare FILE`: with an empty environment.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/hosts/work.h"

extern char **environ;

static void work(uint64_t nr_units)
{
    printf("%016" PRIx64 "\n", yarn_host_work(nr_units, 1, 7));
    fflush(stdout);
}

/* The environment with a word of the image that hands it on: which image has it is printed. */
static char **handed_on(const char *left)
{
    static char word[32];
    static char *block[1024];
    size_t count = 0;
    (void)snprintf(word, sizeof word, "HANDED_AT=%s", left);
    block[count++] = word;
    for (char **at = environ; *at && count + 1 < sizeof block / sizeof *block; at++)
        if (strncmp(*at, "HANDED_AT=", strlen("HANDED_AT=")))
            block[count++] = *at;
    block[count] = NULL;
    return block;
}

static void exec_by(const char *call, char *path, char *argv[])
{
    char **envp = handed_on(argv[2]);
    if (!strcmp(call, "execve"))
        execve(path, argv, envp);
    else if (!strcmp(call, "execv"))
        execv(path, argv);
    else if (!strcmp(call, "execvp"))
        execvp(path, argv);
    else if (!strcmp(call, "execvpe"))
        execvpe(path, argv, envp);
    else if (!strcmp(call, "execl"))
        execl(path, argv[0], argv[1], argv[2], (char *)NULL);
    else if (!strcmp(call, "execlp"))
        execlp(path, argv[0], argv[1], argv[2], (char *)NULL);
    else if (!strcmp(call, "execle"))
        execle(path, argv[0], argv[1], argv[2], (char *)NULL, envp);
    else if (!strcmp(call, "fexecve"))
        fexecve(open(path, O_RDONLY | O_CLOEXEC), argv, envp);
    else if (!strcmp(call, "execveat"))
        execveat(AT_FDCWD, path, argv, envp, 0);
}

static void fail(const char *path)
{
    char *argv[] = {"none", NULL};
    int result = execv(path, argv);
    printf("exec: %d, errno %d\n", result, errno);
    work(10);
}

static int fail_in_every_way(void)
{
    char garbage[] = "/tmp/yarn-host.XXXXXX";
    int fd = mkstemp(garbage);
    if (fd < 0 || write(fd, "\177ELFgarbage", 11) != 11 || fchmod(fd, 0700) || close(fd))
        return EXIT_FAILURE;
    fail("/nonexistent");
    fail("/tmp");
    fail(garbage);
    execlp("no-such-program", "none", (char *)NULL);
    printf("execlp: errno %d\n", errno);
    unlink(garbage);
    work(10);
    return 3;
}

static void *become(void *path)
{
    char *argv[] = {"true", NULL};
    execv(path, argv);
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    const char *handed_at = getenv("HANDED_AT");
    printf("%s\n", handed_at ? handed_at : "as at first");
    work(15);
    if (!strcmp(argv[1], "fail"))
        return fail_in_every_way();
    if (!strcmp(argv[1], "to")) {
        become(argv[2]);
        return 126;
    }
    if (!strcmp(argv[1], "bare")) {
        char *none[] = {NULL};
        execve(argv[2], (char *[]){"bare", "execv", "0", NULL}, none);
        return 126;
    }
    if (!strcmp(argv[1], "thread")) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, become, argv[2]))
            return EXIT_FAILURE;
        pthread_join(thread, NULL);
        return 126;
    }
    int left = atoi(argv[2]);
    if (left == 0)
        return 5;
    char number[16];
    snprintf(number, sizeof number, "%d", left - 1);
    char path[4096];
    ssize_t size = readlink("/proc/self/exe", path, sizeof path - 1);
    if (size < 0)
        return EXIT_FAILURE;
    path[size] = 0;
    exec_by(argv[1], path, (char *[]){"again", argv[1], number, NULL});
    perror(argv[1]);
    return 126;
}
