/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/output/dump/record_log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void add(struct record_log *log, const char *format, ...) YARN_PRINTF(2, 3);

static void add(struct record_log *log, const char *format, ...)
{
    if (log->capacity - log->size < 1024) {
        log->capacity = log->capacity * 2 + 4096;
        log->text = realloc(log->text, log->capacity);
        if (!log->text)
            abort();
    }
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(log->text + log->size, log->capacity - log->size, format, arguments);
    va_end(arguments);
    if (size < 0 || (size_t)size >= log->capacity - log->size)
        abort();
    log->size += (size_t)size;
}

static void add_text(struct record_log *log, const char *name, struct yarn_span text)
{
    add(log, " %s=%zu'", name, text.size);
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] >= ' ' && text.data[i] < 127 && text.data[i] != '\'')
            add(log, "%c", text.data[i]);
        else
            add(log, "\\%02x", text.data[i]);
    }
    add(log, "'");
}

#define LOG_U(member) add(log, " " #member "=%" PRIu64, (uint64_t)thing->member);
#define LOG_I(member) add(log, " " #member "=%" PRId64, (int64_t)thing->member);
#define LOG_T(member) add_text(log, #member, thing->member);
#define LOG_U32(member) LOG_U(member)
#define LOG_U64(member) LOG_U(member)
#define LOG_AMOUNT LOG_U64
#define LOG_I32(member) LOG_I(member)
#define LOG_I64(member) LOG_I(member)
#define LOG_BOOL(member) LOG_U(member)
#define LOG_REF(member) LOG_U(member)
#define LOG_TID(member) LOG_U(member)
#define LOG_CPU(member) LOG_U(member)
#define LOG_TIME(member) LOG_U(member)
#define LOG_TEXT(member) LOG_T(member)
#define LOG_VALUES(member)                                                                         \
    for (size_t key = 0; key < YARN_DUMP_TOTAL_COUNT; key++)                                       \
        add(log, " %zu=%" PRIu64, key, thing->member[key]);

#define BEGIN(struct_name, name)                                                                   \
    static int log_##name(void *self, const struct yarn_##struct_name *thing)                      \
    {                                                                                              \
        struct record_log *log = self;                                                             \
        add(log, #name);

#define END                                                                                        \
    add(log, "\n");                                                                                \
    return 0;                                                                                      \
    }

/* clang-format off */
#define YARN_RECORD(number, NAME, name, prose) BEGIN(dump_##name, name)
#define YARN_FIELD(NAME, name, KIND, member, prose) LOG_##KIND(member)
#define YARN_RECORD_END(NAME, name) END
#include "output/dump/format.def"

BEGIN(dump_symbol, symbol)
    LOG_U(number) LOG_U(module) LOG_U(start) LOG_U(end) LOG_T(name)
END

BEGIN(dump_frame, frame)
    LOG_U(number) LOG_U(symbol) LOG_U(flags) LOG_U(address)
END

BEGIN(dump_stack, stack)
    LOG_U(number) LOG_U(parent) LOG_U(frame)
END

BEGIN(sample, sample)
    LOG_U(time_ns) LOG_U(weight) LOG_U(event) LOG_U(tid) LOG_U(cpu) LOG_U(stack)
    LOG_U(stack_end) LOG_U(address) add_text(log, "raw", yarn_span_of_bytes(thing->raw));
END
    /* clang-format on */

    static int
    log_samples(void *self, const struct yarn_sample *samples, size_t count)
{
    for (size_t i = 0; i < count; i++)
        log_sample(self, &samples[i]);
    return 0;
}

static int log_reset(void *self)
{
    add(self, "reset\n");
    return 0;
}

const struct yarn_dump_visitor record_log_visitor = {
#define YARN_RECORD(number, NAME, name, prose) .name = log_##name,
#include "output/dump/format.def"
    .symbol = log_symbol,
    .frame = log_frame,
    .stack = log_stack,
    .samples = log_samples,
    .reset = log_reset,
};

void record_log_free(struct record_log *log)
{
    free(log->text);
    *log = (struct record_log){NULL, 0, 0};
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void record_log_sort(struct record_log *log)
{
    size_t count = 0;
    char **lines = malloc((log->size + 1) * sizeof *lines);
    char *sorted = malloc(log->size + 1);
    if (!lines || !sorted)
        abort();
    for (char *line = log->text ? strtok(log->text, "\n") : NULL; line; line = strtok(NULL, "\n"))
        lines[count++] = line;
    qsort(lines, count, sizeof *lines, compare_lines);
    char *at = sorted;
    for (size_t i = 0; i < count; i++)
        at += sprintf(at, "%s\n", lines[i]);
    *at = 0;
    free(lines);
    free(log->text);
    log->text = sorted;
    log->capacity = log->size + 1;
}

size_t record_log_count(const struct record_log *log, const char *begin)
{
    size_t count = 0;
    for (const char *line = log->text; line && *line;) {
        const char *next = strchr(line, '\n');
        count += strncmp(line, begin, strlen(begin)) == 0;
        line = next ? next + 1 : NULL;
    }
    return count;
}
