/* SPDX-License-Identifier: Apache-2.0 */
#include "core/event/parse.h"

#include "core/event/parse_form.h"

int yarn_event_reader_fail(struct yarn_event_reader *reader, size_t at, size_t size,
                           const char *why)
{
    *reader->error = (struct yarn_parse_error){.at = at, .why = why, .size = size};
    return -EINVAL;
}

static bool is_word_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
}

struct yarn_span yarn_event_reader_word(const struct yarn_event_reader *reader)
{
    size_t size = 0;
    while (is_word_byte(yarn_event_reader_peek(reader, size)))
        size++;
    return yarn_span_sub(reader->text, reader->at, size);
}

struct yarn_span yarn_event_reader_until(const struct yarn_event_reader *reader, const char *stops)
{
    struct yarn_span rest = yarn_span_from(reader->text, reader->at);
    size_t size = 0;
    while (size < rest.size && !(rest.data[size] && strchr(stops, rest.data[size])))
        size++;
    return yarn_span_sub(rest, 0, size);
}

static void skip_blanks(struct yarn_event_reader *reader)
{
    while (yarn_event_reader_peek(reader, 0) == ' ')
        reader->at++;
}

int yarn_event_reader_add(struct yarn_event_reader *reader, const struct yarn_event_spec *spec)
{
    struct yarn_event_list *list = reader->list;
    if (list->count == YARN_EVENT_LIST_MAX)
        return yarn_event_reader_fail(
            reader, reader->at, yarn_event_reader_until(reader, ",}").size, "more than 32 events");
    list->specs[list->count] = *spec;
    list->specs[list->count].item = reader->nr_items;
    list->specs[list->count++].group = reader->is_in_group ? reader->nr_groups : 0;
    return 0;
}

static int parse_form(struct yarn_event_reader *reader)
{
    static yarn_event_form_fn *const forms[] = {
        yarn_event_parse_named,
        yarn_event_parse_cache,
        yarn_event_parse_raw,
        yarn_event_parse_later,
    };
    int err = -ENOENT;
    for (size_t i = 0; i < YARN_COUNT_OF(forms) && err == -ENOENT; i++)
        err = forms[i](reader);
    return err;
}

/* What follows an event is read over for each spec that the event has become. */
static int parse_tails(struct yarn_event_reader *reader, size_t first)
{
    size_t tail = reader->at;
    for (size_t i = first; i < reader->list->count; i++) {
        struct yarn_event_spec *spec = &reader->list->specs[i];
        reader->at = tail;
        int err = yarn_event_parse_tail(reader, spec);
        if (err)
            return err;
        if (!spec->has_own_name)
            yarn_event_spec_name(spec);
    }
    return 0;
}

static int parse_item(struct yarn_event_reader *reader)
{
    size_t start = reader->at, first = reader->list->count;
    char next = yarn_event_reader_peek(reader, 0);
    if (next == ',' || next == '}' || start == reader->text.size)
        return yarn_event_reader_fail(reader, start, next != 0, "an event is missing");
    int err = parse_form(reader);
    if (!err)
        err = parse_tails(reader, first);
    if (err)
        return err;
    struct yarn_span words = yarn_span_sub(reader->text, start, reader->at - start);
    const char *asked = yarn_arena_text(reader->arena, (const char *)words.data, words.size);
    if (!asked)
        return -ENOMEM;
    for (size_t i = first; i < reader->list->count; i++)
        reader->list->specs[i].asked = asked;
    reader->nr_items++;
    return 0;
}

/* :MODIFIERS of a group are added to those of each member; what is the group's is its leader's. */
static int parse_group_modifiers(struct yarn_event_reader *reader, size_t first)
{
    struct yarn_event_list *list = reader->list;
    size_t letters = reader->at;
    for (size_t i = first; i < list->count; i++) {
        struct yarn_event_spec *spec = &list->specs[i];
        reader->at = letters;
        int err = yarn_event_parse_modifiers(reader, spec);
        if (err)
            return err;
        if (!yarn_event_spec_leads(list->specs, i))
            spec->is_pinned = spec->is_exclusive = false;
        if (!spec->has_own_name)
            yarn_event_spec_name(spec);
    }
    return 0;
}

/* What the kernel refuses with EINVAL without a word. */
static int check_members(struct yarn_event_reader *reader, size_t first, size_t start)
{
    for (size_t i = first; i < reader->list->count; i++) {
        const struct yarn_event_spec *spec = &reader->list->specs[i];
        if (i > first && (spec->is_pinned || spec->is_exclusive))
            return yarn_event_reader_fail(reader, start, reader->at - start,
                                          "D and e are of the whole group, behind its }");
    }
    return 0;
}

static int parse_list(struct yarn_event_reader *reader, char end);

/* {EVENT,…}[:MODIFIERS] */
static int parse_group(struct yarn_event_reader *reader)
{
    size_t start = reader->at++, first = reader->list->count;
    if (reader->is_in_group)
        return yarn_event_reader_fail(reader, start, 1, "a group within a group");
    reader->is_in_group = true;
    reader->nr_groups++;
    int err = parse_list(reader, '}');
    reader->is_in_group = false;
    if (err)
        return err;
    if (yarn_event_reader_peek(reader, 0) != '}')
        return yarn_event_reader_fail(reader, start, reader->at - start,
                                      "the closing } is missing");
    reader->at++;
    err = check_members(reader, first, start);
    if (err || yarn_event_reader_peek(reader, 0) != ':')
        return err;
    reader->at++;
    return parse_group_modifiers(reader, first);
}

/* Items up to `end` (0: of the text), before which it stops. */
static int parse_list(struct yarn_event_reader *reader, char end)
{
    for (;;) {
        skip_blanks(reader);
        bool is_group = yarn_event_reader_peek(reader, 0) == '{';
        int err = is_group ? parse_group(reader) : parse_item(reader);
        if (err)
            return err;
        skip_blanks(reader);
        if (reader->at == reader->text.size || (end && yarn_event_reader_peek(reader, 0) == end))
            return 0;
        if (yarn_event_reader_peek(reader, 0) != ',')
            return yarn_event_reader_fail(
                reader, reader->at, yarn_event_reader_until(reader, ",").size, "not expected here");
        reader->at++;
    }
}

int yarn_event_list_parse(const char *text, size_t size, struct yarn_arena *arena,
                          struct yarn_event_list *ret_list, struct yarn_parse_error *ret_error)
{
    struct yarn_parse_error error = {.why = NULL};
    struct yarn_event_reader reader = {
        .text = yarn_span_of(text, size), .arena = arena, .error = &error, .list = ret_list};
    size_t mark = arena->used;

    ret_list->count = 0;
    int err = parse_list(&reader, 0);
    if (err) {
        ret_list->count = 0;
        yarn_arena_rewind(arena, mark);
    }
    if (err == -EINVAL)
        *ret_error = error;
    return err;
}
