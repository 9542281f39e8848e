/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Where a verb writes to, in which form, how wide and with which colours.
 * Threads: one.
 */
#pragma once

#include <stdio.h>

#include "core/base/base.h"
#include "output/text/json.h"
#include "output/yarnprof/io/argument.h"
#include "output/yarnprof/io/new_file.h"

enum yarn_out_format { YARN_OUT_TEXT, YARN_OUT_JSON, YARN_OUT_CSV };
enum yarn_out_color { YARN_OUT_COLOR_AUTO, YARN_OUT_COLOR_ALWAYS, YARN_OUT_COLOR_NEVER };

enum yarn_paint {
    YARN_PAINT_HOT,   /* a large share */
    YARN_PAINT_WARM,  /* one that counts */
    YARN_PAINT_FAINT, /* what is secondary */
    YARN_PAINT_HEAD,  /* headlines */
    YARN_PAINT_WARNING,
    YARN_PAINT_COUNT,
};

struct yarn_out {
    enum yarn_out_format format;
    enum yarn_out_color color;
    const char *path; /* borrowed; NULL or "-": standard output */
    FILE *file;       /* NULL until open */
    struct yarn_new_file new_file;
    bool has_color;
    bool is_terminal;
    int columns; /* of the terminal; 0: no bound */
    bool has_no_pager;
    struct yarn_pager *pager; /* owned; NULL: none */
    FILE *under;              /* `file` writes to it in ASCII; NULL: as it is */
    struct yarn_json *json;   /* owned; of YARN_OUT_JSON: the outermost object is open; NULL */
};

#define YARN_OUT_ARGUMENTS                                                                         \
    {"output", 'o', "FILE", "write there; - is standard output", YARN_ARGUMENT_OUTPUT},            \
        {"color", 0, "WHEN", "auto, always or never; NO_COLOR is never", YARN_ARGUMENT_COLOR},     \
        {"no-pager", 0, NULL, "not through PAGER (less, on a terminal)", YARN_ARGUMENT_NO_PAGER},  \
    {                                                                                              \
        "help", 'h', NULL, "this text", YARN_ARGUMENT_HELP                                         \
    }

/* Of a verb without a list; with yarn_out_take_no_csv. */
#define YARN_OUT_NO_CSV_ARGUMENT                                                                   \
    {                                                                                              \
        "format", 0, "FORMAT", "text or json", YARN_ARGUMENT_FORMAT                                \
    }
#define YARN_OUT_FORMAT_ARGUMENT                                                                   \
    {                                                                                              \
        "format", 0, "FORMAT", "text, json or csv", YARN_ARGUMENT_FORMAT                           \
    }

/* As take of yarn_command, of struct yarn_out; -ENOENT: the option is not one of these. */
YARN_MUST_CHECK int yarn_out_take(void *self, int id, const char *value, const char **ret_right);

/* Of struct yarn_out, refusing CSV. */
YARN_MUST_CHECK int yarn_out_take_no_csv(void *self, int id, const char *value,
                                         const char **ret_right);

/* Complains itself: an exit status, or -1 for success. */
YARN_MUST_CHECK int yarn_out_open(struct yarn_out *out, const char *verb);
/* To what has been written, if it is open, `err` has happened: 0, or a negative errno, which leaves
 * no file. Complains itself; an exit status. */
YARN_MUST_CHECK int yarn_out_finish(struct yarn_out *out, const char *verb, int err);

/* The outermost object of JSON in `file`, around what is written. -ENOMEM. */
YARN_MUST_CHECK int yarn_out_begin_json(struct yarn_out *out);
/* Idempotent. */
void yarn_out_end_json(struct yarn_out *out);

/* Escape sequences; "" where there is no colour. */
const char *yarn_out_paint(const struct yarn_out *out, enum yarn_paint paint);
const char *yarn_out_plain(const struct yarn_out *out);

/* A line of what is printed, as printf. */
void yarn_out_warn(const struct yarn_out *out, const char *format, ...) YARN_PRINTF(2, 3);
