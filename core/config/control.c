/* SPDX-License-Identifier: Apache-2.0 */
#include "core/config/control.h"

static const char *const verbs[] = {
    [YARN_CONTROL_START] = "start", [YARN_CONTROL_STOP] = "stop",     [YARN_CONTROL_MARK] = "mark",
    [YARN_CONTROL_FLUSH] = "flush", [YARN_CONTROL_STATUS] = "status",
};

_Static_assert(YARN_COUNT_OF(verbs) == YARN_CONTROL_VERB_COUNT, "each verb has its word");

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static struct yarn_span strip(struct yarn_span line)
{
    while (line.size && is_blank(line.data[0]))
        line = yarn_span_from(line, 1);
    while (line.size && is_blank(line.data[line.size - 1]))
        line = yarn_span_sub(line, 0, line.size - 1);
    return line;
}

static enum yarn_control_verb find_verb(struct yarn_span word)
{
    size_t i = 0;
    while (i < YARN_CONTROL_VERB_COUNT &&
           (strlen(verbs[i]) != word.size || memcmp(verbs[i], word.data, word.size) != 0))
        i++;
    return (enum yarn_control_verb)i;
}

static int fail(const char **ret_why, const char *why)
{
    *ret_why = why;
    return -EINVAL;
}

int yarn_control_parse(struct yarn_span line, struct yarn_control_command *ret_command,
                       const char **ret_why)
{
    size_t size = 0;
    line = strip(line);
    while (size < line.size && !is_blank(line.data[size]))
        size++;
    struct yarn_control_command command = {.verb = YARN_CONTROL_VERB_COUNT};
    if (size)
        command.verb = find_verb(yarn_span_sub(line, 0, size));
    if (command.verb == YARN_CONTROL_VERB_COUNT)
        return fail(ret_why, "not a command; expected start, stop, mark TEXT, flush or status");
    command.text = strip(yarn_span_from(line, size));
    if (command.verb == YARN_CONTROL_MARK && !command.text.size)
        return fail(ret_why, "a mark needs a text");
    if (command.verb == YARN_CONTROL_MARK && command.text.size > YARN_CONTROL_MARK_MAX)
        return fail(ret_why, "a mark's text has at most 239 bytes");
    if (command.verb != YARN_CONTROL_MARK && command.text.size)
        return fail(ret_why, "this command takes nothing behind it");
    *ret_command = command;
    return 0;
}

void yarn_control_add_line(struct yarn_text *text, struct yarn_span line)
{
    for (size_t i = 0; i < line.size; i++) {
        char c = (char)line.data[i];
        bool is_control = line.data[i] < ' ' || line.data[i] == 0x7f;
        yarn_text_add_sized(text, is_control ? " " : &c, 1);
    }
}

char *yarn_control_lines_room(struct yarn_control_lines *lines, size_t *ret_size)
{
    lines->size -= lines->taken;
    memmove(lines->data, lines->data + lines->taken, lines->size);
    lines->taken = 0;
    *ret_size = sizeof lines->data - lines->size;
    return lines->data + lines->size;
}

void yarn_control_lines_added(struct yarn_control_lines *lines, size_t size)
{
    lines->size += yarn_size_min(size, sizeof lines->data - lines->size);
}

enum yarn_control_next yarn_control_lines_next(struct yarn_control_lines *lines,
                                               struct yarn_span *ret_line)
{
    while (lines->taken < lines->size) {
        const char *begin = lines->data + lines->taken;
        size_t size = lines->size - lines->taken;
        const char *end = memchr(begin, '\n', size);
        bool was_too_long = lines->is_too_long;
        if (!end && !was_too_long && size < sizeof lines->data)
            return YARN_CONTROL_NO_LINE;
        lines->is_too_long = !end;
        lines->taken += end ? (size_t)(end - begin) + 1 : size;
        if (!end && !was_too_long)
            return YARN_CONTROL_LINE_TOO_LONG;
        if (end && !was_too_long) {
            *ret_line = yarn_span_of(begin, (size_t)(end - begin));
            return YARN_CONTROL_LINE;
        }
    }
    return YARN_CONTROL_NO_LINE;
}
