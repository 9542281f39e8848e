/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Sorting without malloc (libc's qsort may allocate): numbers in place, in ascending order, in
 * O(n log n) whatever the input, with a bounded and small stack. Who sorts records packs key and
 * number of each into one word. Threads, signals: safe anywhere.
 */
#pragma once

#include "core/base/base.h"

void yarn_sort_u64(uint64_t *values, size_t count);
