/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/options/arguments.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/arena.h"
#include "core/base/span.h"
#include "core/base/text.h"
#include "core/event/nearest.h"
#include "output/yarnprof/io/memory.h"
#include "output/yarnprof/io/out.h"
#include "output/yarnprof/io/status.h"
#include "output/yarnprof/options/habits.h"

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

static void print_help(const struct yarn_command *command)
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

static void print_argument_words(const struct yarn_argument *argument)
{
    char letter[2] = {(char)argument->letter, 0};
    if (argument->name && argument->name[0])
        print_word(argument, "--", argument->name);
    if (argument->letter)
        print_word(argument, "-", letter);
}

enum { OPTIONS_MAX = 64, LONG_BASE = 256, COMMON = 4096 };

/* Every verb takes these, so that a script need not know which ones have colours. */
static const struct yarn_argument memory = {
    "memory", 0, "SIZE", "the most memory to take for what is read (1G)", YARN_ARGUMENT_MEMORY};
static const struct yarn_argument no_colors = {"color", 0, "WHEN", "auto, always or never",
                                               YARN_ARGUMENT_COLOR};
static const struct yarn_argument *const common[] = {&memory, &no_colors};

struct tables {
    struct option longs[OPTIONS_MAX + YARN_COUNT_OF(common) + 1];
    char letters[3 * OPTIONS_MAX + 4];
};

static int has_value(const struct yarn_argument *argument)
{
    if (!argument->value)
        return no_argument;
    return argument->value[0] == '[' ? optional_argument : required_argument;
}

static bool is_end(const struct yarn_argument *argument)
{
    return !argument->name && !argument->letter;
}

static bool is_headline(const struct yarn_argument *argument)
{
    return argument->name && !argument->name[0];
}

/* Each long option answers with its place in the table, so that ids may be shared. */
static void make_tables(const struct yarn_command *command, struct tables *tables)
{
    size_t count = 0;
    bool has_colors = false;
    char *letters = tables->letters;
    if (command->stops_at_operand)
        *letters++ = '+';
    *letters++ = ':';
    for (int i = 0; !is_end(&command->arguments[i]); i++) {
        const struct yarn_argument *argument = &command->arguments[i];
        if (is_headline(argument) || count >= OPTIONS_MAX)
            continue;
        has_colors |= argument->id == YARN_ARGUMENT_COLOR;
        if (argument->name)
            tables->longs[count++] =
                (struct option){argument->name, has_value(argument), NULL, LONG_BASE + i};
        if (!argument->letter)
            continue;
        *letters++ = (char)argument->letter;
        if (has_value(argument) == required_argument)
            *letters++ = ':';
    }
    *letters = 0;
    for (size_t i = 0; i < YARN_COUNT_OF(common); i++) {
        if (!has_colors || common[i] != &no_colors)
            tables->longs[count++] =
                (struct option){common[i]->name, required_argument, NULL, COMMON + (int)i};
    }
    tables->longs[count] = (struct option){0};
}

/* For the scripts in completion/. */
static void print_words(const struct yarn_command *command)
{
    bool has_colors = false;
    for (const struct yarn_argument *argument = command->arguments; !is_end(argument); argument++) {
        has_colors |= argument->id == YARN_ARGUMENT_COLOR;
        print_argument_words(argument);
    }
    print_argument_words(&memory);
    if (!has_colors)
        print_argument_words(&no_colors);
}

/* `got` as getopt_long gives it. */
static const struct yarn_argument *argument_of(const struct yarn_command *command, int got)
{
    if (got >= COMMON)
        return common[got - COMMON];
    if (got >= LONG_BASE)
        return &command->arguments[got - LONG_BASE];
    const struct yarn_argument *argument = command->arguments;
    while (!is_end(argument) && argument->letter != got)
        argument++;
    return argument;
}

/* The option that is meant by a long one; "": none is near. */
static struct yarn_nearest nearest_of(const struct tables *tables, const char *word)
{
    size_t dashes = strspn(word, "-");
    struct yarn_nearest nearest =
        yarn_nearest_of(yarn_span_of(word + dashes, strcspn(word + dashes, "=")));
    for (const struct option *option = tables->longs; dashes == 2 && option->name; option++)
        yarn_nearest_offer(&nearest, option->name);
    return nearest;
}

/* A word with one dash, such as pprof's -top, is no row of letters. */
static bool complain_of_word(const struct yarn_command *command, const struct tables *tables,
                             const char *typed)
{
    char word[64];
    if (!typed || typed[0] != '-' || typed[1] != optopt || strlen(typed) < 4)
        return false;
    (void)snprintf(word, sizeof word, "-%s", typed);
    const struct yarn_habit *habit = yarn_habit_find(command->verb, word);
    struct yarn_nearest nearest = nearest_of(tables, word);
    if (habit)
        yarn_complain(command->verb, "there is no option %s: %s", typed,
                      habit->way ? habit->way : "it is so without one");
    else if (strcmp(nearest.name, word + 2) == 0)
        yarn_complain(command->verb, "there is no option %s; %s? see yarnprof %s --help", typed,
                      word, command->verb);
    return habit || strcmp(nearest.name, word + 2) == 0;
}

/* -1: it is taken without a word. */
static int complain(const struct yarn_command *command, const struct tables *tables, int got,
                    char **argv)
{
    char letter[3] = {'-', (char)optopt, 0};
    bool is_letter = optopt > 0 && optopt < LONG_BASE;
    const char *word = is_letter ? letter : argv[optind - 1];
    if (is_letter && got == '?' && complain_of_word(command, tables, argv[optind]))
        return YARN_STATUS_USAGE;
    const struct yarn_habit *habit = got == '?' ? yarn_habit_find(command->verb, word) : NULL;
    struct yarn_nearest nearest = nearest_of(tables, word);
    if (habit && !habit->way)
        return -1;
    if (habit)
        yarn_complain(command->verb, "there is no option %s: %s", word, habit->way);
    else
        yarn_complain(command->verb, "%s %s; %s%s%ssee yarnprof %s --help",
                      got == ':' ? "a value is missing after" : "there is no option", word,
                      nearest.name[0] && got == '?' ? "--" : "", got == '?' ? nearest.name : "",
                      nearest.name[0] && got == '?' ? "? " : "", command->verb);
    return YARN_STATUS_USAGE;
}

static int take_member(void *self, int id, const char *value)
{
    bool is_text = id >= YARN_ARGUMENT_TEXT;
    void *member = (char *)self + id - (is_text ? YARN_ARGUMENT_TEXT : YARN_ARGUMENT_FLAG);
    if (is_text)
        *(const char **)member = value ? value : "";
    else
        *(bool *)member = true;
    return 0;
}

static int take_value(const struct yarn_command *command, void *self,
                      const struct yarn_argument *argument, const char *value,
                      const char **ret_right)
{
    struct yarn_out unused = {0};
    if (argument == &memory)
        return yarn_memory_take(value, ret_right);
    if (argument->id >= YARN_ARGUMENT_FLAG)
        return take_member(self, argument->id, value);
    return argument == &no_colors ? yarn_out_take(&unused, argument->id, value, ret_right)
                                  : command->take(self, argument->id, value, ret_right);
}

static int take(const struct yarn_command *command, void *self,
                const struct yarn_argument *argument, const char *value)
{
    const char *right = "something else, see --help";
    int err = take_value(command, self, argument, value, &right);
    if (!err)
        return -1;
    char typed[64];
    (void)snprintf(typed, sizeof typed, "--%s=%s", argument->name ? argument->name : "",
                   value ? value : "");
    const struct yarn_habit *habit = yarn_habit_find(command->verb, typed);
    if (habit && habit->way)
        yarn_complain(command->verb, "there is no %s: %s", typed, habit->way);
    else if (argument->name)
        yarn_complain(command->verb, "--%s=%s: expected %s", argument->name, value ? value : "",
                      right);
    else
        yarn_complain(command->verb, "-%c %s: expected %s", argument->letter, value ? value : "",
                      right);
    return YARN_STATUS_USAGE;
}

/* Lists add up, lines stand beside each other; of other values the last counts, which is said.
 * *given: the last, or all of a list. */
static const char *note_again(const struct yarn_command *command,
                              const struct yarn_argument *argument, const char *value,
                              const char **given)
{
    static struct yarn_arena arena;
    struct yarn_text text;
    char *joined;
    bool is_list = argument->value && strcmp(argument->value, "LIST") == 0;
    bool is_line = argument->value && strcmp(argument->value, "LINE") == 0;
    const char *before = *given;
    *given = value;
    if (!before || is_line)
        return value;
    if (!is_list) {
        yarn_complain(command->verb, "--%s is given more than once: %s counts", argument->name,
                      value);
        return value;
    }
    size_t size = strlen(before) + strlen(value) + 2;
    if (!arena.cap)
        yarn_arena_open(&arena, YARN_MIB(1));
    joined = yarn_arena_alloc(&arena, size, 1);
    if (!joined)
        return value;
    text = yarn_text_of(joined, size);
    yarn_text_add_format(&text, "%s,%s", before, value);
    *given = joined;
    return joined;
}

int yarn_command_parse(const struct yarn_command *command, void *self, int argc, char **argv,
                       int *ret_first)
{
    struct tables tables;
    const char *given[OPTIONS_MAX] = {NULL};
    int got;
    if (argc == 2 && strcmp(argv[1], "--complete") == 0) {
        print_words(command);
        return YARN_STATUS_OK;
    }
    make_tables(command, &tables);
    opterr = 0;
    optind = 0;
    while ((got = getopt_long(argc, argv, tables.letters, tables.longs, NULL)) != -1) {
        if (got == '?' || got == ':') {
            int refused = complain(command, &tables, got, argv);
            if (refused >= 0)
                return refused;
            continue;
        }
        const struct yarn_argument *argument = argument_of(command, got);
        if (argument->id == YARN_ARGUMENT_HELP) {
            print_help(command);
            return YARN_STATUS_OK;
        }
        const char *value = optarg;
        if (got < COMMON && optarg)
            value = note_again(command, argument, optarg, &given[argument - command->arguments]);
        int status = take(command, self, argument, value);
        if (status >= 0)
            return status;
    }
    *ret_first = optind;
    return -1;
}

int yarn_command_run(const struct yarn_command *command, int argc, char **argv)
{
    int first;
    void *self = calloc(1, command->request_bytes + 1);
    if (!self) {
        yarn_complain(command->verb, "%s", strerror(ENOMEM));
        return YARN_STATUS_FAILED;
    }
    if (command->initial)
        memcpy(self, command->initial, command->request_bytes);
    if (command->begin)
        command->begin(self);
    int status = yarn_command_parse(command, self, argc, argv, &first);
    if (status < 0)
        status = command->run(self, argv + first);
    if (command->fini)
        command->fini(self);
    free(self);
    return status;
}
