/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/io/pager.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "output/yarnprof/io/memory.h"

enum { NO_COMMAND = 127 };

struct yarn_pager {
    size_t rows, nr_lines;
    char *kept; /* owned; what came before the screen was full */
    size_t size, capacity;
    pid_t child; /* 0: not started */
    int to;      /* its standard input */
    int err;     /* of writing; EPIPE: the user has left */
    void (*interrupt)(int);
    void (*broken)(int);
};

static const char *command_of_user(void)
{
    return getenv("PAGER");
}

bool yarn_pager_is_wanted(void)
{
    const char *command = command_of_user();
    return !command || (command[0] && strcmp(command, "cat") != 0);
}

/* In the child. As in git, less leaves at once what fits the screen, keeps colours, and keeps the
 * text on the screen, unless the user has set LESS. */
static void run_pager(int from)
{
    const char *command = command_of_user();
    if (dup2(from, STDIN_FILENO) < 0 || setenv("LESS", "FRX", 0))
        _exit(NO_COMMAND);
    (void)signal(SIGPIPE, SIG_DFL);
    if (command) {
        (void)execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(NO_COMMAND);
    }
    (void)execlp("less", "less", (char *)NULL);
    (void)execlp("more", "more", (char *)NULL);
    (void)execlp("cat", "cat", (char *)NULL);
    _exit(NO_COMMAND);
}

static int start(struct yarn_pager *pager)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return -errno;
    pid_t child = fork();
    if (child == 0) {
        yarn_memory_unbound();
        run_pager(ends[0]);
    }
    int err = child < 0 ? -errno : 0;
    (void)close(ends[0]);
    if (err) {
        (void)close(ends[1]);
        return err;
    }
    pager->child = child;
    pager->to = ends[1];
    pager->interrupt = signal(SIGINT, SIG_IGN);
    return 0;
}

static int write_all(int fd, const char *bytes, size_t size)
{
    while (size) {
        ssize_t written = write(fd, bytes, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return errno;
        bytes += written;
        size -= (size_t)written;
    }
    return 0;
}

static int keep(struct yarn_pager *pager, const char *bytes, size_t size)
{
    if (size > pager->capacity - pager->size) {
        size_t capacity = 2 * pager->capacity + size;
        char *kept = realloc(pager->kept, capacity);
        if (!kept)
            return ENOMEM;
        pager->kept = kept;
        pager->capacity = capacity;
    }
    memcpy(pager->kept + pager->size, bytes, size);
    pager->size += size;
    for (size_t i = 0; i < size; i++)
        pager->nr_lines += bytes[i] == '\n';
    return 0;
}

/* Where no pager can be started the text comes out without one. */
static int take(struct yarn_pager *pager, const char *bytes, size_t size)
{
    if (pager->child)
        return write_all(pager->to, bytes, size);
    int err = keep(pager, bytes, size);
    if (err || pager->nr_lines < pager->rows || start(pager))
        return err;
    err = write_all(pager->to, pager->kept, pager->size);
    pager->size = 0;
    return err;
}

static ssize_t write_cookie(void *self, const char *bytes, size_t size)
{
    struct yarn_pager *pager = self;
    if (!pager->err)
        pager->err = take(pager, bytes, size);
    errno = pager->err;
    return pager->err ? 0 : (ssize_t)size;
}

int yarn_pager_open(size_t rows, struct yarn_pager **ret_pager, FILE **ret_file)
{
    struct yarn_pager *pager = calloc(1, sizeof *pager);
    cookie_io_functions_t functions = {.write = write_cookie};
    FILE *file = pager ? fopencookie(pager, "w", functions) : NULL;
    if (!file) {
        free(pager);
        return -ENOMEM;
    }
    pager->rows = rows;
    pager->to = -1;
    pager->broken = signal(SIGPIPE, SIG_IGN);
    *ret_pager = pager;
    *ret_file = file;
    return 0;
}

int yarn_pager_close(struct yarn_pager *pager, FILE *file)
{
    (void)fclose(file);
    int err = pager->err;
    if (pager->child) {
        (void)close(pager->to);
        while (waitpid(pager->child, NULL, 0) < 0 && errno == EINTR)
            continue;
        (void)signal(SIGINT, pager->interrupt);
    } else if (!err) {
        err = write_all(STDOUT_FILENO, pager->kept, pager->size);
    }
    (void)signal(SIGPIPE, pager->broken);
    free(pager->kept);
    free(pager);
    return err == EPIPE ? 0 : -err;
}
