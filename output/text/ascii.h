/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Text for a locale without UTF-8: the signs that yarn draws with become ASCII of the same width
 * where that can be, other characters escapes as in legible.h. Data formats are never written so.
 * Threads: one.
 */
#pragma once

#include <stdio.h>

#include "core/base/base.h"

/* LC_ALL, else LC_CTYPE, else LANG names a locale, and it is none of UTF-8. */
bool yarn_ascii_is_wanted(void);

/* A stream that writes to `under`, which stays open when it is closed; NULL: no memory. */
FILE *yarn_ascii_open(FILE *under);
