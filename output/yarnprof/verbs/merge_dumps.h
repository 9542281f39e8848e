/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * One dump of many, for the verbs that make one. Threads: one.
 */
#pragma once

#include "output/analysis/load/sources.h"

/* `path` NULL or "-": standard output. An exit status: complains itself, in the verb's name. */
YARN_MUST_CHECK int yarn_merge_dumps(const char *verb, const struct yarn_sources *sources,
                                     const char *path);
