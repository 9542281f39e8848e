/* SPDX-License-Identifier: Apache-2.0 */
#include "output/export/sqlite_file.h"

#include <sqlite3.h>
#include <stdio.h>

enum { PAGE_BYTES = 4096 };

static bool has_all_pages(const struct yarn_sqlite_file *sqlite)
{
    sqlite3_stmt *count = NULL;
    bool has_all =
        sqlite3_prepare_v2(sqlite->db, "PRAGMA page_count", -1, &count, NULL) == SQLITE_OK &&
        sqlite3_step(count) == SQLITE_ROW &&
        (uint64_t)sqlite3_column_int64(count, 0) >= sqlite->most_pages;
    (void)sqlite3_finalize(count);
    return has_all;
}

static int fail(struct yarn_sqlite_file *sqlite)
{
    /* Why the question: a full disk has the same number. */
    if (sqlite3_errcode(sqlite->db) == SQLITE_FULL && has_all_pages(sqlite))
        return -EFBIG;
    if (!sqlite->why[0])
        (void)snprintf(sqlite->why, sizeof sqlite->why, "SQLite says: %s",
                       sqlite3_errmsg(sqlite->db));
    return -EIO;
}

static int run(struct yarn_sqlite_file *sqlite, const char *sql)
{
    return sqlite3_exec(sqlite->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : fail(sqlite);
}

static size_t count_columns(const char *columns)
{
    size_t count = 1;
    for (; *columns; columns++)
        count += *columns == ',';
    return count;
}

static int make_table(struct yarn_sqlite_file *sqlite, enum yarn_sqlite_table table,
                      const char *name, const char *columns)
{
    char sql[1024];
    size_t nr_columns = count_columns(columns);
    (void)snprintf(sql, sizeof sql, "CREATE TABLE %s(%s)", name, columns);
    int err = run(sqlite, sql);
    if (err)
        return err;
    int size = snprintf(sql, sizeof sql, "INSERT INTO %s VALUES(?", name);
    for (size_t i = 1; i < nr_columns; i++)
        size += snprintf(sql + size, sizeof sql - (size_t)size, ",?");
    (void)snprintf(sql + size, sizeof sql - (size_t)size, ")");
    int status = sqlite3_prepare_v2(sqlite->db, sql, -1, &sqlite->inserts[table], NULL);
    return status == SQLITE_OK ? 0 : fail(sqlite);
}

static int make_tables(struct yarn_sqlite_file *sqlite)
{
    int err = 0;
#define X(NAME, name, columns)                                                                     \
    if (!err)                                                                                      \
        err = make_table(sqlite, YARN_SQLITE_##NAME, name, columns);
    YARN_SQLITE_TABLES(X)
#undef X
    return err ? err : run(sqlite, YARN_SQLITE_VIEWS);
}

int yarn_sqlite_put(struct yarn_sqlite_file *sqlite, enum yarn_sqlite_table table,
                    const struct yarn_sqlite_value *row, size_t count)
{
    sqlite3_stmt *insert = sqlite->inserts[table];
    int status = SQLITE_OK;
    for (size_t i = 0; i < count && status == SQLITE_OK; i++) {
        int at = (int)i + 1;
        if (row[i].is_null || (row[i].is_text && !row[i].text))
            status = sqlite3_bind_null(insert, at);
        else if (row[i].is_text)
            status = sqlite3_bind_text(insert, at, row[i].text, -1, SQLITE_STATIC);
        else
            status = sqlite3_bind_int64(insert, at, row[i].number);
    }
    if (status == SQLITE_OK && sqlite3_step(insert) != SQLITE_DONE)
        return fail(sqlite);
    return sqlite3_reset(insert) == SQLITE_OK && status == SQLITE_OK ? 0 : fail(sqlite);
}

/* Why without a journal: the file has no name yet, and goes with the first failure. */
int yarn_sqlite_file_open(struct yarn_sqlite_file *sqlite, const char *path, uint64_t most_bytes)
{
    char limits[256];
    *sqlite = (struct yarn_sqlite_file){
        .most_pages = yarn_u64_min(most_bytes / PAGE_BYTES, INT32_MAX),
    };
    (void)snprintf(limits, sizeof limits,
                   "PRAGMA page_size=%d; PRAGMA max_page_count=%d; PRAGMA journal_mode=OFF; "
                   "PRAGMA synchronous=OFF; BEGIN",
                   PAGE_BYTES, (int)sqlite->most_pages);
    int status = sqlite3_open_v2(path, &sqlite->db, SQLITE_OPEN_READWRITE, NULL);
    if (status != SQLITE_OK)
        return sqlite->db ? fail(sqlite) : -ENOMEM;
    int err = run(sqlite, limits);
    return err ? err : make_tables(sqlite);
}

int yarn_sqlite_file_close(struct yarn_sqlite_file *sqlite, bool is_whole)
{
    int err = 0;
    for (size_t i = 0; i < YARN_SQLITE_TABLE_COUNT; i++)
        (void)sqlite3_finalize(sqlite->inserts[i]);
    if (sqlite->db && is_whole)
        err = run(sqlite, "COMMIT");
    if (sqlite3_close(sqlite->db) != SQLITE_OK && !err)
        err = -EIO;
    sqlite->db = NULL;
    return err;
}
