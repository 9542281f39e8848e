/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The nearest of many names to a mistyped one: that which the fewest changed, missing, doubled or
 * exchanged bytes lead to, where those are few beside its length.
 *
 * Threads, signals: values; safe anywhere.
 */
#pragma once

#include "core/base/span.h"
#include "core/base/text.h"

enum { YARN_NEAREST_MAX = 64 };

struct yarn_nearest {
    struct yarn_span word; /* borrowed */
    size_t distance;
    char name[YARN_NEAREST_MAX]; /* empty: none is near */
};

struct yarn_nearest yarn_nearest_of(struct yarn_span word);
void yarn_nearest_offer(struct yarn_nearest *nearest, const char *name);

/* "; NAME?" behind a sentence, where there is one. */
void yarn_nearest_ask(const struct yarn_nearest *nearest, struct yarn_text *text);

/* Whether two names are the same word with - and _ alike. */
bool yarn_event_word_is(struct yarn_span name, const char *word);
