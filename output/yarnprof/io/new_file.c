/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/io/new_file.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output/yarnprof/io/memory.h"

enum {
    OUTPUT_FREE = 256 << 20,
    OUTPUT_A_BYTE =
        4096, /* of the dumps; a deep stack that is sampled again and again takes most */
    BUFFER_BYTES = 64 << 10,
    KEPT_MAX = 1000,
};

#define OUTPUT_BYTES_MAX (UINT64_C(1) << 40)

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
        /* Why not where it is ignored: nohup has set that. */
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

static struct {
    dev_t device;
    ino_t number;
} kept[KEPT_MAX];
static size_t nr_kept;

void yarn_new_file_keep(const char *path)
{
    struct stat status;
    if (nr_kept == KEPT_MAX || stat(path, &status) || !S_ISREG(status.st_mode))
        return;
    kept[nr_kept].device = status.st_dev;
    kept[nr_kept++].number = status.st_ino;
}

static bool is_kept(const struct stat *status)
{
    for (size_t i = 0; i < nr_kept; i++) {
        if (kept[i].device == status->st_dev && kept[i].number == status->st_ino)
            return true;
    }
    return false;
}

const char *yarn_new_file_why(int err)
{
    return err == -EEXIST ? "it is itself one of the dumps: name another file with -o"
                          : yarn_memory_why(err);
}

/* Between what is written and where it goes. */
struct yarn_new_file_bound {
    FILE *under; /* owned, unless it is stdout */
    uint64_t left;
    bool is_full;
    int err; /* of the first that could not be written */
};

static uint64_t allowed = OUTPUT_FREE;

void yarn_new_file_allow(uint64_t input_bytes)
{
    allowed += input_bytes < OUTPUT_BYTES_MAX ? input_bytes * OUTPUT_A_BYTE : OUTPUT_BYTES_MAX;
}

uint64_t yarn_new_file_allowed(void)
{
    return allowed;
}

/* Whole lines, up to the bound. */
static size_t fitting(const struct yarn_new_file_bound *bound, const char *bytes, size_t size)
{
    if (size <= bound->left)
        return size;
    const char *end = memrchr(bytes, '\n', (size_t)bound->left);
    return end ? (size_t)(end - bytes) + 1 : 0;
}

static ssize_t write_bounded(void *cookie, const char *bytes, size_t size)
{
    struct yarn_new_file_bound *bound = cookie;
    if (bound->is_full)
        return 0;
    size_t taken = fitting(bound, bytes, size);
    bound->left -= taken;
    bound->is_full = taken < size;
    size_t done = fwrite(bytes, 1, taken, bound->under);
    if (done < taken && !bound->err)
        bound->err = -errno;
    return done < taken || bound->is_full ? 0 : (ssize_t)done;
}

static int put_bound(struct yarn_new_file *file)
{
    const cookie_io_functions_t functions = {.write = write_bounded};
    if (isatty(fileno(file->file)) == 1)
        return 0;
    struct yarn_new_file_bound *bound = malloc(sizeof *bound);
    if (!bound)
        return -ENOMEM;
    *bound = (struct yarn_new_file_bound){.under = file->file, .left = allowed};
    FILE *bounded = fopencookie(bound, "w", functions);
    if (!bounded) {
        free(bound);
        return -ENOMEM;
    }
    (void)setvbuf(bounded, NULL, _IOFBF, BUFFER_BYTES);
    file->file = bounded;
    file->bound = bound;
    return 0;
}

/* What was bounded is written; the file is as it would be without. */
static int take_bound(struct yarn_new_file *file)
{
    struct yarn_new_file_bound *bound = file->bound;
    if (!bound)
        return 0;
    int err = fclose(file->file) ? -errno : 0;
    if (bound->err)
        err = bound->err;
    if (bound->is_full)
        err = -EFBIG;
    if (bound->is_full && file->is_text)
        (void)fputs("\n[The output is cut here: it is larger than " YARN_NEW_FILE_MOST ".]\n",
                    bound->under);
    file->file = bound->under;
    file->bound = NULL;
    free(bound);
    return err;
}

int yarn_new_file_open(struct yarn_new_file *file, const char *path, enum yarn_new_file_kind kind)
{
    struct yarn_new_file opened = {0};
    struct stat status;
    bool is_stdout = is_standard_output(path);
    bool is_there = !is_stdout && stat(path, &status) == 0;
    int err;
    if (is_there && is_kept(&status))
        return -EEXIST;
    if (is_stdout || (is_there && !S_ISREG(status.st_mode))) {
        err = is_there && S_ISDIR(status.st_mode)
                  ? -EISDIR
                  : open_stream(&opened, is_stdout ? NULL : path, kind == YARN_NEW_FILE_SEEKABLE);
    } else {
        /* Why the real path: a link stays a link, and what it leads to is written anew. */
        opened.name = is_there ? realpath(path, NULL) : strdup(path);
        err = opened.name ? open_beside(&opened, opened.name) : -errno;
    }
    if (!err && kind == YARN_NEW_FILE_BOUNDED)
        err = put_bound(&opened);
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
    int bound_err = take_bound(file);
    bool is_cut = bound_err == -EFBIG && file->is_text;
    int err = bound_err && !is_cut ? bound_err : file->stream ? copy_to_stream(file) : 0;
    if (!err)
        err = close_file(&file->file);
    /* Why again: the dumps may have been read since it was opened. */
    struct stat status;
    if (!err && file->name && stat(file->name, &status) == 0 && is_kept(&status))
        err = -EEXIST;
    if (!err && file->name) {
        err = rename(file->beside, file->name) ? -errno : 0;
        if (!err) {
            take_signals(NULL);
            free(file->beside);
            file->beside = NULL;
        }
    }
    yarn_new_file_abandon(file);
    return err ? err : bound_err;
}

void yarn_new_file_abandon(struct yarn_new_file *file)
{
    (void)take_bound(file);
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
