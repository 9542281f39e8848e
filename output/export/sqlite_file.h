/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A new SQLite database with the tables of a profile, filled row by row in one transaction. Knows
 * the schema; does not know profiles. Threads: one owner at a time.
 */
#pragma once

#include "core/base/base.h"
#include "output/export/sqlite_schema.h"

struct sqlite3;
struct sqlite3_stmt;

struct yarn_sqlite_file {
    struct sqlite3 *db; /* owned */
    struct sqlite3_stmt *inserts[YARN_SQLITE_TABLE_COUNT];
    uint64_t most_pages;
    char why[256]; /* of the first failure */
};

struct yarn_sqlite_value {
    const char *text; /* borrowed; NULL: a null */
    int64_t number;
    bool is_null, is_text;
};

#define YARN_SQLITE_NULL                                                                           \
    {                                                                                              \
        .is_null = true                                                                            \
    }
#define YARN_SQLITE_NUMBER(value)                                                                  \
    {                                                                                              \
        .number = (int64_t)(value)                                                                 \
    }
#define YARN_SQLITE_NUMBER_IF(has, value)                                                          \
    {                                                                                              \
        .number = (int64_t)(value), .is_null = !(has)                                              \
    }
#define YARN_SQLITE_TEXT(value)                                                                    \
    {                                                                                              \
        .text = (value), .is_text = true                                                           \
    }

/* `path` is an empty file; what would go beyond `most_bytes` is -EFBIG. Close it also after a
 * failure. */
YARN_MUST_CHECK int yarn_sqlite_file_open(struct yarn_sqlite_file *sqlite, const char *path,
                                          uint64_t most_bytes);
/* `is_whole`: what was put is to stay. Idempotent. */
YARN_MUST_CHECK int yarn_sqlite_file_close(struct yarn_sqlite_file *sqlite, bool is_whole);

/* As many values as the table has columns. */
YARN_MUST_CHECK int yarn_sqlite_put(struct yarn_sqlite_file *sqlite, enum yarn_sqlite_table table,
                                    const struct yarn_sqlite_value *row, size_t count);
