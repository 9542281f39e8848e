/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/dump/messages.h"

#include "core/sys/clock.h"
#include "core/sys/file.h"
#include "core/sys/line.h"

enum { STDERR = 2 };

static const char *const levels[] = {"error", "warning", "info", "debug"};

void yarn_messages_add(struct yarn_messages *messages, enum yarn_dump_message_kind level,
                       bool is_aside, const char *format, ...)
{
    va_list arguments;
    uint32_t count = atomic_load_explicit(&messages->count, memory_order_relaxed);
    if ((int)level > messages->most_detailed)
        return;
    if (count == YARN_MESSAGES_MAX) {
        messages->nr_dropped++;
        return;
    }
    struct yarn_message *message = &messages->message[count];
    struct yarn_text line = yarn_text_of(message->line, sizeof message->line);
    yarn_text_add_format(&line, "yarn: %s: ", levels[level]);
    const size_t head = line.size;
    line.capacity = head + YARN_MESSAGE_BYTES;
    va_start(arguments, format);
    yarn_text_add_arguments(&line, format, &arguments);
    va_end(arguments);
    message->text = yarn_span_of(line.data + head, line.size - head);
    line.data[line.size] = '\n';
    message->line_size = line.size + 1;
    message->level = level;
    message->is_aside = is_aside;
    message->time_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    atomic_store_explicit(&messages->count, count + 1, memory_order_release);
}

void yarn_messages_add_error(struct yarn_text *text, int err)
{
    if (err)
        yarn_text_add_format(text, " (errno %d)", -err);
}

void yarn_messages_write(const struct yarn_messages *messages, const char *path, uint32_t *written)
{
    uint32_t count = atomic_load_explicit(&messages->count, memory_order_acquire);
    if (!*path || *written >= count)
        return;
    bool is_stderr = strcmp(path, "stderr") == 0;
    int fd = is_stderr ? STDERR : yarn_file_open_append(YARN_FILE_CWD, path);
    if (fd < 0)
        return;
    for (; *written < count; (*written)++) {
        const struct yarn_message *message = &messages->message[*written];
        if (yarn_line_write(fd, yarn_span_of(message->line, message->line_size)))
            break;
    }
    if (!is_stderr)
        yarn_file_close(fd);
}
