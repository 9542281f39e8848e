/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The language of the control socket: a command is a line, and so is its reply.
 *
 *     start | stop | flush | status | mark TEXT          newline, or carriage return and newline
 *     ok …  | error …                                     newline
 *
 * Blanks around a line do not count. Knows words and bounds; does not know sockets or what a
 * command does. Threads, signals: pure functions; safe anywhere.
 */
#pragma once

#include "core/base/span.h"
#include "core/base/text.h"

enum {
    YARN_CONTROL_LINE_MAX = 511, /* bytes, without the newline */
    YARN_CONTROL_MARK_MAX = 239,
};

enum yarn_control_verb {
    YARN_CONTROL_START,
    YARN_CONTROL_STOP,
    YARN_CONTROL_MARK,
    YARN_CONTROL_FLUSH,
    YARN_CONTROL_STATUS,
    YARN_CONTROL_VERB_COUNT,
};

struct yarn_control_command {
    enum yarn_control_verb verb;
    struct yarn_span text; /* of a mark; borrowed of the line */
};

/* A line without its newline. -EINVAL: *ret_why is what to answer, a static phrase. */
YARN_MUST_CHECK int yarn_control_parse(struct yarn_span line,
                                       struct yarn_control_command *ret_command,
                                       const char **ret_why);

/* A text as one line: every control character becomes a blank. */
void yarn_control_add_line(struct yarn_text *text, struct yarn_span line);

/* The bytes of a stream of lines that have come: the begin of the next line. A line that is too
 * long is passed over and reported once. */
struct yarn_control_lines {
    char data[YARN_CONTROL_LINE_MAX + 1];
    size_t size;
    size_t taken;     /* of `data`, by the line that was read last */
    bool is_too_long; /* what comes up to the next newline belongs to a line that was reported so */
};

/* Room for the next bytes: *ret_size is never 0 once every line was taken. */
char *yarn_control_lines_room(struct yarn_control_lines *lines, size_t *ret_size);
/* So many bytes were put there. */
void yarn_control_lines_added(struct yarn_control_lines *lines, size_t size);

enum yarn_control_next { YARN_CONTROL_NO_LINE, YARN_CONTROL_LINE, YARN_CONTROL_LINE_TOO_LONG };

/* The next line, valid until room is asked for. */
enum yarn_control_next yarn_control_lines_next(struct yarn_control_lines *lines,
                                               struct yarn_span *ret_line);
