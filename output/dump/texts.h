/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Copies of bytes, each with a NUL behind it, that are given back all at once. Threads: one owner
 * at a time. Signals: not safe.
 */
#pragma once

#include "core/base/span.h"

/* Begins empty: all zero. */
struct yarn_texts {
    struct yarn_texts_piece *pieces; /* owned; the latest first */
};

/* Stays where it is until close. NULL: no memory. */
char *yarn_texts_keep(struct yarn_texts *texts, struct yarn_span bytes);
/* Idempotent. */
void yarn_texts_close(struct yarn_texts *texts);
