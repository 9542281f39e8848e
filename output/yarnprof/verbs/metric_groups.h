/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The files of metric groups: in a folder of the user's, beside the tool, and where they are
 * installed. Threads: one.
 */
#pragma once

#include "output/metrics/metric_file.h"

enum { YARN_METRIC_PATH_MAX = 4096 + 512 };

/* The group called so, of `size` bytes; `folder`: searched first; NULL: none. An exit status where
 * there is none or it has a fault, of which `verb` complains; -1: all is well. */
YARN_MUST_CHECK int yarn_metric_group_load(const char *verb, const char *group, size_t size,
                                           const char *folder, struct yarn_arena *arena,
                                           struct yarn_metric_file *ret_file,
                                           char ret_path[YARN_METRIC_PATH_MAX]);

/* Their names, a line each, on standard output; an exit status. */
YARN_MUST_CHECK int yarn_metric_groups_list(const char *verb, const char *folder);
