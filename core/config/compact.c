/* SPDX-License-Identifier: Apache-2.0 */
#include "core/config/compact.h"

static size_t find_byte(struct yarn_span text, char byte)
{
    const uint8_t *found = text.size ? memchr(text.data, byte, text.size) : NULL;
    return found ? (size_t)(found - text.data) : text.size;
}

static bool is_blank(uint8_t byte)
{
    return byte == ' ' || byte == '\t' || byte == '\n';
}

static struct yarn_span trim(struct yarn_span text)
{
    size_t start = 0;
    size_t end = text.size;
    while (start < end && is_blank(text.data[start]))
        start++;
    while (end > start && is_blank(text.data[end - 1]))
        end--;
    return yarn_span_sub(text, start, end - start);
}

bool yarn_compact_next(struct yarn_compact_reader *reader, struct yarn_compact_pair *ret_pair)
{
    while (reader->at < reader->text.size) {
        struct yarn_span rest = yarn_span_from(reader->text, reader->at);
        struct yarn_span pair = yarn_span_sub(rest, 0, find_byte(rest, ';'));
        reader->at += pair.size + 1;
        if (!trim(pair).size)
            continue;
        size_t equals = find_byte(pair, '=');
        *ret_pair = (struct yarn_compact_pair){
            .key = trim(yarn_span_sub(pair, 0, equals)),
            .value = yarn_span_from(pair, equals + 1),
            .has_value = equals < pair.size,
        };
        return true;
    }
    return false;
}
