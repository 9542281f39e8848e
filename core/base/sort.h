/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Sorting without malloc (libc's qsort may allocate): numbers in place, in ascending order, many of
 * them by their digits and few by comparing, in O(n log n) whatever the input, with at most 20 KiB
 * of stack. Who sorts records packs key and number of each into one word. Threads, signals: safe
 * anywhere.
 */
#pragma once

#include "core/base/base.h"

void yarn_sort_u64(uint64_t *values, size_t count);
