/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Texts by number, each stored once: equal numbers are equal texts. Number 0 is the empty text. A
 * NUL inside ends a text. All are legible (output/text/legible.h), wherever they come from: what
 * prints them need not care. Threads: one owner at a time.
 */
#pragma once

#include "core/base/span.h"
#include "core/base/table.h"
#include "output/dump/texts.h"

struct yarn_strings {
    struct yarn_texts kept;
    const char **texts; /* owned array of borrowed texts */
    size_t count;
    size_t capacity;
    struct yarn_table index;
};

YARN_MUST_CHECK int yarn_strings_init(struct yarn_strings *strings);
void yarn_strings_fini(struct yarn_strings *strings);

YARN_MUST_CHECK int yarn_strings_intern(struct yarn_strings *strings, struct yarn_span text,
                                        uint32_t *ret_number);

/* The legible text, valid as long as the strings. */
YARN_MUST_CHECK int yarn_strings_legible(struct yarn_strings *strings, struct yarn_span text,
                                         struct yarn_span *ret_text);

/* A copy of bytes as they are, not to be printed, with a NUL behind it, NULs inside kept, valid as
 * long as the strings. NULL: no memory. */
YARN_MUST_CHECK char *yarn_strings_keep(struct yarn_strings *strings, struct yarn_span bytes);

static inline const char *yarn_strings_text(const struct yarn_strings *strings, uint32_t number)
{
    return strings->texts[number];
}
