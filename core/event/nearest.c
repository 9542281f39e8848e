/* SPDX-License-Identifier: Apache-2.0 */
#include "core/event/nearest.h"

/* A third of the word may be wrong. */
struct yarn_nearest yarn_nearest_of(struct yarn_span word)
{
    return (struct yarn_nearest){.word = word, .distance = word.size / 3 + 1};
}

static uint8_t plain(uint8_t c)
{
    return c == '_' ? '-' : c >= 'A' && c <= 'Z' ? (uint8_t)(c | 0x20) : c;
}

static uint8_t least(size_t a, size_t b, size_t c)
{
    return (uint8_t)yarn_size_min(a, yarn_size_min(b, c));
}

/* Levenshtein's distance, row by row; an exchange of two neighbours counts as one. */
static size_t distance_of(struct yarn_span a, struct yarn_span b)
{
    uint8_t rows[3][YARN_NEAREST_MAX + 1];
    for (size_t j = 0; j <= b.size; j++)
        rows[0][j] = (uint8_t)j;
    for (size_t i = 1; i <= a.size; i++) {
        uint8_t *row = rows[i % 3];
        const uint8_t *above = rows[(i - 1) % 3], *twice = rows[(i + 1) % 3];
        row[0] = (uint8_t)i;
        for (size_t j = 1; j <= b.size; j++) {
            uint8_t x = plain(a.data[i - 1]), y = plain(b.data[j - 1]);
            row[j] = least(above[j] + 1u, row[j - 1] + 1u, above[j - 1] + (x != y ? 1u : 0u));
            if (i > 1 && j > 1 && x == plain(b.data[j - 2]) && plain(a.data[i - 2]) == y)
                row[j] = least(row[j], twice[j - 2] + 1u, row[j]);
        }
    }
    return rows[a.size % 3][b.size];
}

void yarn_nearest_offer(struct yarn_nearest *nearest, const char *name)
{
    struct yarn_span other = yarn_span_of_text(name);
    if (nearest->word.size >= YARN_NEAREST_MAX || other.size >= YARN_NEAREST_MAX)
        return;
    size_t distance = distance_of(nearest->word, other);
    if (distance >= nearest->distance)
        return;
    struct yarn_text text = yarn_text_of(nearest->name, sizeof nearest->name);
    yarn_text_add(&text, name);
    nearest->distance = distance;
}

void yarn_nearest_ask(const struct yarn_nearest *nearest, struct yarn_text *text)
{
    if (!nearest->name[0])
        return;
    yarn_text_add(text, "; ");
    yarn_text_add(text, nearest->name);
    yarn_text_add(text, "?");
}

bool yarn_event_word_is(struct yarn_span name, const char *word)
{
    if (name.size != strlen(word))
        return false;
    for (size_t i = 0; i < name.size; i++) {
        char c = (char)name.data[i];
        if ((c == '_' ? '-' : c) != (word[i] == '_' ? '-' : word[i]))
            return false;
    }
    return true;
}
