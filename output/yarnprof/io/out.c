/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/io/out.h"

#include <stdarg.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "output/text/ascii.h"
#include "output/yarnprof/io/memory.h"
#include "output/yarnprof/io/pager.h"
#include "output/yarnprof/io/status.h"

/* The place of the word in a list that NULL ends; -EINVAL where it is not there. */
static int choose(const char *const *words, const char *word)
{
    for (int i = 0; words[i]; i++) {
        if (strcmp(words[i], word) == 0)
            return i;
    }
    return -EINVAL;
}

int yarn_out_take(struct yarn_out *out, int id, const char *value, const char **ret_right)
{
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
    if (out->has_no_pager || !out->is_terminal || out->file != stdout || !yarn_pager_is_wanted() ||
        isatty(STDIN_FILENO) != 1 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_row)
        return 0;
    return yarn_pager_open(size.ws_row, &out->pager, &out->file);
}

static int open_ascii(struct yarn_out *out)
{
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
        err = open_ascii(out);
    if (!err)
        return -1;
    yarn_complain(verb, "%s", strerror(-err));
    yarn_new_file_abandon(&out->new_file);
    return YARN_STATUS_FAILED;
}

static int close_all(struct yarn_out *out, bool is_good)
{
    int err = 0;
    if (out->under) {
        (void)fclose(out->file);
        out->file = out->under;
        out->under = NULL;
    }
    if (out->pager)
        err = yarn_pager_close(out->pager, out->file);
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
