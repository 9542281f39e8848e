/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The form of the variable YARN: KEY=VALUE with ; between. Knows the form; does not know the keys.
 * Threads, signals: pure; safe anywhere.
 */
#pragma once

#include "core/base/span.h"

struct yarn_compact_pair {
    struct yarn_span key;   /* without blanks around it */
    struct yarn_span value; /* as it stands */
    bool has_value;         /* there is a = */
};

struct yarn_compact_reader {
    struct yarn_span text;
    size_t at;
};

static inline struct yarn_compact_reader yarn_compact_reader_of(struct yarn_span text)
{
    return (struct yarn_compact_reader){text, 0};
}

/* False at the end. Empty pairs are skipped. */
bool yarn_compact_next(struct yarn_compact_reader *reader, struct yarn_compact_pair *ret_pair);
