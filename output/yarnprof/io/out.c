/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/io/out.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "output/base/array.h"
#include "output/text/ascii.h"
#include "output/yarnprof/io/memory.h"
#include "output/yarnprof/io/status.h"

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

static bool is_pager_wanted(void)
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
    if (YARN_ARRAY_RESERVE(&pager->kept, &pager->capacity, pager->size + size))
        return ENOMEM;
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

static int pager_open(size_t rows, struct yarn_pager **ret_pager, FILE **ret_file)
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

static int pager_close(struct yarn_pager *pager, FILE *file)
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

/* The place of the word in a list that NULL ends; -EINVAL where it is not there. */
static int choose(const char *const *words, const char *word)
{
    for (int i = 0; words[i]; i++) {
        if (strcmp(words[i], word) == 0)
            return i;
    }
    return -EINVAL;
}

int yarn_out_take(void *self, int id, const char *value, const char **ret_right)
{
    struct yarn_out *out = self;
    static const char *const formats[] = {"text", "json", "csv", NULL};
    static const char *const colors[] = {"auto", "always", "never", NULL};
    int chosen;
    switch (id) {
    case YARN_ARGUMENT_OUTPUT:
        out->path = value;
        return 0;
    case YARN_ARGUMENT_NO_PAGER:
        out->has_no_pager = true;
        return 0;
    case YARN_ARGUMENT_FORMAT:
        *ret_right = "text, json or csv";
        chosen = choose(formats, value);
        if (chosen < 0)
            return chosen;
        out->format = (enum yarn_out_format)chosen;
        return 0;
    case YARN_ARGUMENT_COLOR:
        *ret_right = "auto, always or never";
        chosen = choose(colors, value);
        if (chosen < 0)
            return chosen;
        out->color = (enum yarn_out_color)chosen;
        return 0;
    default:
        return -ENOENT;
    }
}

int yarn_out_take_no_csv(void *self, int id, const char *value, const char **ret_right)
{
    struct yarn_out *out = self;
    int err = yarn_out_take(out, id, value, ret_right);
    if (id == YARN_ARGUMENT_FORMAT)
        *ret_right = "text or json";
    return !err && out->format == YARN_OUT_CSV ? -EINVAL : err;
}

static bool wants_color(const struct yarn_out *out)
{
    if (out->color != YARN_OUT_COLOR_AUTO)
        return out->color == YARN_OUT_COLOR_ALWAYS;
    const char *no_color = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    return out->is_terminal && !(no_color && no_color[0]) && terminal &&
           strcmp(terminal, "dumb") != 0;
}

static int columns_of(FILE *file)
{
    struct winsize size;
    const char *text = getenv("COLUMNS");
    int columns = text ? atoi(text) : 0;
    if (columns <= 0 && ioctl(fileno(file), TIOCGWINSZ, &size) == 0)
        columns = size.ws_col;
    return columns >= 40 ? columns : 80;
}

/* Only where somebody looks at a screen: both ends of the tool are a terminal. */
static int open_pager(struct yarn_out *out)
{
    struct winsize size;
    if (out->has_no_pager || !out->is_terminal || out->file != stdout || !is_pager_wanted() ||
        isatty(STDIN_FILENO) != 1 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_row)
        return 0;
    return pager_open(size.ws_row, &out->pager, &out->file);
}

int yarn_out_begin_json(struct yarn_out *out)
{
    out->json = yarn_json_new(out->file);
    if (!out->json)
        return -ENOMEM;
    yarn_json_begin_object(out->json, NULL);
    return 0;
}

void yarn_out_end_json(struct yarn_out *out)
{
    if (!out->json)
        return;
    yarn_json_end_object(out->json);
    yarn_json_free(out->json);
    out->json = NULL;
}

static int open_form(struct yarn_out *out)
{
    if (out->format == YARN_OUT_JSON)
        return yarn_out_begin_json(out);
    if (out->format != YARN_OUT_TEXT || !yarn_ascii_is_wanted())
        return 0;
    FILE *file = yarn_ascii_open(out->file);
    if (!file)
        return -ENOMEM;
    out->under = out->file;
    out->file = file;
    return 0;
}

int yarn_out_open(struct yarn_out *out, const char *verb)
{
    int err = yarn_new_file_open(&out->new_file, out->path, YARN_NEW_FILE_BOUNDED);
    if (err) {
        yarn_complain(verb, "%s: %s", out->path ? out->path : "standard output",
                      yarn_new_file_why(err));
        return YARN_STATUS_FAILED;
    }
    out->file = out->new_file.file;
    out->new_file.is_text = out->format == YARN_OUT_TEXT;
    out->is_terminal = !out->new_file.bound && isatty(fileno(out->file)) == 1;
    out->has_color = wants_color(out);
    out->columns = out->is_terminal ? columns_of(out->file) : 0;
    err = open_pager(out);
    if (!err)
        err = open_form(out);
    if (!err)
        return -1;
    yarn_complain(verb, "%s", strerror(-err));
    yarn_new_file_abandon(&out->new_file);
    return YARN_STATUS_FAILED;
}

static int close_all(struct yarn_out *out, bool is_good)
{
    int err = 0;
    yarn_out_end_json(out);
    if (out->under) {
        (void)fclose(out->file);
        out->file = out->under;
        out->under = NULL;
    }
    if (out->pager)
        err = pager_close(out->pager, out->file);
    out->pager = NULL;
    out->file = NULL;
    if (is_good && !err)
        return yarn_new_file_commit(&out->new_file);
    yarn_new_file_abandon(&out->new_file);
    return err;
}

int yarn_out_finish(struct yarn_out *out, const char *verb, int err)
{
    if (err)
        yarn_complain(verb, "%s", yarn_memory_why(err));
    int close_err = out->file ? close_all(out, !err) : 0;
    if (close_err == -EFBIG)
        yarn_complain(verb, "%s: %s: larger than " YARN_NEW_FILE_MOST,
                      out->path ? out->path : "standard output",
                      out->new_file.is_text ? "cut" : "not written to its end");
    else if (close_err)
        yarn_complain(verb, "%s: cannot write: %s", out->path ? out->path : "standard output",
                      yarn_new_file_why(close_err));
    return err || close_err ? YARN_STATUS_FAILED : YARN_STATUS_OK;
}

const char *yarn_out_paint(const struct yarn_out *out, enum yarn_paint paint)
{
    static const char *const codes[YARN_PAINT_COUNT] = {
        [YARN_PAINT_HOT] = "\033[31m",     [YARN_PAINT_WARM] = "\033[32m",
        [YARN_PAINT_FAINT] = "\033[2m",    [YARN_PAINT_HEAD] = "\033[1m",
        [YARN_PAINT_WARNING] = "\033[33m",
    };
    return out->has_color ? codes[paint] : "";
}

const char *yarn_out_plain(const struct yarn_out *out)
{
    return out->has_color ? "\033[0m" : "";
}

void yarn_out_warn(const struct yarn_out *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)fprintf(out->file, "%swarning: ", yarn_out_paint(out, YARN_PAINT_WARNING));
    (void)vfprintf(out->file, format, args);
    (void)fprintf(out->file, "%s\n", yarn_out_plain(out));
    va_end(args);
}
