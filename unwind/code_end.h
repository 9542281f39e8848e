/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Where a function whose size nobody says has ended, by its instructions: behind one that does not
 * go on, if no branch before it leads past it; a call leads elsewhere, even if it is to code behind
 * the end. Does not know symbols or tables.
 *
 * Threads: as image.h. Signals: not safe.
 */
#pragma once

#include "unwind/image.h"

/* The end of the function that begins at `start`, at most `limit`: also where the code does not
 * show it, as behind a jump through a table. A branch to `limit` or beyond leaves the function. */
uint64_t yarn_code_end(const struct yarn_image *image, uint64_t start, uint64_t limit);
