/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/options/help.h"

#include <stdio.h>

#include "core/base/span.h"

enum { HELP_COLUMN = 30, COLUMNS = 79, VALUES_MAX = 32 };

/* Words up to the last column, each new line at `indent`; `at` columns of the first are taken. A
 * newline before a blank stays one. */
static void print_wrapped(const char *text, size_t indent, size_t at)
{
    bool is_first = true;
    while (*text) {
        bool is_kept = text[0] == '\n' && (text[1] == '\n' || text[1] == ' ');
        size_t size = strcspn(text, " \n");
        if (is_kept || (size && !is_first && at + 1 + size > COLUMNS)) {
            (void)printf("\n%*s", (int)indent, "");
            at = indent;
            is_first = true;
            text += is_kept;
            continue;
        }
        if (size) {
            (void)printf("%s%.*s", is_first ? "" : " ", (int)size, text);
            at += size + !is_first;
            is_first = false;
        }
        text += size;
        while (*text == ' ' || (*text == '\n' && text[1] != '\n' && text[1] != ' '))
            text++;
    }
    (void)putchar('\n');
}

static void print_line(const struct yarn_argument *argument)
{
    char left[96];
    char letter[8] = "    ";
    if (argument->letter)
        (void)snprintf(letter, sizeof letter, "-%c%s", argument->letter,
                       argument->name ? ", " : "");
    const char *value = argument->value ? argument->value : "";
    const char *equals = argument->value && argument->value[0] != '[' ? "=" : "";
    (void)snprintf(left, sizeof left, "  %s%s%s%s%s", letter, argument->name ? "--" : "",
                   argument->name ? argument->name : "", equals, value);
    if (strlen(left) < HELP_COLUMN)
        (void)printf("%-*s ", HELP_COLUMN, left);
    else
        (void)printf("%s\n%*s ", left, HELP_COLUMN, "");
    print_wrapped(argument->help, HELP_COLUMN + 1, HELP_COLUMN + 1);
}

void yarn_help_print(const struct yarn_command *command)
{
    (void)printf("usage: yarnprof %s [OPTIONS] %s\n\n", command->verb, command->operands);
    print_wrapped(command->about, 0, 0);
    (void)printf("\nOptions:\n");
    const struct yarn_argument *argument = command->arguments;
    for (; argument->name || argument->letter; argument++) {
        if (argument->name && !argument->name[0])
            (void)printf("\n%s\n", argument->help);
        else
            print_line(argument);
    }
}

struct values {
    struct yarn_span list[VALUES_MAX];
    size_t count;
};

static bool add_value(struct values *values, const char *text, size_t size)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz0123456789_.-,";
    if (!size || strspn(text, plain) < size || values->count == VALUES_MAX)
        return false;
    values->list[values->count++] = yarn_span_of(text, size);
    return true;
}

/* "auto|fp|dwarf[:BYTES]". */
static void split_alternatives(const char *text, struct values *values)
{
    while (*text) {
        size_t size = strcspn(text, "|");
        (void)add_value(values, text, yarn_size_min(size, strcspn(text, "[")));
        text += size + (text[size] == '|');
    }
}

/* "function, line, module or a tracepoint's field": words with commas between, and what comes last
 * may be none. Nothing, where a sentence begins otherwise. */
static void split_sentence(const char *text, struct values *values)
{
    const char *end = text + strcspn(text, ":;(");
    while (text < end) {
        const char *comma = strstr(text, ", "), * or = strstr(text, " or ");
        bool is_or = or && or < end && (!comma || or < comma);
        const char *stop = is_or ? or : comma && comma < end ? comma : end;
        const char *last = stop;
        while (last > text && last[-1] == ' ')
            last--;
        if (!add_value(values, text, (size_t)(last - text))) {
            if (stop != end)
                values->count = 0;
            break;
        }
        text = stop + (stop == end ? 0 : is_or ? 4 : 2);
    }
    if (values->count < 2)
        values->count = 0;
}

static bool is_file(const char *value)
{
    static const char *const names[] = {"FILE", "FILE.json", "DUMP", "FOLDER", "DIR", "PATTERN"};
    for (size_t i = 0; i < YARN_COUNT_OF(names); i++) {
        if (strcmp(names[i], value) == 0)
            return true;
    }
    return false;
}

/* What may be left out need not be completed. */
static void print_values(const struct yarn_argument *argument)
{
    struct values values = {.count = 0};
    if (!argument->value || argument->value[0] == '[') {
        (void)printf("none");
        return;
    }
    if (strchr(argument->value, '|'))
        split_alternatives(argument->value, &values);
    else if (!is_file(argument->value))
        split_sentence(argument->help, &values);
    if (!values.count)
        (void)printf(is_file(argument->value) ? "file" : "any");
    for (size_t i = 0; i < values.count; i++)
        (void)printf("%s%.*s", i ? "|" : "", (int)values.list[i].size,
                     (const char *)values.list[i].data);
}

static void print_word(const struct yarn_argument *argument, const char *dashes, const char *word)
{
    (void)printf("%s%s\t", dashes, word);
    print_values(argument);
    (void)printf("\t%s\n", argument->help);
}

void yarn_help_print_words(const struct yarn_argument *argument)
{
    char letter[2] = {(char)argument->letter, 0};
    if (argument->name && argument->name[0])
        print_word(argument, "--", argument->name);
    if (argument->letter)
        print_word(argument, "-", letter);
}
