/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes, in pieces of any size, as what a client of the control socket sends: lines are
 * bounded, do not depend on the pieces, and each is a command or a reason that can be answered in
 * one line.
 */
#include "core/config/control.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        __builtin_trap();
}

static void check_line(struct yarn_span line)
{
    char buffer[YARN_CONTROL_LINE_MAX + 1];
    struct yarn_control_command command;
    const char *why = NULL;
    require(line.size <= YARN_CONTROL_LINE_MAX);
    if (yarn_control_parse(line, &command, &why)) {
        require(why && !strchr(why, '\n'));
        return;
    }
    require(command.verb < YARN_CONTROL_VERB_COUNT);
    require((command.verb == YARN_CONTROL_MARK) == (command.text.size > 0));
    require(command.text.size <= YARN_CONTROL_MARK_MAX);
    struct yarn_text text = yarn_text_of(buffer, sizeof buffer);
    yarn_control_add_line(&text, command.text);
    require(text.size == command.text.size && !text.cut);
    for (size_t i = 0; i < text.size; i++)
        require((uint8_t)buffer[i] >= ' ');
}

/* A number that states the sequence of lines; pieces have at most `step` bytes. */
static uint64_t read_all(const uint8_t *data, size_t size, size_t step)
{
    struct yarn_control_lines lines = {.size = 0};
    uint64_t sum = 1;
    for (size_t at = 0; at < size;) {
        size_t room;
        struct yarn_span line;
        enum yarn_control_next next;
        char *to = yarn_control_lines_room(&lines, &room);
        require(room > 0);
        size_t more = yarn_size_min(yarn_size_min(step, room), size - at);
        memcpy(to, data + at, more);
        yarn_control_lines_added(&lines, more);
        at += more;
        while ((next = yarn_control_lines_next(&lines, &line)) != YARN_CONTROL_NO_LINE) {
            sum = sum * 31 + (next == YARN_CONTROL_LINE ? line.size : 1000);
            if (next == YARN_CONTROL_LINE)
                check_line(line);
        }
    }
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    size_t step = 1 + data[0];
    require(read_all(data + 1, size - 1, step) == read_all(data + 1, size - 1, SIZE_MAX));
    return 0;
}
