/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Text for a terminal that goes through the user's pager as soon as it is longer than the screen:
 * $PAGER (empty or "cat": none), else less or more. Until then it is kept, and at the end it is
 * printed as it is.
 *
 * Threads: one; one pager at a time. Signals: while it is open SIGPIPE is ignored, and SIGINT once
 * the pager runs: it is the pager's.
 */
#pragma once

#include <stdio.h>

#include "core/base/base.h"

struct yarn_pager;

/* Whether the user wants one. */
bool yarn_pager_is_wanted(void);

/* `rows` of the screen. What is written to *ret_file comes out on standard output; once the user
 * has left the pager, writing fails. */
YARN_MUST_CHECK int yarn_pager_open(size_t rows, struct yarn_pager **ret_pager, FILE **ret_file);

/* Closes the file, and waits until the user has left the pager. 0, also where that was before the
 * end of the text. */
YARN_MUST_CHECK int yarn_pager_close(struct yarn_pager *pager, FILE *file);
