/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The C library's exec family: before the call everything is brought into the dump, and where the
 * call fails the recording goes on. Those with an argument list make an array of it on the stack,
 * as the C library does: they may be called in a vfork child, where nothing else may be touched.
 */
#include <stdarg.h>
#include <unistd.h>

#include "preload/calls/interpose.h"
#include "preload/control/lifecycle.h"

extern char **environ;

/* The arguments of the host's call, whichever function it was. */
struct image {
    enum yarn_original which;
    int fd; /* a folder for execveat */
    const char *path;
    char *const *argv;
    char *const *envp;
    int flags;
};

/* -1 where there is no original. */
static int call(const struct image *image)
{
    yarn_original_fn next = yarn_original_find(image->which);
    if (!next)
        return -1;
    if (image->which == YARN_ORIGINAL_fexecve)
        return ((__typeof__(&fexecve))next)(image->fd, image->argv, image->envp);
    if (image->which == YARN_ORIGINAL_execveat)
        return ((__typeof__(&execveat))next)(image->fd, image->path, image->argv, image->envp,
                                             image->flags);
    return ((__typeof__(&execve))next)(image->path, image->argv, image->envp);
}

static int exec(const struct image *image)
{
    struct yarn_recorder *recorder =
        yarn_lifecycle_begin_exec(image->which == YARN_ORIGINAL_execve ? image->path : NULL);
    int result = call(image);
    yarn_lifecycle_fail_exec(recorder);
    return result;
}

YARN_EXPORTED int execve(const char *path, char *const argv[], char *const envp[])
{
    return exec(&(struct image){YARN_ORIGINAL_execve, -1, path, argv, envp, 0});
}

YARN_EXPORTED int execv(const char *path, char *const argv[])
{
    return exec(&(struct image){YARN_ORIGINAL_execve, -1, path, argv, environ, 0});
}

YARN_EXPORTED int execvp(const char *file, char *const argv[])
{
    return exec(&(struct image){YARN_ORIGINAL_execvpe, -1, file, argv, environ, 0});
}

YARN_EXPORTED int execvpe(const char *file, char *const argv[], char *const envp[])
{
    return exec(&(struct image){YARN_ORIGINAL_execvpe, -1, file, argv, envp, 0});
}

YARN_EXPORTED int fexecve(int fd, char *const argv[], char *const envp[])
{
    return exec(&(struct image){YARN_ORIGINAL_fexecve, fd, NULL, argv, envp, 0});
}

YARN_EXPORTED int execveat(int dir, const char *path, char *const argv[], char *const envp[],
                           int flags)
{
    return exec(&(struct image){YARN_ORIGINAL_execveat, dir, path, argv, envp, flags});
}

/* Up to and without the NULL. Why volatile: the C library declares that `first` is never NULL, and
 * hosts pass it all the same. */
static size_t count_arguments(const char *volatile first, va_list *arguments)
{
    size_t count = 0;
    for (const char *word = first; word; word = va_arg(*arguments, char *))
        count++;
    return count;
}

/* Leaves *arguments behind the NULL, where execle has the environment. */
static void take_arguments(const char *first, va_list *arguments, size_t count, char **ret_argv)
{
    /* Why the copy: the family takes char *, and no compiler lets the const go in another way. */
    memcpy(ret_argv, &first, sizeof first);
    for (size_t i = 1; i <= count; i++)
        ret_argv[i] = va_arg(*arguments, char *);
}

/* Calls with a list become calls with an array: the same word, and whether an environment follows
 * the list. Of words alone, so their frames keep no room for registers of other arguments. */
static int exec_list(enum yarn_original which, const char *path, const char *first,
                     va_list *arguments, bool has_env)
{
    va_list counted;
    va_copy(counted, *arguments);
    size_t count = count_arguments(first, &counted);
    va_end(counted);
    char **argv = __builtin_alloca((count + 1) * sizeof *argv);
    take_arguments(first, arguments, count, argv);
    char *const *envp = has_env ? va_arg(*arguments, char *const *) : environ;
    return exec(&(struct image){which, -1, path, argv, envp, 0});
}

#define TAKES_LIST(name, which, has_env)                                                           \
    __attribute__((target("general-regs-only"))) YARN_EXPORTED int name(const char *path,          \
                                                                        const char *first, ...)    \
    {                                                                                              \
        va_list arguments;                                                                         \
        va_start(arguments, first);                                                                \
        int result = exec_list(which, path, first, &arguments, has_env);                           \
        va_end(arguments);                                                                         \
        return result;                                                                             \
    }

TAKES_LIST(execl, YARN_ORIGINAL_execve, false)
TAKES_LIST(execlp, YARN_ORIGINAL_execvpe, false)
TAKES_LIST(execle, YARN_ORIGINAL_execve, true)
