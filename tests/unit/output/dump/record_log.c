/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/output/dump/record_log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { KEYS_OF_1_0 = 20 };

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

#define LOG_U(member) add(log, " " #member "=%" PRIu64, (uint64_t)thing->member)
#define LOG_I(member) add(log, " " #member "=%" PRId64, (int64_t)thing->member)
#define LOG_T(member) add_text(log, #member, thing->member)

#define BEGIN(name)                                                                                \
    static int log_##name(void *self, const struct yarn_dump_##name *thing)                        \
    {                                                                                              \
        struct record_log *log = self;                                                             \
        add(log, #name);

#define END                                                                                        \
    add(log, "\n");                                                                                \
    return 0;                                                                                      \
    }

/* clang-format off */
BEGIN(process)
    LOG_U(pid); LOG_U(ppid); LOG_U(start_ns); LOG_U(start_realtime_ns); LOG_U(boottime_offset_ns);
    LOG_I(monotonic_raw_offset_ns); LOG_U(clock); LOG_U(cpus_present); LOG_U(cpus_online);
    LOG_U(page_bytes); LOG_T(exe); LOG_T(cmdline); LOG_T(host); LOG_T(kernel); LOG_T(arch);
    LOG_U(parent_pid); LOG_U(parent_start_ns); LOG_U(predecessor_pid);
    LOG_U(predecessor_start_ns);
END

BEGIN(option)
    LOG_T(name); LOG_T(value);
END

BEGIN(sampler)
    LOG_T(asked); LOG_T(got); LOG_T(reason); LOG_T(strategy); LOG_T(reader);
    LOG_U(ring_asked_bytes); LOG_U(ring_got_bytes); LOG_U(stack_asked_bytes);
    LOG_U(stack_got_bytes); LOG_U(nr_rings);
END

BEGIN(event)
    LOG_U(number); LOG_T(name); LOG_T(asked); LOG_T(got); LOG_T(unit); LOG_T(reason);
    LOG_U(error); LOG_U(flags); LOG_U(type); LOG_U(config); LOG_U(period); LOG_U(frequency);
END

BEGIN(count)
    LOG_U(event); LOG_U(time_ns); LOG_U(count); LOG_U(time_enabled_ns); LOG_U(time_running_ns);
    LOG_U(lost);
END

BEGIN(thread)
    LOG_U(tid); LOG_U(parent_tid); LOG_U(time_ns); LOG_T(comm);
END

BEGIN(thread_name)
    LOG_U(tid); LOG_U(time_ns); LOG_T(comm);
END

BEGIN(thread_end)
    LOG_U(tid); LOG_U(time_ns); LOG_U(cpu_ns);
END

BEGIN(module)
    LOG_U(number); LOG_U(kind); LOG_U(start); LOG_U(end); LOG_U(file_offset); LOG_U(bias);
    LOG_U(time_ns); LOG_T(path); LOG_T(build_id); LOG_U(state);
END

BEGIN(symbol)
    LOG_U(number); LOG_U(module); LOG_U(start); LOG_U(end); LOG_T(name);
END

BEGIN(frame)
    LOG_U(number); LOG_U(symbol); LOG_U(flags); LOG_U(address);
END

BEGIN(stack)
    LOG_U(number); LOG_U(parent); LOG_U(frame);
END

BEGIN(sample)
    LOG_U(time_ns); LOG_U(weight); LOG_U(event); LOG_U(tid); LOG_U(cpu); LOG_U(stack);
    LOG_U(stack_end);
END

BEGIN(code_name)
    LOG_U(module); LOG_U(address); LOG_U(start); LOG_U(end); LOG_T(name);
END

BEGIN(lost)
    LOG_U(time_ns); LOG_U(count); LOG_U(event); LOG_U(cpu);
END

BEGIN(throttle)
    LOG_U(time_ns); LOG_U(event); LOG_U(cpu); LOG_U(is_on);
END

BEGIN(message)
    LOG_U(time_ns); LOG_U(kind); LOG_U(tid); LOG_T(text);
END

BEGIN(coverage)
    LOG_U(time_ns); LOG_U(is_on); LOG_U(cause); LOG_U(off_cpu_ns);
END

BEGIN(totals)
    LOG_U(time_ns);
    for (size_t key = 0; key < YARN_DUMP_TOTAL_COUNT; key++)
        if (key < KEYS_OF_1_0 || thing->value[key])
            add(log, " %zu=%" PRIu64, key, thing->value[key]);
END

BEGIN(from)
    LOG_T(path); LOG_U(file_bytes); LOG_U(nr_damages); LOG_U(damaged_bytes); LOG_U(damage_at);
    LOG_T(damage); LOG_U(is_cut); LOG_U(cut_at);
END

BEGIN(end)
    LOG_U(time_ns); LOG_U(reason); LOG_I(status);
END
    /* clang-format on */

    static int
    log_samples(void *self, const struct yarn_dump_sample *samples, size_t count)
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
    .process = log_process,
    .option = log_option,
    .sampler = log_sampler,
    .event = log_event,
    .count = log_count,
    .thread = log_thread,
    .thread_name = log_thread_name,
    .thread_end = log_thread_end,
    .module = log_module,
    .symbol = log_symbol,
    .frame = log_frame,
    .stack = log_stack,
    .code_name = log_code_name,
    .samples = log_samples,
    .lost = log_lost,
    .throttle = log_throttle,
    .message = log_message,
    .coverage = log_coverage,
    .totals = log_totals,
    .end = log_end,
    .from = log_from,
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
