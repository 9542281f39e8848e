/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The words for the enumerations of a dump, as text and JSON have them: yarn_dump_word_of_clock and
 * so on. "unknown" for values of a later version. Threads, signals: pure functions; safe anywhere.
 */
#pragma once

#include "output/dump/types.h"

#define YARN_ENUM(NAME, name, prose)                                                               \
    const char *yarn_dump_word_of_##name(uint64_t value);                                          \
    bool yarn_dump_is_##name(uint64_t value); /* that this version knows */
#include "output/dump/format.def"

/* By the enumeration's name. */
const char *yarn_dump_word(const char *enumeration, uint64_t value);
