/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The profiler's messages: kept in memory of its own, stored in the dump by the reader thread
 * and, if YARN_LOG_FILE asks for it, written there by host threads at the start and the end.
 * Nothing is ever printed when it happens.
 *
 * Threads: one writer at a time (the constructor, then the reader thread); readers see every
 * message below the count that they load. Signals: reading is safe.
 */
#pragma once

#include <stdatomic.h>

#include "core/base/text.h"
#include "output/dump/types.h"

enum { YARN_MESSAGES_MAX = 64, YARN_MESSAGE_BYTES = 320, YARN_MESSAGE_HEAD_BYTES = 16 };

struct yarn_message {
    uint64_t time_ns;
    enum yarn_dump_message_kind level;
    bool is_aside;         /* does not justify a dump by itself */
    struct yarn_span text; /* within the line, without its end */
    size_t line_size;
    char line[YARN_MESSAGE_HEAD_BYTES + YARN_MESSAGE_BYTES]; /* as a log file has it */
};

struct yarn_messages {
    _Atomic uint32_t count;
    uint32_t nr_dropped; /* the buffer was full */
    int most_detailed;   /* the last enum yarn_dump_message_kind that is kept; -1: none */
    struct yarn_message message[YARN_MESSAGES_MAX];
};

/* As yarn_text_add_format; is_aside: it does not justify a dump by itself. */
YARN_PRINTF(4, 5)
void yarn_messages_add(struct yarn_messages *messages, enum yarn_dump_message_kind level,
                       bool is_aside, const char *format, ...);
#define YARN_WARN(messages, ...)                                                                   \
    yarn_messages_add(messages, YARN_DUMP_MESSAGE_WARNING, false, __VA_ARGS__)
#define YARN_INFORM(messages, ...)                                                                 \
    yarn_messages_add(messages, YARN_DUMP_MESSAGE_INFO, false, __VA_ARGS__)

/* " (errno 5)"; nothing for 0. */
void yarn_messages_add_error(struct yarn_text *text, int err);

/* Appends the messages from *written on to a file, one a line, and moves *written. "stderr" is the
 * caller's descriptor 2. For host threads, whose stacks may be small: the lines are made before. */
void yarn_messages_write(const struct yarn_messages *messages, const char *path, uint32_t *written);
