/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Foreign text made safe to print: control characters, marks that turn the direction of writing and
 * bytes that are no UTF-8 become escapes (\n, \x1b, \u202e). Names come from other people's
 * programs and must not steer a terminal.
 * Threads: safe anywhere.
 */
#pragma once

#include "core/base/base.h"

struct yarn_legible {
    char *owned; /* NULL: `text` is the original */
    const char *text;
    size_t columns; /* characters */
};

/* The text to print, valid until fini (and as long as the original). */
const char *yarn_legible(struct yarn_legible *ret_legible, const char *text);
void yarn_legible_fini(struct yarn_legible *legible);

/* The character at `text`, 1 to 4 bytes of it; 0 where they are no UTF-8 (or a NUL). */
unsigned yarn_utf8_size(const char *text, uint32_t *ret_character);
