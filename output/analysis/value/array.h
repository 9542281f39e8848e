/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Growable arrays of the tool: a pointer, a count and a capacity that the owner keeps in fields of
 * its own. Threads: one owner at a time.
 */
#pragma once

#include "core/base/base.h"

/* Room for `need` items of `item_bytes`; the array, perhaps elsewhere, freed by free(). NULL where
 * no memory is to be had: then the array is as it was. */
YARN_MUST_CHECK void *yarn_array_grow(void *items, size_t *capacity, size_t need,
                                      size_t item_bytes);
