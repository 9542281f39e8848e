/* SPDX-License-Identifier: Apache-2.0 */
#include "output/export/page/html.h"

static bool is_continuation(unsigned char byte)
{
    return (byte & 0xc0) == 0x80;
}

/* Bytes of the character at `text`, which ends with a NUL; 0: no UTF-8. */
static unsigned decode(const unsigned char *text, uint32_t *ret_character)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned size = text[0] < 0x80    ? 1
                    : text[0] >= 0xf0 ? 4
                    : text[0] >= 0xe0 ? 3
                    : text[0] >= 0xc2 ? 2
                                      : 0;
    if (size < 2 || text[0] > 0xf4) {
        *ret_character = text[0];
        return size < 2 ? size : 0;
    }
    uint32_t character = text[0] & (0x7fu >> size);
    for (unsigned i = 1; i < size; i++) {
        if (!is_continuation(text[i]))
            return 0;
        character = character << 6 | (text[i] & 0x3fu);
    }
    if (character < least[size] || character > 0x10ffff ||
        (character >= 0xd800 && character <= 0xdfff))
        return 0;
    *ret_character = character;
    return size;
}

/* Invisible, or turns the direction in which what follows is written. */
static bool steers(uint32_t character)
{
    return character < 0x20 || (character >= 0x7f && character <= 0x9f) || character == 0x61c ||
           (character >= 0x200b && character <= 0x200f) ||
           (character >= 0x2028 && character <= 0x202e) ||
           (character >= 0x2060 && character <= 0x206f) || character == 0xfeff;
}

static const char *entity_of(uint32_t character)
{
    switch (character) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

void yarn_html_text(FILE *file, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    while (*at) {
        uint32_t character;
        unsigned size = decode(at, &character);
        const char *entity = size == 1 ? entity_of(character) : NULL;
        if (!size || (size == 1 && steers(character)))
            (void)fprintf(file, "\\x%02x", at[0]);
        else if (entity)
            (void)fputs(entity, file);
        else if (steers(character))
            (void)fprintf(file, "\\u%04x", character);
        else
            (void)fwrite(at, 1, size, file);
        at += size ? size : 1;
    }
}
