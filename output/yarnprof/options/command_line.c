/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/options/command_line.h"

#include <stdlib.h>

static bool is_plain(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_./=:,+@%^";
    return word[0] && !word[strspn(word, plain)];
}

static char *add_quoted(char *to, const char *word)
{
    *to++ = '\'';
    for (; *word; word++) {
        if (*word == '\'')
            to = stpcpy(to, "'\\''");
        else
            *to++ = *word;
    }
    *to++ = '\'';
    return to;
}

char *yarn_command_line(struct yarn_span arguments)
{
    /* A byte becomes four at most; each word gets quotes and a space. */
    char *line = malloc(4 * arguments.size + 4 * (arguments.size + 1));
    char *copy = malloc(arguments.size + 1);
    char *to = line;
    if (!line || !copy) {
        free(line);
        free(copy);
        return NULL;
    }
    if (arguments.size)
        memcpy(copy, arguments.data, arguments.size);
    copy[arguments.size] = 0;
    for (size_t at = 0; at < arguments.size; at += strlen(copy + at) + 1) {
        if (at)
            *to++ = ' ';
        to = is_plain(copy + at) ? stpcpy(to, copy + at) : add_quoted(to, copy + at);
    }
    *to = 0;
    free(copy);
    return line;
}

void yarn_command_line_free(char *line)
{
    free(line);
}
