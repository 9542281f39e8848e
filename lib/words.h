/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Bytes of a record from the front on, in words of any alignment. What goes beyond the end makes it
 * broken, for good; then all is 0 and empty.
 *
 * Threads, signals: safe anywhere.
 */
#pragma once

#include <string.h>

#include "core/base/base.h"

struct yarn_words {
    const uint8_t *next;
    size_t left;
    bool is_broken;
};

/* NULL where they are not there. */
static inline const uint8_t *yarn_words_take(struct yarn_words *words, uint64_t size)
{
    const uint8_t *taken = words->next;
    if (words->is_broken || size > words->left) {
        words->is_broken = true;
        return NULL;
    }
    words->next += size;
    words->left -= (size_t)size;
    return taken;
}

static inline uint64_t yarn_words_u64(struct yarn_words *words)
{
    uint64_t value = 0;
    const uint8_t *bytes = yarn_words_take(words, sizeof value);
    if (bytes)
        memcpy(&value, bytes, sizeof value);
    return value;
}

static inline uint32_t yarn_words_u32(struct yarn_words *words)
{
    uint32_t value = 0;
    const uint8_t *bytes = yarn_words_take(words, sizeof value);
    if (bytes)
        memcpy(&value, bytes, sizeof value);
    return value;
}

/* So many things of `each` bytes. */
static inline const uint8_t *yarn_words_take_many(struct yarn_words *words, uint64_t count,
                                                  size_t each)
{
    if (count > words->left / each) {
        words->is_broken = true;
        return NULL;
    }
    return yarn_words_take(words, count * each);
}
