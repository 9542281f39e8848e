/* SPDX-License-Identifier: Apache-2.0 */
#include "output/text/ascii.h"

#include <inttypes.h>
#include <stdlib.h>

#include "output/text/legible.h"

enum { CHARACTER_BYTES_MAX = 4 };

struct ascii {
    FILE *under;
    char part[CHARACTER_BYTES_MAX]; /* of a character whose end has not come */
    size_t nr_part;
    bool is_inside_line;
};

static const struct {
    uint32_t character;
    const char *text;
} signs[] = {
    {0xb0, "deg"}, {0xb1, "+-"},  {0xb5, "u"},   {0xb7, "."},   {0xd7, "x"},   {0x2013, "-"},
    {0x2014, "-"}, {0x2026, "~"}, {0x2190, "<"}, {0x2192, ">"}, {0x2248, "~"}, {0x2500, "-"},
    {0x2502, "|"}, {0x2514, "`"}, {0x251c, "|"}, {0x2581, "."}, {0x2582, ":"}, {0x2583, "-"},
    {0x2584, "="}, {0x2585, "+"}, {0x2586, "*"}, {0x2587, "%"}, {0x2588, "#"}, {0x2591, "~"},
};

bool yarn_ascii_is_wanted(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < YARN_COUNT_OF(names); i++) {
        const char *locale = getenv(names[i]);
        if (locale && locale[0])
            return !strcasestr(locale, "UTF-8") && !strcasestr(locale, "UTF8");
    }
    return false;
}

static void put_character(struct ascii *ascii, uint32_t character)
{
    for (size_t i = 0; i < YARN_COUNT_OF(signs); i++) {
        if (signs[i].character != character)
            continue;
        bool is_first_of_line = character == 0x2026 && !ascii->is_inside_line;
        (void)fputs(is_first_of_line ? "..." : signs[i].text, ascii->under);
        return;
    }
    (void)fprintf(ascii->under, character > UINT16_MAX ? "\\U%08" PRIx32 : "\\u%04" PRIx32,
                  character);
}

/* How many bytes a character has that begins so; 1 where none does. */
static size_t length_of(char first)
{
    unsigned char byte = (unsigned char)first;
    return byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
}

static void put_byte(struct ascii *ascii, char byte)
{
    uint32_t character;
    ascii->part[ascii->nr_part++] = byte;
    if (ascii->nr_part < length_of(ascii->part[0]))
        return;
    struct yarn_span whole = {(const uint8_t *)ascii->part, ascii->nr_part};
    if (!((unsigned char)ascii->part[0] & 0x80))
        (void)fputc(byte, ascii->under);
    else if (yarn_utf8_size(whole, &character) == whole.size)
        put_character(ascii, character);
    else
        (void)fputc('?', ascii->under);
    ascii->nr_part = 0;
    ascii->is_inside_line = byte != '\n';
}

static ssize_t write_cookie(void *self, const char *bytes, size_t size)
{
    struct ascii *ascii = self;
    for (size_t i = 0; i < size; i++)
        put_byte(ascii, bytes[i]);
    return ferror(ascii->under) ? 0 : (ssize_t)size;
}

static int close_cookie(void *self)
{
    free(self);
    return 0;
}

FILE *yarn_ascii_open(FILE *under)
{
    cookie_io_functions_t functions = {.write = write_cookie, .close = close_cookie};
    struct ascii *ascii = calloc(1, sizeof *ascii);
    FILE *file = ascii ? fopencookie(ascii, "w", functions) : NULL;
    if (!file) {
        free(ascii);
        return NULL;
    }
    ascii->under = under;
    return file;
}
