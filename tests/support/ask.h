/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * One question about the name of an address: unwind/symbol answers many at once.
 * Threads: one owner at a time.
 */
#pragma once

#include "unwind/symbol/symbols.h"

/* The name is valid until the next question. */
struct yarn_symbol ask_symbol(struct yarn_symbols *symbols, const struct yarn_image *image,
                              const char *path, uint64_t vaddr);
