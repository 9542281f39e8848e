/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Whether a view shows inlined functions as frames, and the source lines that it takes (as
 * --inlines and --no-inlines have it), and what is reported of modules whose lines stay unknown.
 * Threads: one.
 */
#pragma once

#include "output/analysis/load/load.h"

/* Zero: the view's own choice. */
enum yarn_inlines { YARN_INLINES_AUTO, YARN_INLINES_ON, YARN_INLINES_OFF };

/* Puts lines into the options, if they are wanted: for the view's lines, or for inlined functions,
 * which are on where the user says so or, left alone, where the view does. */
YARN_MUST_CHECK int yarn_inlines_open(enum yarn_inlines inlines, bool view_has_lines,
                                      bool view_has_inlines, struct yarn_load_options *options);

/* After loading. Complains of modules that are not the recorded ones any more, frees the lines. */
void yarn_inlines_close(const char *verb, struct yarn_load_options *options);
