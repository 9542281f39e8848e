/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Which recording there was of this same process before an exec. The old image passes nothing on (a
 * variable, descriptor or file would also reach images that are not profiled), so it looks for
 * a dump that the output pattern could have named for this process, and whose first chunk, which
 * bears the time of its recording's start, falls between the process's start and now.
 *
 * A pattern without %p, or with %t, cannot be searched so: then it stays unknown.
 * Reader thread only.
 */
#pragma once

#include "preload/dump/dump_file.h"

/* Fills lineage->predecessor where there was one. `birth_ns` is the process's, on the clock of
 * start_ns; 0 where unknown. */
void yarn_predecessor_find(const struct yarn_dump_file *file, const struct yarn_facts *facts,
                           uint64_t birth_ns, struct yarn_lineage *lineage);
