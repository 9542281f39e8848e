/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/profile/commands.h"

#include <stdlib.h>

#include "output/base/array.h"

struct yarn_commands_word {
    uint32_t count; /* commands that have it */
    uint32_t last;  /* that had it, or in whose name it is */
};

void yarn_commands_fini(struct yarn_commands *commands)
{
    free(commands->counts);
    yarn_strings_fini(&commands->words);
    *commands = (struct yarn_commands){.counts = NULL};
}

/* The next word of *at; its size is 0 behind the last. */
static struct yarn_span next_word(const char **at)
{
    *at += strspn(*at, " ");
    size_t size = strcspn(*at, " ");
    struct yarn_span word = yarn_span_of(*at, size);
    *at += size;
    return word;
}

/* Without its folders. */
static struct yarn_span take_program(const char **at)
{
    struct yarn_span word = next_word(at);
    for (size_t i = word.size; i-- > 0;)
        if (word.data[i] == '/')
            return yarn_span_from(word, i + 1);
    return word;
}

/* Of the program's commands; `word` empty: how many there are. */
static int find(struct yarn_commands *commands, struct yarn_span program, struct yarn_span word,
                struct yarn_commands_word **ret_word)
{
    uint32_t number;
    char *key = malloc(program.size + 1 + word.size);
    if (!key)
        return -ENOMEM;
    if (program.size)
        memcpy(key, program.data, program.size);
    key[program.size] = ' ';
    if (word.size)
        memcpy(key + program.size + 1, word.data, word.size);
    int err = yarn_strings_intern(&commands->words, yarn_span_of(key, program.size + 1 + word.size),
                                  &number);
    free(key);
    if (!err)
        err =
            YARN_ARRAY_EXTEND(&commands->counts, &commands->nr_counts, &commands->capacity, number);
    if (!err)
        *ret_word = &commands->counts[number];
    return err;
}

static int add(struct yarn_commands *commands, const char *command)
{
    struct yarn_commands_word *word;
    struct yarn_span program = take_program(&command), rest = YARN_SPAN_EMPTY;
    commands->nr_commands++;
    do {
        int err = find(commands, program, rest, &word);
        if (err)
            return err;
        word->count += word->last != commands->nr_commands;
        word->last = commands->nr_commands;
        rest = next_word(&command);
    } while (rest.size);
    return 0;
}

/* Each command once. */
static int add_all(struct yarn_commands *commands, const struct yarn_profile *profile)
{
    int err = yarn_strings_init(&commands->words);
    uint8_t *has = calloc(profile->strings.count, 1);
    if (!err && !has)
        err = -ENOMEM;
    for (size_t i = 0; !err && i < profile->nr_dumps; i++) {
        uint32_t command = profile->dumps[i].command;
        err = has[command] ? 0 : add(commands, yarn_profile_text(profile, command));
        has[command] = 1;
    }
    free(has);
    return err;
}

int yarn_commands_of(const struct yarn_profile *profile, struct yarn_commands *ret_commands)
{
    *ret_commands = (struct yarn_commands){.nr_commands = 0};
    int err = add_all(ret_commands, profile);
    if (err)
        yarn_commands_fini(ret_commands);
    return err;
}

/* Words that fewer than `most` commands have, each once. */
static int name(struct yarn_commands *commands, const char *command, uint32_t most,
                struct yarn_text *text)
{
    struct yarn_commands_word *word;
    struct yarn_span program = take_program(&command), one;
    uint32_t serial = ++commands->nr_commands;
    bool is_left_out = false;
    text->size = 0;
    text->cut = false;
    yarn_text_add_sized(text, (const char *)program.data, program.size);
    while ((one = next_word(&command)).size) {
        int err = find(commands, program, one, &word);
        if (err)
            return err;
        bool is_named = word->count < most && word->last != serial;
        word->last = serial;
        if (is_named || !is_left_out)
            yarn_text_add(text, " ");
        if (is_named)
            yarn_text_add_sized(text, (const char *)one.data, one.size);
        else if (!is_left_out)
            yarn_text_add(text, "…");
        is_left_out = !is_named;
    }
    return 0;
}

int yarn_commands_name(struct yarn_commands *commands, const char *command, size_t columns,
                       struct yarn_text *text)
{
    struct yarn_commands_word *all;
    const char *at = command;
    text->size = 0;
    yarn_text_add(text, command);
    if (strlen(command) <= columns)
        return 0;
    int err = find(commands, take_program(&at), YARN_SPAN_EMPTY, &all);
    for (uint32_t most = err ? 0 : all->count; !err && most > 1; most /= 2) {
        err = name(commands, command, most, text);
        if (text->size <= columns)
            break;
    }
    return err;
}
