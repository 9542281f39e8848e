/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/glob.h"

/* One element of a pattern: how many bytes it takes there, and whether it takes `byte`. A set
 * without its ] is the bracket itself. */
static size_t take_set(struct yarn_span pattern, uint8_t byte, bool *ret_takes)
{
    bool is_negated = pattern.size > 1 && (pattern.data[1] == '!' || pattern.data[1] == '^');
    bool is_in = false;
    size_t begin = is_negated ? 2 : 1;
    for (size_t at = begin; at < pattern.size; at++) {
        if (pattern.data[at] == ']' && at > begin) {
            *ret_takes = is_in != is_negated;
            return at + 1;
        }
        uint8_t low = pattern.data[at];
        if (at + 2 < pattern.size && pattern.data[at + 1] == '-' && pattern.data[at + 2] != ']')
            at += 2;
        is_in |= low <= byte && byte <= pattern.data[at];
    }
    *ret_takes = byte == '[';
    return 1;
}

static size_t take(struct yarn_span pattern, uint8_t byte, bool *ret_takes)
{
    switch (pattern.data[0]) {
    case '?':
        *ret_takes = true;
        return 1;
    case '[':
        return take_set(pattern, byte, ret_takes);
    case '\\':
        if (pattern.size > 1) {
            *ret_takes = pattern.data[1] == byte;
            return 2;
        }
        break;
    default:
        break;
    }
    *ret_takes = pattern.data[0] == byte;
    return 1;
}

/* Only the last * is ever tried again: what an earlier one took can stay as it is. */
bool yarn_glob_matches(struct yarn_span pattern, struct yarn_span text)
{
    size_t at = 0, in = 0, star = SIZE_MAX, star_in = 0;
    while (in < text.size) {
        bool takes = false;
        size_t size = 0;
        if (at < pattern.size && pattern.data[at] == '*') {
            star = ++at;
            star_in = in;
            continue;
        }
        if (at < pattern.size)
            size = take(yarn_span_from(pattern, at), text.data[in], &takes);
        if (takes) {
            at += size;
            in++;
        } else if (star != SIZE_MAX) {
            at = star;
            in = ++star_in;
        } else {
            return false;
        }
    }
    while (at < pattern.size && pattern.data[at] == '*')
        at++;
    return at == pattern.size;
}

bool yarn_glob_list_matches(const char *list, const char *text)
{
    struct yarn_span whole = yarn_span_of_text(text);
    for (const char *at = list;; at++) {
        at += strspn(at, " ");
        const char *comma = strchr(at, ',');
        size_t size = comma ? (size_t)(comma - at) : strlen(at);
        size_t trimmed = size;
        while (trimmed && at[trimmed - 1] == ' ')
            trimmed--;
        if (trimmed && yarn_glob_matches(yarn_span_of(at, trimmed), whole))
            return true;
        if (!comma)
            return false;
        at = comma;
    }
}
