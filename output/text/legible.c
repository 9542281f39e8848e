/* SPDX-License-Identifier: Apache-2.0 */
#include "output/text/legible.h"

#include <stdio.h>
#include <stdlib.h>

enum { ESCAPE_MAX = 8 }; /* \u202e and a NUL fit */

unsigned yarn_utf8_size(const char *text, uint32_t *ret_character)
{
    static const uint32_t least[] = {0, 1, 0x80, 0x800, 0x10000};
    unsigned char first = (unsigned char)text[0];
    unsigned size = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (size == 0 || first > 0xf4 || first == 0)
        return 0;
    uint32_t character = size == 1 ? first : first & (0x7fu >> size);
    for (unsigned i = 1; i < size; i++) {
        unsigned char next = (unsigned char)text[i];
        if ((next & 0xc0) != 0x80)
            return 0;
        character = character << 6 | (next & 0x3f);
    }
    if (character < least[size] || character > 0x10ffff ||
        (character >= 0xd800 && character <= 0xdfff))
        return 0;
    *ret_character = character;
    return size;
}

static bool is_harmless(uint32_t character)
{
    if (character < 0x20 || (character >= 0x7f && character < 0xa0))
        return false;
    return !((character >= 0x200e && character <= 0x200f) ||
             (character >= 0x2028 && character <= 0x202e) ||
             (character >= 0x2066 && character <= 0x2069));
}

/* The escape for what stands at `text`; the bytes that it stands for. */
static unsigned escape(const char *text, char *ret_escape)
{
    uint32_t character = 0;
    unsigned size = yarn_utf8_size(text, &character);
    if (character == '\n' || character == '\t')
        (void)snprintf(ret_escape, ESCAPE_MAX, "%s", character == '\n' ? "\\n" : "\\t");
    else if (size > 1)
        (void)snprintf(ret_escape, ESCAPE_MAX, "\\u%04x", (unsigned)(character & 0xffff));
    else
        (void)snprintf(ret_escape, ESCAPE_MAX, "\\x%02x", (unsigned)(unsigned char)text[0]);
    return size ? size : 1;
}

static bool is_legible(const char *text, size_t *ret_columns)
{
    size_t columns = 0;
    while (*text) {
        uint32_t character;
        unsigned size = yarn_utf8_size(text, &character);
        if (!size || !is_harmless(character))
            return false;
        text += size;
        columns++;
    }
    *ret_columns = columns;
    return true;
}

const char *yarn_legible(struct yarn_legible *ret_legible, const char *text)
{
    *ret_legible = (struct yarn_legible){.text = text};
    if (is_legible(text, &ret_legible->columns))
        return text;
    char *safe = malloc(strlen(text) * (ESCAPE_MAX - 1) + 1);
    if (!safe) {
        ret_legible->text = "?";
        ret_legible->columns = 1;
        return "?";
    }
    char *to = safe;
    size_t columns = 0;
    while (*text) {
        uint32_t character;
        unsigned size = yarn_utf8_size(text, &character);
        if (size && is_harmless(character)) {
            memcpy(to, text, size);
            to += size;
            columns++;
        } else {
            char escaped[ESCAPE_MAX];
            size = escape(text, escaped);
            to = stpcpy(to, escaped);
            columns += strlen(escaped);
        }
        text += size;
    }
    *to = 0;
    *ret_legible = (struct yarn_legible){.owned = safe, .text = safe, .columns = columns};
    return safe;
}

void yarn_legible_fini(struct yarn_legible *legible)
{
    free(legible->owned);
    *legible = (struct yarn_legible){.text = ""};
}
