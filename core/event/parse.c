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

static int parse_form(struct yarn_event_reader *reader, struct yarn_event_spec *ret_spec)
{
    static yarn_event_form_fn *const forms[] = {
        yarn_event_parse_named,
        yarn_event_parse_cache,
        yarn_event_parse_raw,
        yarn_event_parse_later,
    };
    int err = -ENOENT;
    for (size_t i = 0; i < YARN_COUNT_OF(forms) && err == -ENOENT; i++)
        err = forms[i](reader, ret_spec);
    return err;
}

static int parse_item(struct yarn_event_reader *reader, struct yarn_event_spec *ret_spec)
{
    struct yarn_event_spec spec;
    size_t start = reader->at;
    char next = yarn_event_reader_peek(reader, 0);
    if (next == ',' || start == reader->text.size)
        return yarn_event_reader_fail(reader, start, next == ',', "an event is missing");
    int err = parse_form(reader, &spec);
    if (err)
        return err;
    err = yarn_event_parse_tail(reader, &spec);
    if (err)
        return err;
    if (!spec.has_own_name)
        yarn_event_spec_name(&spec);
    struct yarn_span asked = yarn_span_sub(reader->text, start, reader->at - start);
    spec.asked = yarn_arena_text(reader->arena, (const char *)asked.data, asked.size);
    if (!spec.asked)
        return -ENOMEM;
    *ret_spec = spec;
    return 0;
}

static int parse_items(struct yarn_event_reader *reader, struct yarn_event_list *list)
{
    for (;;) {
        skip_blanks(reader);
        if (list->count == YARN_EVENT_LIST_MAX)
            return yarn_event_reader_fail(reader, reader->at,
                                          yarn_event_reader_until(reader, ",").size,
                                          "more than 32 events");
        int err = parse_item(reader, &list->specs[list->count]);
        if (err)
            return err;
        list->count++;
        skip_blanks(reader);
        if (reader->at == reader->text.size)
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
        .text = yarn_span_of(text, size), .arena = arena, .error = &error};
    size_t mark = arena->used;

    ret_list->count = 0;
    int err = parse_items(&reader, ret_list);
    if (err) {
        ret_list->count = 0;
        yarn_arena_rewind(arena, mark);
    }
    if (err == -EINVAL)
        *ret_error = error;
    return err;
}
