/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Foreign text made safe to print, in the one place where that is done: control characters, what
 * turns the direction of writing or cannot be seen, and bytes that are no UTF-8 become escapes (\n,
 * \x1b, \u202e, \U000e0001). Names come from other people's programs and must not steer a terminal.
 * The result is UTF-8, and legible: making it legible again changes nothing. All texts of a profile
 * are (output/analysis/value/strings.h).
 * Threads: safe anywhere.
 */
#pragma once

#include <stdio.h>

#include "core/base/span.h"

struct yarn_legible {
    char *owned; /* NULL: `text` is the original */
    const char *text;
    size_t columns; /* characters */
};

/* The text to print, valid until fini (and as long as the original). */
const char *yarn_legible(struct yarn_legible *ret_legible, const char *text);
void yarn_legible_fini(struct yarn_legible *legible);
void yarn_legible_print(const char *text, FILE *file);

/* As it is or, NUL behind it, of malloc; *ret_owned is NULL where it is the original or there is no
 * memory, which leaves nothing of it. A NUL becomes \x00. */
struct yarn_span yarn_legible_span(struct yarn_span text, char **ret_owned);

/* The character that the text begins with, 1 to 4 bytes of it; 0 where they are no UTF-8. */
unsigned yarn_utf8_size(struct yarn_span text, uint32_t *ret_character);

/* Bytes as hexadecimal digits, as many as fit; ret_text. */
const char *yarn_hex_text(struct yarn_span bytes, char *ret_text, size_t size);
