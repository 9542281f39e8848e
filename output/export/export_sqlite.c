/* SPDX-License-Identifier: Apache-2.0 */
#include <sqlite3.h>
#include <stdlib.h>

#include "output/analysis/time/completeness.h"
#include "output/base/array.h"
#include "output/dump/words.h"
#include "output/export/export.h"
#include "output/export/mappings.h"
#include "output/export/samples.h"
#include "output/export/sqlite_schema.h"
#include "output/text/legible.h"

/*
 * A database: SQLITE.md. Ids are numbers of the profile plus 1. What is missing is a stack of its
 * own, or the outermost frame of one: so every sample has a stack, and views need no special case.
 */

/* ---- the file ---- */

struct file {
    sqlite3 *db; /* owned */
    sqlite3_stmt *inserts[YARN_SQLITE_TABLE_COUNT];
    uint64_t most_pages;
    char why[256]; /* of the first failure */
};

struct value {
    const char *text; /* borrowed; NULL: a null */
    int64_t number;
    bool is_null, is_text;
};

#define NOTHING                                                                                    \
    {                                                                                              \
        .is_null = true                                                                            \
    }
#define NUMBER(value)                                                                              \
    {                                                                                              \
        .number = (int64_t)(value)                                                                 \
    }
#define NUMBER_IF(has, value)                                                                      \
    {                                                                                              \
        .number = (int64_t)(value), .is_null = !(has)                                              \
    }
#define TEXT(value)                                                                                \
    {                                                                                              \
        .text = (value), .is_text = true                                                           \
    }

enum { PAGE_BYTES = 4096 };

static bool has_all_pages(const struct file *sqlite)
{
    sqlite3_stmt *count = NULL;
    bool has_all =
        sqlite3_prepare_v2(sqlite->db, "PRAGMA page_count", -1, &count, NULL) == SQLITE_OK &&
        sqlite3_step(count) == SQLITE_ROW &&
        (uint64_t)sqlite3_column_int64(count, 0) >= sqlite->most_pages;
    (void)sqlite3_finalize(count);
    return has_all;
}

static int fail(struct file *sqlite)
{
    /* Why the question: a full disk has the same number. */
    if (sqlite3_errcode(sqlite->db) == SQLITE_FULL && has_all_pages(sqlite))
        return -EFBIG;
    if (!sqlite->why[0])
        (void)snprintf(sqlite->why, sizeof sqlite->why, "SQLite says: %s",
                       sqlite3_errmsg(sqlite->db));
    return -EIO;
}

static int run(struct file *sqlite, const char *sql)
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

static int make_table(struct file *sqlite, enum yarn_sqlite_table table, const char *name,
                      const char *columns)
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

static int make_tables(struct file *sqlite)
{
    int err = 0;
#define X(NAME, name, columns)                                                                     \
    if (!err)                                                                                      \
        err = make_table(sqlite, YARN_SQLITE_##NAME, name, columns);
    YARN_SQLITE_TABLES(X)
#undef X
    return err ? err : run(sqlite, YARN_SQLITE_VIEWS);
}

static int put_row(struct file *sqlite, enum yarn_sqlite_table table, const struct value *row,
                   size_t count)
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
static int file_open(struct file *sqlite, const char *path, uint64_t most_bytes)
{
    char limits[256];
    *sqlite = (struct file){
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

static int file_close(struct file *sqlite, bool is_whole)
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

/* ---- rows ---- */

struct sqlite {
    struct yarn_export *export;
    struct file file;
    struct yarn_export_mappings mappings;
    uint64_t nr_stacks; /* written so far, beyond those of the profile */
    /* Stacks below a pseudo-function: (root, stack) to id. */
    struct yarn_table cut_stacks;
    uint32_t *path; /* owned array: stacks around one another, innermost first */
    size_t path_capacity;
};

enum { CUT_STACKS_MAX = 128 << 10 };

#define PUT(sqlite, table, row)                                                                    \
    put_row(&(sqlite)->file, YARN_SQLITE_##table, row, YARN_COUNT_OF(row))

static const char *text_of(const struct sqlite *sqlite, uint32_t text)
{
    return yarn_profile_text(sqlite->export->profile, text);
}

static int put_meta(struct sqlite *sqlite, const char *key, const char *value)
{
    const struct value row[] = {TEXT(key), TEXT(value)};
    return PUT(sqlite, META, row);
}

/* Arguments of a process are kept with NULs between them. */
static char *command_of(const struct yarn_dump_process *process)
{
    char *command = malloc(process->cmdline.size + 1);
    if (!command)
        return NULL;
    for (size_t i = 0; i < process->cmdline.size; i++)
        command[i] = process->cmdline.data[i] ? (char)process->cmdline.data[i] : ' ';
    size_t size = process->cmdline.size;
    while (size && command[size - 1] == ' ')
        size--;
    command[size] = 0;
    return command;
}

static int put_process(struct sqlite *sqlite, size_t number)
{
    const struct yarn_profile_dump *dump = &sqlite->export->profile->dumps[number];
    const struct yarn_dump_process *process = &dump->process;
    char *command = command_of(process);
    if (!command)
        return -ENOMEM;
    const struct value row[] = {
        NUMBER(number + 1),
        NUMBER(process->pid),
        NUMBER(process->ppid),
        TEXT(text_of(sqlite, dump->comm)),
        TEXT((const char *)process->exe.data),
        TEXT(command),
        TEXT((const char *)process->host.data),
        TEXT((const char *)process->kernel.data),
        TEXT((const char *)process->arch.data),
        NUMBER(process->start_ns),
        NUMBER(process->start_realtime_ns),
        NUMBER_IF(dump->has_end, dump->end.time_ns),
        TEXT(dump->has_end ? yarn_dump_word_of_end_reason(dump->end.reason) : NULL),
        NUMBER_IF(dump->has_end && dump->end.status >= 0, dump->end.status),
        NUMBER(dump->trust.lost),
        NUMBER(dump->trust.unsampled_ns),
        NUMBER(dump->trust.kernel_ns),
        TEXT(dump->path),
        TEXT(process->rank.size ? (const char *)process->rank.data : NULL),
    };
    int err = PUT(sqlite, PROCESSES, row);
    free(command);
    return err;
}

static int put_counts(struct sqlite *sqlite, size_t number)
{
    const struct yarn_profile_dump *dump = &sqlite->export->profile->dumps[number];
    int err = 0;
    for (size_t i = 0; !err && i < dump->nr_events; i++) {
        const struct yarn_profile_dump_event *event = &dump->events[i];
        const struct value row[] = {
            NUMBER(number + 1),
            NUMBER((uint64_t)event->event + 1),
            NUMBER(event->count.count),
            NUMBER(event->count.time_enabled_ns),
            NUMBER(event->count.time_running_ns),
            NUMBER(event->count.lost),
        };
        if (event->has_count)
            err = PUT(sqlite, COUNTS, row);
    }
    return err;
}

static int put_messages(struct sqlite *sqlite, size_t number)
{
    const struct yarn_profile_dump *dump = &sqlite->export->profile->dumps[number];
    int err = 0;
    for (size_t i = 0; !err && i < dump->nr_messages; i++) {
        const struct yarn_dump_message *message = &dump->messages[i];
        const struct value row[] = {
            NOTHING,
            NUMBER(message->time_ns),
            NUMBER(number + 1),
            NUMBER_IF(message->tid, message->tid),
            TEXT(yarn_dump_word_of_message_kind(message->kind)),
            TEXT((const char *)message->text.data),
        };
        err = PUT(sqlite, MESSAGES, row);
    }
    return err;
}

static int put_thread(struct sqlite *sqlite, size_t number)
{
    const struct yarn_profile_thread *thread = &sqlite->export->profile->threads[number];
    const struct value row[] = {
        NUMBER(number + 1),
        NUMBER((uint64_t)thread->dump + 1),
        NUMBER(thread->tid),
        TEXT(text_of(sqlite, thread->comm)),
        NUMBER_IF(thread->start_ns, thread->start_ns),
        NUMBER_IF(thread->end_ns, thread->end_ns),
        NUMBER_IF(thread->cpu_ns, thread->cpu_ns),
    };
    return PUT(sqlite, THREADS, row);
}

static int put_event(struct sqlite *sqlite, size_t number)
{
    const struct yarn_profile_event *event = &sqlite->export->profile->events[number];
    const struct value row[] = {
        NUMBER(number + 1),
        TEXT(text_of(sqlite, event->name)),
        TEXT(text_of(sqlite, event->unit)),
        NUMBER_IF(event->period, event->period),
        NUMBER_IF(event->frequency, event->frequency),
    };
    return PUT(sqlite, EVENTS, row);
}

static int put_module(struct sqlite *sqlite, size_t number)
{
    const struct yarn_profile_module *module = &sqlite->export->profile->modules[number];
    const struct value row[] = {
        NUMBER(number + 1),
        TEXT(text_of(sqlite, module->path)),
        TEXT(text_of(sqlite, module->base)),
    };
    return PUT(sqlite, MODULES, row);
}

static int put_mapping(struct sqlite *sqlite, size_t number)
{
    const struct yarn_export_mapping *mapping = &sqlite->mappings.list[number];
    char build_id[2 * 64 + 1];
    (void)yarn_hex_text(mapping->build_id, build_id, sizeof build_id);
    const struct value row[] = {
        NUMBER(number + 1),
        NUMBER((uint64_t)mapping->module + 1),
        TEXT(build_id[0] ? build_id : NULL),
        NUMBER(mapping->start),
        NUMBER(mapping->end - mapping->start),
        NUMBER(mapping->file_offset),
    };
    return PUT(sqlite, MAPPINGS, row);
}

static int put_function(struct sqlite *sqlite, size_t number)
{
    const struct yarn_profile_function *function = &sqlite->export->profile->functions[number];
    const struct value row[] = {
        NUMBER(number + 1),
        TEXT(text_of(sqlite, function->name)),
        NUMBER((uint64_t)function->module + 1),
        NUMBER(function->is_inlined),
        NUMBER(number < YARN_FUNCTION_PSEUDO_COUNT),
    };
    return PUT(sqlite, FUNCTIONS, row);
}

static int put_file(struct sqlite *sqlite, uint32_t text)
{
    const struct value row[] = {NUMBER(text), TEXT(text_of(sqlite, text))};
    return PUT(sqlite, FILES, row);
}

/* Once each, at the first frame that has it. */
static int put_files(struct sqlite *sqlite)
{
    const struct yarn_profile *profile = sqlite->export->profile;
    uint8_t *seen = calloc(profile->strings.count + 1, 1);
    int err = seen ? 0 : -ENOMEM;
    for (size_t i = 0; !err && i < profile->nr_frames; i++) {
        uint32_t file = profile->frames[i].file;
        if (!file || seen[file] || sqlite->mappings.homes[i].dump == YARN_DUMP_NONE)
            continue;
        seen[file] = 1;
        err = put_file(sqlite, file);
    }
    free(seen);
    return err;
}

static int put_frame(struct sqlite *sqlite, size_t number)
{
    const struct yarn_profile_frame *frame = &sqlite->export->profile->frames[number];
    const struct yarn_frame_home *home = &sqlite->mappings.homes[number];
    const struct value row[] = {
        NUMBER(number + 1),
        NUMBER((uint64_t)frame->function + 1),
        NUMBER_IF(home->mapping != YARN_DUMP_NONE, (uint64_t)home->mapping + 1),
        NUMBER(frame->address),
        NUMBER_IF(frame->file, frame->file),
        NUMBER_IF(frame->line, frame->line),
        NUMBER((frame->flags & YARN_DUMP_FRAME_KERNEL) != 0),
    };
    return home->dump == YARN_DUMP_NONE ? 0 : PUT(sqlite, FRAMES, row);
}

/* A frame and a stack for each function that stands for something missing, behind all others. */
static uint64_t id_of_pseudo_frame(const struct sqlite *sqlite, uint32_t function)
{
    return sqlite->export->profile->nr_frames + 1 + function;
}

static uint64_t id_of_pseudo_stack(const struct sqlite *sqlite, uint32_t function)
{
    return sqlite->export->profile->nr_stacks + 1 + function;
}

static int put_stack_row(struct sqlite *sqlite, uint64_t id, uint64_t parent, uint64_t frame)
{
    const struct value row[] = {NUMBER(id), NUMBER_IF(parent, parent), NUMBER(frame)};
    return PUT(sqlite, STACKS, row);
}

static int put_pseudo(struct sqlite *sqlite, size_t function)
{
    uint64_t frame = id_of_pseudo_frame(sqlite, (uint32_t)function);
    const struct value row[] = {
        NUMBER(frame), NUMBER(function + 1), NOTHING, NOTHING, NOTHING, NOTHING, NUMBER(0),
    };
    int err = PUT(sqlite, FRAMES, row);
    return err ? err
               : put_stack_row(sqlite, id_of_pseudo_stack(sqlite, (uint32_t)function), 0, frame);
}

static int put_stack(struct sqlite *sqlite, size_t number)
{
    const struct yarn_profile_stack *stack = &sqlite->export->profile->stacks[number];
    uint64_t parent = stack->parent == YARN_DUMP_NONE ? 0 : (uint64_t)stack->parent + 1;
    if (!sqlite->mappings.stacks[number])
        return 0;
    return put_stack_row(sqlite, number + 1, parent, (uint64_t)stack->frame + 1);
}

static int put_stack_end(struct sqlite *sqlite, size_t end)
{
    const char *word = yarn_dump_word_of_stack_end(end);
    if (strcmp(word, "unknown") == 0)
        return 0;
    const struct value row[] = {NUMBER(end), TEXT(word)};
    return PUT(sqlite, STACK_ENDS, row);
}

/* The stack below the function that says what is missing around it. */
static int put_cut_stack(struct sqlite *sqlite, uint32_t stack, uint32_t root, uint64_t *ret_id)
{
    const struct yarn_profile *profile = sqlite->export->profile;
    uint64_t parent = id_of_pseudo_stack(sqlite, root);
    size_t depth = 0;
    int err = 0;
    /* Why: each may be below each root. A row that is there twice is right, too. */
    if (sqlite->cut_stacks.count > CUT_STACKS_MAX)
        yarn_table_clear(&sqlite->cut_stacks);
    for (; stack != YARN_DUMP_NONE; stack = profile->stacks[stack].parent) {
        uint64_t key = (uint64_t)root << 32 | stack;
        uint32_t found = yarn_table_find(&sqlite->cut_stacks, key);
        if (found != YARN_TABLE_NONE) {
            parent = found;
            break;
        }
        if (YARN_ARRAY_RESERVE(&sqlite->path, &sqlite->path_capacity, depth + 1))
            return -ENOMEM;
        sqlite->path[depth++] = stack;
    }
    while (!err && depth-- > 0) {
        uint64_t id = id_of_pseudo_stack(sqlite, YARN_FUNCTION_PSEUDO_COUNT) + sqlite->nr_stacks++;
        uint32_t outer = sqlite->path[depth];
        err = put_stack_row(sqlite, id, parent, (uint64_t)profile->stacks[outer].frame + 1);
        if (!err)
            err = yarn_table_put(&sqlite->cut_stacks, (uint64_t)root << 32 | outer, (uint32_t)id);
        parent = id;
    }
    *ret_id = parent;
    return err;
}

static int put_sample(struct sqlite *sqlite, const struct yarn_export_sample *sample)
{
    uint64_t stack = (uint64_t)sample->stack + 1;
    int err = 0;
    if (sample->root != YARN_DUMP_NONE)
        err = put_cut_stack(sqlite, sample->stack, sample->root, &stack);
    const struct value row[] = {
        NOTHING,
        NUMBER(sample->time_ns),
        NUMBER((uint64_t)sample->event + 1),
        NUMBER((uint64_t)sample->thread + 1),
        NUMBER_IF(sample->cpu != UINT16_MAX, sample->cpu),
        NUMBER(sample->weight),
        NUMBER(stack),
        NUMBER(sample->stack_end),
    };
    return err ? err : PUT(sqlite, SAMPLES, row);
}

static int put_samples(struct sqlite *sqlite)
{
    struct yarn_export_samples samples = YARN_EXPORT_SAMPLES(sqlite->export);
    struct yarn_export_sample sample;
    int err = 0;
    while (!err && yarn_export_next(&samples, &sample))
        err = put_sample(sqlite, &sample);
    return err;
}

static int put_each(struct sqlite *sqlite, size_t count, int (*put)(struct sqlite *, size_t))
{
    int err = 0;
    for (size_t i = 0; !err && i < count; i++)
        err = put(sqlite, i);
    return err;
}

/* Completeness, as `verify --trust` has it. */
static int put_completeness(struct sqlite *sqlite)
{
    struct yarn_completeness completeness = yarn_completeness_of(sqlite->export->profile);
    int err = 0;
    for (size_t i = 0; !err && i < completeness.count; i++) {
        char key[64], text[YARN_COMPLETENESS_TEXT];
        (void)snprintf(key, sizeof key, "missing.%s", completeness.rows[i].key);
        yarn_completeness_describe(&completeness.rows[i], text);
        err = put_meta(sqlite, key, text);
    }
    return err;
}

static int put_all(struct sqlite *sqlite)
{
    const struct yarn_profile *profile = sqlite->export->profile;
    const struct {
        size_t count;
        int (*put)(struct sqlite *, size_t);
    } parts[] = {
        {profile->nr_dumps, put_process},      {profile->nr_dumps, put_counts},
        {profile->nr_dumps, put_messages},     {profile->nr_threads, put_thread},
        {profile->nr_events, put_event},       {profile->nr_modules, put_module},
        {sqlite->mappings.count, put_mapping}, {profile->nr_functions, put_function},
        {profile->nr_frames, put_frame},       {YARN_FUNCTION_PSEUDO_COUNT, put_pseudo},
        {profile->nr_stacks, put_stack},       {YARN_DUMP_STACK_END_COUNT, put_stack_end},
    };
    char schema[16];
    (void)snprintf(schema, sizeof schema, "%d", YARN_SQLITE_SCHEMA_VERSION);
    int err = put_meta(sqlite, "schema", schema);
    if (!err)
        err = put_meta(sqlite, "yarn", sqlite->export->version);
    if (!err)
        err = put_completeness(sqlite);
    for (size_t i = 0; !err && i < YARN_COUNT_OF(parts); i++)
        err = put_each(sqlite, parts[i].count, parts[i].put);
    if (!err)
        err = put_files(sqlite);
    return err ? err : put_samples(sqlite);
}

int yarn_export_sqlite(struct yarn_export *export)
{
    struct sqlite sqlite = {.export = export, .cut_stacks = YARN_TABLE_CLOSED};
    int err = yarn_export_mappings_init(&sqlite.mappings, export);
    if (!err)
        err = yarn_table_open(&sqlite.cut_stacks, 64, (size_t)1 << 31);
    if (!err)
        err = file_open(&sqlite.file, export->path, export->most_bytes);
    if (!err)
        err = put_all(&sqlite);
    int closed = file_close(&sqlite.file, !err);
    (void)snprintf(export->why, sizeof export->why, "%s", sqlite.file.why);
    yarn_table_close(&sqlite.cut_stacks);
    free(sqlite.path);
    yarn_export_mappings_fini(&sqlite.mappings);
    return err ? err : closed;
}
