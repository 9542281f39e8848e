/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/new_file.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

/* What a signal must remove; read by the handler. */
static const char *volatile removed_by_signal;

static void remove_and_die(int number)
{
    const char *path = removed_by_signal;
    if (path)
        (void)unlink(path);
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

static void take_signals(const char *path)
{
    struct sigaction action = {.sa_handler = path ? remove_and_die : SIG_DFL};
    struct sigaction now;
    removed_by_signal = path;
    for (size_t i = 0; i < YARN_COUNT_OF(signals); i++) {
        /* Why not where it is ignored: nohup asked for that. */
        if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            (void)sigaction(signals[i], &action, NULL);
    }
}

/* Why with signals blocked: none may find the file there and nobody to remove it. */
static int make_beside(char *template)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, &before);
    int fd = mkostemp(template, O_CLOEXEC);
    int err = errno;
    if (fd >= 0)
        take_signals(template);
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    return fd >= 0 ? fd : -err;
}

/* With the rights that a plain open would have given; mkstemp gives only the owner's. */
static int open_beside(struct yarn_new_file *file, const char *name)
{
    if (asprintf(&file->beside, "%s.XXXXXX", name) < 0) {
        file->beside = NULL;
        return -ENOMEM;
    }
    int fd = make_beside(file->beside);
    if (fd < 0) {
        free(file->beside);
        file->beside = NULL;
        return fd;
    }
    mode_t mask = umask(0);
    (void)umask(mask);
    (void)fchmod(fd, 0666 & ~mask);
    file->file = fdopen(fd, "w+");
    if (file->file)
        return 0;
    int err = -errno;
    (void)close(fd);
    return err;
}

static int open_for_stream(struct yarn_new_file *file)
{
    const char *folder = getenv("TMPDIR");
    char name[4096];
    int size = snprintf(name, sizeof name, "%s/yarnprof", folder && folder[0] ? folder : "/tmp");
    if (size < 0 || (size_t)size >= sizeof name)
        return -ENAMETOOLONG;
    return open_beside(file, name);
}

static int open_stream(struct yarn_new_file *file, const char *path, bool is_file)
{
    FILE *stream = path ? fopen(path, "we") : stdout;
    if (!stream)
        return -errno;
    if (!is_file) {
        file->file = stream;
        return 0;
    }
    file->stream = stream;
    return open_for_stream(file);
}

static bool is_standard_output(const char *path)
{
    return !path || strcmp(path, "-") == 0;
}

bool yarn_new_file_is_terminal(const char *path)
{
    return is_standard_output(path) && isatty(STDOUT_FILENO) == 1;
}

int yarn_new_file_open(struct yarn_new_file *file, const char *path, bool is_file)
{
    struct yarn_new_file opened = {0};
    struct stat status;
    bool is_stdout = is_standard_output(path);
    bool is_there = !is_stdout && stat(path, &status) == 0;
    int err;
    if (is_stdout || (is_there && !S_ISREG(status.st_mode))) {
        err = is_there && S_ISDIR(status.st_mode)
                  ? -EISDIR
                  : open_stream(&opened, is_stdout ? NULL : path, is_file);
    } else {
        /* Why the real path: a link stays a link, and what it leads to is written anew. */
        opened.name = is_there ? realpath(path, NULL) : strdup(path);
        err = opened.name ? open_beside(&opened, opened.name) : -errno;
    }
    if (err) {
        yarn_new_file_abandon(&opened);
        return err;
    }
    *file = opened;
    return 0;
}

static int close_file(FILE **file)
{
    FILE *closed = *file;
    *file = NULL;
    if (!closed)
        return 0;
    int err = ferror(closed) ? -EIO : 0;
    if (closed == stdout)
        return fflush(closed) ? -errno : err;
    return fclose(closed) ? -errno : err;
}

static int copy_to_stream(struct yarn_new_file *file)
{
    char bytes[65536];
    size_t size;
    if (fflush(file->file) || fseek(file->file, 0, SEEK_SET))
        return -errno;
    while ((size = fread(bytes, 1, sizeof bytes, file->file)) > 0) {
        if (fwrite(bytes, 1, size, file->stream) != size)
            return -errno;
    }
    return ferror(file->file) ? -EIO : close_file(&file->stream);
}

int yarn_new_file_commit(struct yarn_new_file *file)
{
    int err = file->stream ? copy_to_stream(file) : 0;
    if (!err)
        err = close_file(&file->file);
    if (!err && file->name) {
        err = rename(file->beside, file->name) ? -errno : 0;
        if (!err) {
            take_signals(NULL);
            free(file->beside);
            file->beside = NULL;
        }
    }
    yarn_new_file_abandon(file);
    return err;
}

void yarn_new_file_abandon(struct yarn_new_file *file)
{
    (void)close_file(&file->file);
    (void)close_file(&file->stream);
    if (file->beside) {
        (void)unlink(file->beside);
        take_signals(NULL);
        free(file->beside);
    }
    free(file->name);
    *file = (struct yarn_new_file){0};
}
