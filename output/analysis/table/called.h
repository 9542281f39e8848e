/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Which functions a user means by a word: those of that name, with or without their parameters, or,
 * where there is none, those whose name matches it as an extended regular expression.
 * Threads: any number of readers.
 */
#pragma once

#include "output/analysis/profile/profile.h"

/* One byte per function, 1 where it matches; only `functions` (as many bytes, NULL: all) are tried.
 * Owned by the caller; NULL: no memory. */
YARN_MUST_CHECK uint8_t *yarn_functions_called(const struct yarn_profile *profile,
                                               const char *wanted, const uint8_t *functions);
