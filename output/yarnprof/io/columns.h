/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Foreign text in columns: escaped, cut with … where it is too wide, filled up with spaces. Widths
 * are in characters. Threads: one.
 */
#pragma once

#include "output/yarnprof/io/out.h"

/* `width` 0: neither cut nor filled. */
void yarn_print_cell(const struct yarn_out *out, const char *text, size_t width);
/* The same, but cut in its middle: of a command line the end is worth as much. */
void yarn_print_cell_with_end(const struct yarn_out *out, const char *text, size_t width);
/* Cut at `width` (0: not), not filled. */
void yarn_print_cut(const struct yarn_out *out, const char *text, size_t width);
size_t yarn_text_columns(const char *text);
/* Bytes of the first characters of a text that is legible. */
size_t yarn_text_bytes(const char *text, size_t columns);
