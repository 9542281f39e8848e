/* SPDX-License-Identifier: Apache-2.0 */
#include "core/event/trace_format.h"

enum { WORD = 8, LOCATION_BYTES = 4 };

static struct yarn_span trim(struct yarn_span text)
{
    while (text.size && (text.data[0] == ' ' || text.data[0] == '\t'))
        text = yarn_span_from(text, 1);
    while (text.size && text.data[text.size - 1] == ' ')
        text.size--;
    return text;
}

static bool begins(struct yarn_span text, const char *word)
{
    size_t size = strlen(word);
    return text.size >= size && !memcmp(text.data, word, size);
}

static bool has_word(struct yarn_span text, const char *word)
{
    size_t size = strlen(word);
    for (size_t at = 0; at + size <= text.size; at++)
        if (!memcmp(text.data + at, word, size))
            return true;
    return false;
}

/* Up to `stop`, which is taken with it. */
static struct yarn_span take_until(struct yarn_span *rest, char stop)
{
    const uint8_t *end = rest->size ? memchr(rest->data, stop, rest->size) : NULL;
    size_t size = end ? (size_t)(end - rest->data) : rest->size;
    struct yarn_span part = yarn_span_sub(*rest, 0, size);
    *rest = yarn_span_from(*rest, end ? size + 1 : size);
    return part;
}

/* KEY:NUMBER in what is left of the line; false where it is none. */
static bool take_number(struct yarn_span *line, const char *key, uint32_t *ret_number)
{
    struct yarn_span part = trim(take_until(line, ';'));
    uint64_t number;
    if (!begins(part, key))
        return false;
    part = yarn_span_from(part, strlen(key));
    if (yarn_parse_u64((const char *)part.data, part.size, &number) || number > UINT32_MAX)
        return false;
    *ret_number = (uint32_t)number;
    return true;
}

/* Of the types that stand before an array's name, in so far as the kernel uses them there. */
static uint32_t element_bytes(struct yarn_span type, uint32_t size)
{
    if (has_word(type, "*") || has_word(type, "long") || has_word(type, "64"))
        return WORD;
    if (has_word(type, "char") || has_word(type, "bool") || has_word(type, "u8") ||
        has_word(type, "s8") || has_word(type, "int8"))
        return 1;
    if (has_word(type, "short") || has_word(type, "16"))
        return 2;
    return yarn_size_min(size, 4) == size ? size : 4;
}

/* TYPE NAME, TYPE NAME[N] or __data_loc TYPE[] NAME. */
static bool take_declaration(struct yarn_span text, struct yarn_trace_field *field,
                             struct yarn_span *ret_type, bool *ret_is_array)
{
    size_t end = text.size, at;
    const uint8_t *bracket = text.size ? memchr(text.data, '[', text.size) : NULL;
    *ret_is_array = bracket;
    if (bracket && text.data[text.size - 1] == ']')
        end = (size_t)(bracket - text.data);
    for (at = end; at && text.data[at - 1] != ' ' && text.data[at - 1] != '*'; at--)
        continue;
    field->name = yarn_span_sub(text, at, end - at);
    *ret_type = yarn_span_sub(text, 0, at);
    field->is_located = begins(text, "__data_loc ");
    field->is_relative = begins(text, "__rel_loc ");
    return field->name.size;
}

/* field:DECLARATION; offset:N; size:N; signed:N; */
static bool read_field(struct yarn_span line, struct yarn_trace_field *field)
{
    struct yarn_span type;
    bool is_array;
    uint32_t sign = 0;
    *field = (struct yarn_trace_field){.offset = 0};
    line = trim(line);
    if (!begins(line, "field:"))
        return false;
    line = yarn_span_from(line, strlen("field:"));
    if (!take_declaration(trim(take_until(&line, ';')), field, &type, &is_array) ||
        !take_number(&line, "offset:", &field->offset) ||
        !take_number(&line, "size:", &field->size))
        return false;
    (void)take_number(&line, "signed:", &sign);
    field->is_signed = sign;
    field->is_common = begins(field->name, "common_");
    field->is_pointer = has_word(type, "*");
    field->is_text = is_array && has_word(type, "char");
    field->element_bytes =
        is_array || field->size > WORD ? element_bytes(type, field->size) : field->size;
    return true;
}

bool yarn_trace_format_next(struct yarn_span *rest, struct yarn_trace_field *ret_field)
{
    while (rest->size) {
        if (begins(*rest, "print fmt:"))
            break;
        if (read_field(take_until(rest, '\n'), ret_field))
            return true;
    }
    *rest = YARN_SPAN_EMPTY;
    return false;
}

bool yarn_trace_format_find(struct yarn_span format, struct yarn_span name,
                            struct yarn_trace_field *ret_field)
{
    while (yarn_trace_format_next(&format, ret_field))
        if (yarn_span_equal(ret_field->name, name))
            return true;
    return false;
}

uint64_t yarn_trace_format_id(struct yarn_span format)
{
    uint64_t id = 0;
    while (format.size) {
        struct yarn_span line = take_until(&format, '\n');
        if (!begins(line, "ID: "))
            continue;
        line = yarn_span_from(line, strlen("ID: "));
        if (yarn_parse_u64((const char *)line.data, line.size, &id))
            return 0;
        break;
    }
    return id;
}

/* ---- samples ---- */

struct yarn_span yarn_trace_field_bytes(const struct yarn_trace_field *field, struct yarn_span raw)
{
    struct yarn_span bytes = yarn_span_sub(raw, field->offset, field->size);
    uint32_t location;
    if (field->is_located || field->is_relative) {
        if (!yarn_span_read(bytes, 0, &location, sizeof location))
            return YARN_SPAN_EMPTY;
        uint64_t from = field->is_relative ? (uint64_t)field->offset + LOCATION_BYTES : 0;
        bytes = yarn_span_sub(raw, from + (location & 0xffff), location >> 16);
    }
    const uint8_t *end = field->is_text && bytes.size ? memchr(bytes.data, 0, bytes.size) : NULL;
    return end ? yarn_span_sub(bytes, 0, (size_t)(end - bytes.data)) : bytes;
}

bool yarn_trace_field_number(const struct yarn_trace_field *field, struct yarn_span bytes,
                             size_t at, uint64_t *ret_number)
{
    uint8_t data[WORD] = {0};
    uint32_t size = field->element_bytes;
    if (!size || size > WORD || !yarn_span_read(bytes, (uint64_t)at * size, data, size))
        return false;
    memcpy(ret_number, data, sizeof data);
    unsigned unused_bits = 64 - 8 * size;
    if (field->is_signed)
        *ret_number = (uint64_t)((int64_t)(*ret_number << unused_bits) >> unused_bits);
    return true;
}

void yarn_trace_field_show(const struct yarn_trace_field *field, struct yarn_span raw,
                           struct yarn_text *text)
{
    struct yarn_span bytes = yarn_trace_field_bytes(field, raw);
    uint64_t number;
    if (field->is_text) {
        yarn_text_add_sized(text, (const char *)bytes.data, bytes.size);
        return;
    }
    for (size_t at = 0; !text->cut && yarn_trace_field_number(field, bytes, at, &number); at++) {
        yarn_text_add(text, at ? "," : "");
        if (field->is_pointer) {
            yarn_text_add(text, "0x");
            yarn_text_add_hex(text, number);
        } else if (field->is_signed) {
            yarn_text_add_i64(text, (int64_t)number);
        } else {
            yarn_text_add_u64(text, number);
        }
    }
}
