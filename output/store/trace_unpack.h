/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Compressed parts of a trace.dat: sections into memory, the pages of cores into a file without a
 * name. Threads: one owner at a time.
 */
#pragma once

#include "output/store/trace_state.h"

/* *ret_data is the file's. `at`: of `packed` in the file. */
YARN_MUST_CHECK int yarn_trace_unpack_section(struct yarn_trace_file *file, struct yarn_span packed,
                                              uint64_t at, struct yarn_span *ret_data);
/* The pages of each. */
YARN_MUST_CHECK int yarn_trace_unpack_cores(struct yarn_trace_file *file);
