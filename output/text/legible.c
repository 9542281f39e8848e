/* SPDX-License-Identifier: Apache-2.0 */
#include "output/text/legible.h"

#include <stdio.h>
#include <stdlib.h>

enum { ESCAPE_MAX = 12 }; /* \U000e0001 and a NUL fit */

unsigned yarn_utf8_size(struct yarn_span text, uint32_t *ret_character)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    uint8_t first = text.size ? text.data[0] : 0xff;
    unsigned size = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (size == 0 || first > 0xf4 || size > text.size)
        return 0;
    uint32_t character = size == 1 ? first : first & (0x7fu >> size);
    for (unsigned i = 1; i < size; i++) {
        if ((text.data[i] & 0xc0) != 0x80)
            return 0;
        character = character << 6 | (text.data[i] & 0x3f);
    }
    if (character < least[size] || character > 0x10ffff ||
        (character >= 0xd800 && character <= 0xdfff))
        return 0;
    *ret_character = character;
    return size;
}

/* Characters that are invisible, or turn the direction in which the text goes on: the Unicode
 * property Default_Ignorable_Code_Point, controls, format characters, separators of lines, and what
 * is no character. */
static const struct {
    uint32_t first, last;
} harmful[] = {
    {0, 0x1f},          {0x7f, 0x9f},       {0xad, 0xad},        {0x34f, 0x34f},
    {0x600, 0x605},     {0x61c, 0x61c},     {0x6dd, 0x6dd},      {0x70f, 0x70f},
    {0x890, 0x891},     {0x8e2, 0x8e2},     {0x115f, 0x1160},    {0x17b4, 0x17b5},
    {0x180b, 0x180f},   {0x200b, 0x200f},   {0x2028, 0x202e},    {0x2060, 0x206f},
    {0x2800, 0x2800},   {0x3164, 0x3164},   {0xfdd0, 0xfdef},    {0xfe00, 0xfe0f},
    {0xfeff, 0xfeff},   {0xffa0, 0xffa0},   {0xfff0, 0xfffb},    {0xfffe, 0xffff},
    {0x110bd, 0x110bd}, {0x110cd, 0x110cd}, {0x13430, 0x1345f},  {0x1bca0, 0x1bca3},
    {0x1d173, 0x1d17a}, {0x1fffe, 0x1ffff}, {0xe0000, 0x10ffff},
};

static bool is_harmless(uint32_t character)
{
    if (character >= 0x20 && character < 0x7f)
        return true;
    size_t i = 0;
    while (i + 1 < YARN_COUNT_OF(harmful) && character > harmful[i].last)
        i++;
    return character < harmful[i].first || character > harmful[i].last;
}

/* The escape for what the text begins with; the bytes that it stands for. */
static unsigned escape(struct yarn_span text, char *ret_escape)
{
    uint32_t character = 0;
    unsigned size = yarn_utf8_size(text, &character);
    if (character == '\n' || character == '\t')
        (void)snprintf(ret_escape, ESCAPE_MAX, "%s", character == '\n' ? "\\n" : "\\t");
    else if (size <= 1)
        (void)snprintf(ret_escape, ESCAPE_MAX, "\\x%02x", (unsigned)text.data[0]);
    else if (character <= 0xffff)
        (void)snprintf(ret_escape, ESCAPE_MAX, "\\u%04x", (unsigned)character);
    else
        (void)snprintf(ret_escape, ESCAPE_MAX, "\\U%08x", (unsigned)character);
    return size ? size : 1;
}

/* Bytes of the text's begin that are legible as they are. */
static size_t legible_bytes(struct yarn_span text, size_t *ret_columns)
{
    size_t at = 0;
    size_t columns = 0;
    while (at < text.size) {
        uint32_t character = text.data[at];
        unsigned size = 1;
        if (character >= 0x80)
            size = yarn_utf8_size(yarn_span_from(text, at), &character);
        if (!size || !is_harmless(character))
            break;
        at += size;
        columns++;
    }
    *ret_columns = columns;
    return at;
}

/* Room for ESCAPE_MAX - 1 bytes of each byte of the text. */
static size_t make_legible(struct yarn_span text, char *to, size_t *ret_columns)
{
    size_t columns = 0;
    char *begin = to;
    while (text.size) {
        size_t more;
        size_t size = legible_bytes(text, &more);
        memcpy(to, text.data, size);
        to += size;
        columns += more;
        text = yarn_span_from(text, size);
        if (!text.size)
            break;
        text = yarn_span_from(text, escape(text, to));
        columns += strlen(to);
        to += strlen(to);
    }
    *to = 0;
    *ret_columns = columns;
    return (size_t)(to - begin);
}

/* Bytes that the text takes when it is legible. */
static size_t measure(struct yarn_span text)
{
    size_t sum = 0;
    while (text.size) {
        char escaped[ESCAPE_MAX];
        size_t columns;
        size_t size = legible_bytes(text, &columns);
        sum += size;
        text = yarn_span_from(text, size);
        if (!text.size)
            break;
        text = yarn_span_from(text, escape(text, escaped));
        sum += strlen(escaped);
    }
    return sum;
}

struct yarn_span yarn_legible_span(struct yarn_span text, char **ret_owned)
{
    size_t columns;
    *ret_owned = NULL;
    if (legible_bytes(text, &columns) == text.size)
        return text;
    *ret_owned = malloc(measure(text) + 1);
    return *ret_owned ? yarn_span_of(*ret_owned, make_legible(text, *ret_owned, &columns))
                      : YARN_SPAN_EMPTY;
}

const char *yarn_legible(struct yarn_legible *ret_legible, const char *text)
{
    struct yarn_span span = yarn_span_of_text(text);
    struct yarn_legible legible = {.text = text};
    if (legible_bytes(span, &legible.columns) != span.size) {
        legible.owned = malloc(measure(span) + 1);
        if (legible.owned)
            (void)make_legible(span, legible.owned, &legible.columns);
        legible.text = legible.owned ? legible.owned : "?";
    }
    *ret_legible = legible;
    return legible.text;
}

void yarn_legible_fini(struct yarn_legible *legible)
{
    free(legible->owned);
    *legible = (struct yarn_legible){.text = ""};
}

void yarn_legible_print(const char *text, FILE *file)
{
    struct yarn_legible legible;
    (void)fputs(yarn_legible(&legible, text), file);
    yarn_legible_fini(&legible);
}

const char *yarn_hex_text(struct yarn_span bytes, char *ret_text, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    size_t at = 0;
    for (size_t i = 0; i < bytes.size && at + 2 < size; i++) {
        ret_text[at++] = digits[bytes.data[i] >> 4];
        ret_text[at++] = digits[bytes.data[i] & 15];
    }
    ret_text[at] = 0;
    return ret_text;
}
