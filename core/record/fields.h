/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The fields of a perf record, where the attr of its event puts them: the one reading of what
 * perf_event_open(2) documents as bytes, for the records of a session (record.h) and for those of
 * libyarn's callers. Knows every field and kind up to Linux 6.18. Bytes are untrusted.
 *
 * Threads, signals: pure functions over values; safe anywhere.
 */
#pragma once

#include "core/record/walk.h"

/* All that `record->fields` says a sample has, the walk being at the first. `is_bare`: the kernel
 * had no branches, and left out what attr requests beside them. *ret_stack is the valid part of the
 * copy in place, record->stack the same unless it is in two pieces. */
void yarn_record_take_sample(struct yarn_record_walk *walk, const struct perf_event_attr *attr,
                             bool is_bare, struct yarn_record *record,
                             struct yarn_wrapped *ret_stack);

/* The last words of all other records, by `record->fields`: the walk is left with the body. */
void yarn_record_take_identity(struct yarn_record_walk *walk, struct yarn_record *record);

/* The kinds of a later kernel are not known. */
bool yarn_record_body_is_known(uint32_t kernel_type);

/* Whether what is left is a body of that kind: as long as it must be and, `is_exact`, no longer.
 * One that is not known may have any length. */
YARN_MUST_CHECK bool yarn_record_body_fits(struct yarn_record_walk walk, uint32_t kernel_type,
                                           uint64_t read_format, bool is_exact);
