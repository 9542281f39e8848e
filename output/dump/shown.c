/* SPDX-License-Identifier: Apache-2.0 */
#include "output/dump/shown.h"

#include <inttypes.h>
#include <stdio.h>

#include "output/dump/words.h"

static const struct {
    enum yarn_dump_record record;
    const char *text;
} shown[] = {
#define YARN_SHOWN(NAME, text) {YARN_DUMP_RECORD_##NAME, text},
#include "output/dump/format.def"
};

static const char *text_of(enum yarn_dump_record record)
{
    for (size_t i = 0; i < YARN_COUNT_OF(shown); i++) {
        if (shown[i].record == record)
            return shown[i].text;
    }
    return NULL;
}

bool yarn_dump_is_shown(enum yarn_dump_record record)
{
    return text_of(record);
}

static const struct yarn_dump_field *find_field(enum yarn_dump_record record, const char *name,
                                                size_t size)
{
    size_t count;
    const struct yarn_dump_field *fields = yarn_dump_fields_of(record, &count);
    for (size_t i = 0; i < count; i++) {
        if (strlen(fields[i].name) == size && memcmp(fields[i].name, name, size) == 0)
            return &fields[i];
    }
    return NULL;
}

static void add(struct yarn_byte_buffer *bytes, const char *text)
{
    yarn_bytes_put(bytes, text, strlen(text));
}

static void add_number(struct yarn_byte_buffer *bytes, const struct yarn_dump_field *field,
                       uint64_t number)
{
    char digits[24];
    bool is_signed = field->kind == YARN_DUMP_KIND_I32 || field->kind == YARN_DUMP_KIND_I64;
    (void)snprintf(digits, sizeof digits, is_signed ? "%" PRId64 : "%" PRIu64, number);
    add(bytes, digits);
}

/* One of the two words behind the '?'. */
static void add_choice(struct yarn_byte_buffer *bytes, const char *words, const char *end,
                       bool is_first)
{
    const char *colon = memchr(words, ':', (size_t)(end - words));
    const char *from = is_first || !colon ? words : colon + 1;
    const char *to = is_first && colon ? colon : end;
    yarn_bytes_put(bytes, from, (size_t)(to - from));
}

/* What stands between braces. */
static void add_member(struct yarn_byte_buffer *bytes, enum yarn_dump_record record,
                       const void *thing, const char *from, const char *end)
{
    char name[32];
    uint64_t number;
    size_t size = strcspn(from, ":?}");
    const struct yarn_dump_field *field = find_field(record, from, size);
    if (!field)
        return;
    if (field->kind == YARN_DUMP_KIND_TEXT) {
        struct yarn_span text;
        memcpy(&text, (const uint8_t *)thing + field->offset, sizeof text);
        yarn_bytes_put(bytes, text.data, yarn_size_min(text.size, YARN_DUMP_SHOWN_TEXT_MAX));
        return;
    }
    yarn_dump_field_gather(field, thing, 0, 1, 0, &number);
    if (from[size] == '?') {
        add_choice(bytes, from + size + 1, end, number);
    } else if (from[size] == ':') {
        (void)snprintf(name, sizeof name, "%.*s", (int)(end - from - (ptrdiff_t)size - 1),
                       from + size + 1);
        add(bytes, yarn_dump_word(name, number));
    } else {
        add_number(bytes, field, number);
    }
}

void yarn_dump_show(struct yarn_byte_buffer *bytes, enum yarn_dump_record record, const void *thing)
{
    const char *text = text_of(record);
    while (text && *text) {
        size_t size = strcspn(text, "{");
        const char *end = strchr(text + size, '}');
        yarn_bytes_put(bytes, text, size);
        if (!end)
            return;
        add_member(bytes, record, thing, text + size + 1, end);
        text = end + 1;
    }
}

struct yarn_dump_shown_at yarn_dump_shown_at(enum yarn_dump_record record, const void *thing)
{
    size_t count;
    uint64_t number;
    struct yarn_dump_shown_at at = {.tid = YARN_DUMP_NONE, .cpu = YARN_DUMP_NONE};
    const struct yarn_dump_field *fields = yarn_dump_fields_of(record, &count);
    (void)yarn_dump_fields_time(record, thing, &at.time_ns);
    for (size_t i = 0; i < count; i++) {
        if (fields[i].kind != YARN_DUMP_KIND_TID && fields[i].kind != YARN_DUMP_KIND_CPU)
            continue;
        yarn_dump_field_gather(&fields[i], thing, 0, 1, 0, &number);
        *(fields[i].kind == YARN_DUMP_KIND_TID ? &at.tid : &at.cpu) = (uint32_t)number;
    }
    return at;
}
