/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A table that a verb prints: its columns are defined once, and written as text, CSV or JSON. A
 * column is a row of an array; its getter fills a cell, which is a value and not yet its text, so
 * that another form (a page's cells) is one more way to write it. Does not know what is listed.
 * Threads: one.
 */
#pragma once

#include <stddef.h>

#include "output/text/json.h"
#include "output/yarnprof/io/out.h"

enum yarn_show_kind {
    YARN_SHOW_NONE,    /* not known: "-" on the right, empty in CSV, null in JSON */
    YARN_SHOW_MISSING, /* not there: without a key in JSON, without blanks in text */
    YARN_SHOW_TEXT,
    YARN_SHOW_SPAN,  /* text, with a NUL behind it */
    YARN_SHOW_WORDS, /* a span of words, a NUL behind each: an array of JSON */
    YARN_SHOW_U8,
    YARN_SHOW_U32,
    YARN_SHOW_U64,
    YARN_SHOW_I32,
    YARN_SHOW_I64,
    YARN_SHOW_REAL,
    YARN_SHOW_BOOL,
};

struct yarn_show_column;

/* A column's value in a row; a getter finds it empty (YARN_SHOW_NONE). */
struct yarn_show_cell {
    const void *self, *row; /* of the table */
    const struct yarn_show_column *column;
    enum yarn_show_kind kind;
    const char
        *text; /* of other kinds: what text has instead of them; NULL: as their unit has it */
    struct yarn_span span;
    uint64_t number;
    double real;
    enum yarn_paint paint; /* of its text; YARN_PAINT_COUNT: none */
    size_t used;           /* of what yarn_show_add writes to */
};

typedef void yarn_show_get_fn(struct yarn_show_cell *cell);

/* How text has a number. */
enum yarn_show_unit {
    YARN_SHOW_PLAIN,   /* 1234 */
    YARN_SHOW_GROUPED, /* 1,234 */
    YARN_SHOW_NS,      /* ns: 1.2 ms */
    YARN_SHOW_MOMENT,  /* ns: 0.123 s */
    YARN_SHOW_SHARE,   /* percent: 12.34 %, painted */
    YARN_SHOW_FACTOR,  /* four digits */
    YARN_SHOW_EXACT,   /* all digits, in CSV and JSON */
    YARN_SHOW_HEX,     /* 0x4d2 */
    YARN_SHOW_WORD,    /* CSV has true and false for 1 and 0 */
};

enum yarn_show_align {
    YARN_SHOW_RIGHT,
    YARN_SHOW_LEFT,   /* cut or filled up to the width */
    YARN_SHOW_NAME,   /* the same, but that it is cut on a terminal only: else it moves its line */
    YARN_SHOW_MIDDLE, /* cut in its middle, or filled up to the width */
    YARN_SHOW_TAIL,   /* cut at the width, if there is one; not filled up */
};

enum { YARN_SHOW_NOT_CSV = 1, YARN_SHOW_NOT_JSON = 2 };

struct yarn_show_column {
    const char *key;       /* in CSV and JSON; NULL: in neither */
    const char *title;     /* headline in text; NULL: text has not got it */
    yarn_show_get_fn *get; /* NULL: a member of the row, see YARN_SHOW_MEMBER */
    size_t member;
    enum yarn_show_kind member_kind;
    enum yarn_show_unit unit;
    enum yarn_show_align align;
    unsigned gap, width; /* characters: blanks before it, and its own */
    unsigned flags;
    bool (*is_wanted)(const void *self); /* in text; NULL: always */
    const char *(*word)(uint64_t value); /* instead of the number; NULL */
    const char *within; /* objects of JSON around it and its neighbours, "self.before"; NULL */
    const char *csv;    /* instead of the key; NULL */
    size_t nth;         /* the getter's */
};

/* One line of a definition: the key and the title (NULL: see there), then the fields by name. */
#define YARN_SHOW_COLUMN(a_key, a_title, ...)                                                      \
    {                                                                                              \
        .key = a_key, .title = a_title, __VA_ARGS__                                                \
    }

#define YARN_SHOW_MEMBER(type, name)                                                               \
    .member = offsetof(type, name), .member_kind = _Generic(((const type *)0)->name,               \
                                                            uint8_t: YARN_SHOW_U8,                 \
                                                            uint32_t: YARN_SHOW_U32,               \
                                                            uint64_t: YARN_SHOW_U64,               \
                                                            int32_t: YARN_SHOW_I32,                \
                                                            struct yarn_span: YARN_SHOW_SPAN,      \
                                                            bool: YARN_SHOW_BOOL,                  \
                                                            double: YARN_SHOW_REAL,                \
                                                            const char *: YARN_SHOW_TEXT)

enum { YARN_SHOW_PARTS = 3 };

struct yarn_show_table {
    const struct yarn_out *out;
    const void *self; /* the getters' */
    /* In this order; each array ends with a column without key and title. */
    const struct yarn_show_column *parts[YARN_SHOW_PARTS];
    bool has_paint; /* of the headlines */
    bool is_bare;   /* without headlines in text */
};

/* Of text the headlines, without colour and the line's end. */
void yarn_show_titles(const struct yarn_show_table *table);
/* Headlines; of JSON nothing. */
void yarn_show_head(const struct yarn_show_table *table);
/* The same, and in JSON a list of that key around the rows. */
void yarn_show_begin(const struct yarn_show_table *table, const char *key);
/* A line; of JSON an object (of that key in another). */
void yarn_show_row(const struct yarn_show_table *table, const void *row);
void yarn_show_object(const struct yarn_show_table *table, const char *key, const void *row);
void yarn_show_end(const struct yarn_show_table *table);
/* All that, up to the limit (0: none). `size` of a row. */
void yarn_show_rows(const struct yarn_show_table *table, const char *key, const void *rows,
                    size_t count, size_t size, size_t limit);
/* The text that a row has in a column. Valid until the next is asked for. */
const char *yarn_show_text_of(const struct yarn_show_table *table,
                              const struct yarn_show_column *column, const void *row);

/* For getters. The column's member. */
void yarn_show_member(struct yarn_show_cell *cell);
/* A NULL leaves the cell empty. */
void yarn_show_text(struct yarn_show_cell *cell, const char *text);
/* Unless it is empty, too. */
void yarn_show_text_if(struct yarn_show_cell *cell, const char *text);
void yarn_show_u64(struct yarn_show_cell *cell, uint64_t number);
void yarn_show_i64(struct yarn_show_cell *cell, int64_t number);
void yarn_show_u64_if(struct yarn_show_cell *cell, bool is_known, uint64_t number);
/* Unless it is no finite number. */
void yarn_show_real(struct yarn_show_cell *cell, double real);
void yarn_show_bool(struct yarn_show_cell *cell, bool is_true);
void yarn_show_span(struct yarn_show_cell *cell, struct yarn_span span);
/* Text and CSV have them with commas between, or "nothing". */
void yarn_show_words(struct yarn_show_cell *cell, struct yarn_span words);
/* More of the text, as printf; of a cell without a kind it is the value. */
void yarn_show_add(struct yarn_show_cell *cell, const char *format, ...) YARN_PRINTF(2, 3);

/* How a share is coloured, in all views. */
enum yarn_paint yarn_show_paint_of(double percent);
