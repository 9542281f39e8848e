/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/text.h"
#include "core/event/parse_form.h"

/* Why checked here: the kernel says no more than EINVAL, and that only to an open event. */
struct filter {
    struct yarn_event_reader *reader;
    const struct yarn_event_spec *spec;
    struct yarn_span text;
    size_t at;
    struct yarn_parse_error *error;
    char format[8192]; /* of a tracepoint; empty: it cannot be read, so names are not checked */
    struct yarn_nearest nearest;
};

enum field { FIELD_UNKNOWN, FIELD_NUMBER, FIELD_STRING };

static int fail(struct filter *filter, size_t at, size_t size, const char *why)
{
    *filter->error = (struct yarn_parse_error){.at = at, .size = size, .why = why};
    return -EINVAL;
}

static char peek(const struct filter *filter, size_t ahead)
{
    size_t at = filter->at + ahead;
    return at < filter->text.size ? (char)filter->text.data[at] : 0;
}

static void skip_blanks(struct filter *filter)
{
    while (peek(filter, 0) == ' ')
        filter->at++;
}

static bool is_word_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static struct yarn_span take_word(struct filter *filter)
{
    size_t start = filter->at;
    while (is_word_byte(peek(filter, 0)))
        filter->at++;
    return yarn_span_sub(filter->text, start, filter->at - start);
}

static void read_format(struct filter *filter)
{
    char path[YARN_MACHINE_PATH_MAX];
    struct yarn_span event = yarn_span_of_text(filter->spec->event);
    const uint8_t *colon = memchr(event.data, ':', event.size);
    if (!colon)
        return;
    struct yarn_span parts[] = {
        yarn_span_of_text("events"), yarn_span_sub(event, 0, (size_t)(colon - event.data)),
        yarn_span_from(event, (size_t)(colon - event.data) + 1), yarn_span_of_text("format")};
    if (yarn_machine_path(filter->reader->machine->tracing, parts, 4, path) ||
        yarn_machine_read(path, filter->format, sizeof filter->format) < 0)
        filter->format[0] = 0;
}

static bool has(struct yarn_span text, const char *part)
{
    size_t size = strlen(part);
    for (size_t at = 0; at + size <= text.size; at++)
        if (memcmp(text.data + at, part, size) == 0)
            return true;
    return false;
}

/* "field:char comm[16]": its last word is its name. */
static enum field look_at_field(struct filter *filter, struct yarn_span line,
                                struct yarn_span asked)
{
    char buffer[YARN_NEAREST_MAX];
    struct yarn_text name = yarn_text_of(buffer, sizeof buffer);
    const uint8_t *bracket = memchr(line.data, '[', line.size);
    bool is_located = has(line, "__data_loc") || has(line, "__rel_loc");
    size_t end = bracket && !is_located ? (size_t)(bracket - line.data) : line.size, start;
    for (start = end; start && is_word_byte((char)line.data[start - 1]);)
        start--;
    yarn_text_add_sized(&name, (const char *)line.data + start, end - start);
    yarn_nearest_offer(&filter->nearest, buffer);
    if (!yarn_span_equal(yarn_span_sub(line, start, end - start), asked))
        return FIELD_UNKNOWN;
    return has(line, "char") && (bracket || has(line, "char *")) ? FIELD_STRING : FIELD_NUMBER;
}

static enum field find_in_format(struct filter *filter, struct yarn_span name)
{
    for (const char *line = filter->format; *line; line += strcspn(line, "\n")) {
        line += strspn(line, "\n\t");
        if (!yarn_event_begins(yarn_span_of_text(line), "field:"))
            continue;
        struct yarn_span field = yarn_span_of(line, strcspn(line, ";\n"));
        enum field found = look_at_field(filter, field, name);
        if (found != FIELD_UNKNOWN)
            return found;
    }
    return FIELD_UNKNOWN;
}

static enum field find_among(struct filter *filter, struct yarn_span name, const char *const *names,
                             size_t count, enum field kind)
{
    for (size_t i = 0; i < count; i++) {
        yarn_nearest_offer(&filter->nearest, names[i]);
        if (yarn_span_equal(name, yarn_span_of_text(names[i])))
            return kind;
    }
    return FIELD_UNKNOWN;
}

static enum field find_field(struct filter *filter, struct yarn_span name)
{
    static const char *const common[] = {
        "common_type", "common_pid", "common_flags", "common_preempt_count",
        "cpu",         "CPU",        "common_cpu"};
    static const char *const arguments[] = {"arg1", "arg2", "arg3", "arg4", "arg5", "arg6", "ret"};
    static const char *const sampled[] = {"ip", "addr", "period"};
    static const char *const comm[] = {"comm", "COMM"};
    enum field found = FIELD_UNKNOWN;
    bool is_traced = filter->spec->kind == YARN_EVENT_TRACEPOINT;
    filter->nearest = yarn_nearest_of(name);
    if (!is_traced && filter->spec->kind != YARN_EVENT_PROBE)
        return find_among(filter, name, sampled, YARN_COUNT_OF(sampled), FIELD_NUMBER);
    if (is_traced && filter->format[0])
        found = find_in_format(filter, name);
    else if (!is_traced)
        found = find_among(filter, name, arguments, YARN_COUNT_OF(arguments), FIELD_NUMBER);
    if (found == FIELD_UNKNOWN)
        found = find_among(filter, name, common, YARN_COUNT_OF(common), FIELD_NUMBER);
    if (found == FIELD_UNKNOWN)
        found = find_among(filter, name, comm, YARN_COUNT_OF(comm), FIELD_STRING);
    return found;
}

/* The size of the comparison at the filter; 0: there is none. */
static size_t operator_size(const struct filter *filter)
{
    static const char *const operators[] = {"==", "!=", "<=", ">=", "<", ">", "&", "~"};
    for (size_t i = 0; i < YARN_COUNT_OF(operators); i++)
        if (yarn_event_begins(yarn_span_from(filter->text, filter->at), operators[i]))
            return strlen(operators[i]);
    return 0;
}

static int take_string(struct filter *filter, enum field field)
{
    size_t start = filter->at;
    char quote = peek(filter, 0);
    for (filter->at++; peek(filter, 0) != quote; filter->at++)
        if (filter->at >= filter->text.size)
            return fail(filter, start, 1, "the closing quote is missing");
    filter->at++;
    if (field == FIELD_NUMBER)
        return fail(filter, start, filter->at - start, "the field is a number");
    return 0;
}

static int take_number(struct filter *filter, enum field field)
{
    size_t start = filter->at;
    uint64_t value;
    filter->at += peek(filter, 0) == '-';
    struct yarn_span digits = take_word(filter);
    if (!digits.size)
        return fail(filter, start, 0, "a number, or a text in quotes, is missing");
    if (yarn_parse_number((const char *)digits.data, digits.size, &value))
        return fail(filter, start, filter->at - start, "not a number");
    if (field == FIELD_STRING)
        return fail(filter, start, filter->at - start, "the field is a text: put it in quotes");
    return 0;
}

/* FIELD OPERATOR VALUE */
static int take_comparison(struct filter *filter)
{
    size_t start = filter->at;
    struct yarn_span name = take_word(filter);
    if (!name.size)
        return fail(filter, start, start < filter->text.size, "the name of a field is missing");
    enum field field = find_field(filter, name);
    bool is_checked = filter->spec->kind != YARN_EVENT_TRACEPOINT || filter->format[0];
    if (field == FIELD_UNKNOWN && is_checked) {
        struct yarn_text why = yarn_event_reader_sentence(filter->reader);
        yarn_text_add(&why, "not a field of this event");
        yarn_nearest_ask(&filter->nearest, &why);
        return fail(filter, start, name.size, why.data);
    }
    skip_blanks(filter);
    size_t size = operator_size(filter);
    if (!size || yarn_event_begins(yarn_span_from(filter->text, filter->at), "&&"))
        return fail(filter, filter->at, 0, "a comparison is missing: == != < <= > >= & ~");
    bool is_glob = peek(filter, 0) == '~', is_order = strchr("<>&", peek(filter, 0));
    if (is_glob && field == FIELD_NUMBER)
        return fail(filter, filter->at, 1, "~ compares texts");
    if (is_order && field == FIELD_STRING)
        return fail(filter, filter->at, size, "a text is compared by == != ~");
    filter->at += size;
    skip_blanks(filter);
    bool is_quoted = peek(filter, 0) == '"' || peek(filter, 0) == '\'';
    return is_quoted ? take_string(filter, field) : take_number(filter, field);
}

/* Comparisons with !, && and || between them, and brackets. */
static int check(struct filter *filter)
{
    size_t depth = 0, opened = 0;
    for (;;) {
        for (skip_blanks(filter); peek(filter, 0) == '(' || peek(filter, 0) == '!';
             skip_blanks(filter)) {
            opened = peek(filter, 0) == '(' && !depth++ ? filter->at : opened;
            filter->at++;
        }
        int err = take_comparison(filter);
        if (err)
            return err;
        for (skip_blanks(filter); peek(filter, 0) == ')' && depth; skip_blanks(filter)) {
            depth--;
            filter->at++;
        }
        if (filter->at == filter->text.size)
            return depth ? fail(filter, opened, 1, "the closing ) is missing") : 0;
        char c = peek(filter, 0);
        if ((c != '&' && c != '|') || peek(filter, 1) != c)
            return fail(filter, filter->at, 1, "&& or || is missing");
        filter->at += 2;
    }
}

int yarn_event_check_filter(struct yarn_event_reader *reader, const struct yarn_event_spec *spec,
                            struct yarn_span text, struct yarn_parse_error *ret_error)
{
    struct filter filter = {.reader = reader, .spec = spec, .text = text, .error = ret_error};
    if (spec->kind == YARN_EVENT_TRACEPOINT && !spec->refusal)
        read_format(&filter);
    return check(&filter);
}
