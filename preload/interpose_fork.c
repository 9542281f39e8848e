/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The C library's functions that make a child with a memory of its own. Each calls the original;
 * what the child needs is begun when it has returned, because only then every handler of
 * pthread_atfork has run and no lock of the host is held. A child of vfork, posix_spawn, system and
 * popen shares our memory until its exec: those functions are left alone. So is _Fork, which C
 * libraries before glibc 2.34 do not have: a host that looks for it must find what there is.
 */
#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "preload/exported.h"
#include "preload/lifecycle.h"
#include "preload/originals.h"

typedef pid_t (*fork_fn)(void);
typedef pid_t (*forkpty_fn)(int *main_fd, char *name, const struct termios *terminal,
                            const struct winsize *size);

static pid_t followed(pid_t child)
{
    if (child == 0)
        yarn_lifecycle_follow_fork();
    return child;
}

YARN_EXPORTED pid_t fork(void)
{
    fork_fn next;
    return yarn_original_find(YARN_ORIGINAL_fork, &next, sizeof next) ? followed(next()) : -1;
}

YARN_EXPORTED pid_t forkpty(int *main_fd, char *name, const struct termios *terminal,
                            const struct winsize *size)
{
    forkpty_fn next;
    return yarn_original_find(YARN_ORIGINAL_forkpty, &next, sizeof next)
               ? followed(next(main_fd, name, terminal, size))
               : -1;
}

static int put_null_on_streams(void)
{
    struct stat file;
    int fd = open("/dev/null", O_RDWR);
    if (fd < 0)
        return -1;
    if (fstat(fd, &file) || !S_ISCHR(file.st_mode) || file.st_rdev != makedev(1, 3)) {
        close(fd);
        errno = ENODEV;
        return -1;
    }
    for (int stream = 0; stream < 3; stream++)
        if (dup2(fd, stream) < 0)
            return -1;
    if (fd > 2)
        close(fd);
    return 0;
}

/* Why by ourselves: the original's fork and _exit are inside the C library, where they cannot be
 * seen, and its parent would end without a word. */
YARN_EXPORTED int daemon(int nochdir, int noclose)
{
    pid_t child = fork();
    if (child < 0)
        return -1;
    if (child)
        _exit(0);
    if (setsid() < 0)
        return -1;
    /* As the original: a root that cannot be entered is no reason to fail. */
    if (!nochdir && chdir("/"))
        errno = 0;
    return noclose ? 0 : put_null_on_streams();
}
