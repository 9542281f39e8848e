/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Shell patterns: * any text, ? any byte, [a-z] one of, [!a-z] none of, \ the next byte itself.
 * Knows no locale and no file names: a slash is a byte like any other.
 *
 * Threads, signals: pure; safe anywhere.
 */
#pragma once

#include "core/base/span.h"

bool yarn_glob_matches(struct yarn_span pattern, struct yarn_span text);

/* True where one pattern of the comma-separated list matches. Blanks around a pattern do not count.
 */
bool yarn_glob_list_matches(const char *list, const char *text);
