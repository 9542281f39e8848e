/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The stacks of the own process, for samples that have a copy of one. Knows
 * mappings and the unwinder; does not know sessions. Threads: one owner at a time. Signals:
 * not safe.
 */
#pragma once

#include "core/base/base.h"
#include "core/include/yarn/record.h"

struct yarn_session_unwinder;

YARN_MUST_CHECK int yarn_session_unwinder_new(struct yarn_session_unwinder **ret_unwinder);

/* Code was mapped: it is looked for before the next walk. */
void yarn_session_unwinder_note_mapping(struct yarn_session_unwinder *unwinder);

/* Where the sample hit and the return addresses, innermost first: how many, at most `max`.
 * -ENODATA: the sample has no registers. */
YARN_MUST_CHECK int yarn_session_unwinder_walk(struct yarn_session_unwinder *unwinder,
                                               const struct yarn_record *record,
                                               uint64_t *ret_addresses, size_t max);

/* Takes NULL. */
void yarn_session_unwinder_free(struct yarn_session_unwinder *unwinder);
