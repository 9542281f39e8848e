/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The stacks of the own process: the copy of a sample becomes return addresses, by what is mapped
 * at that time. Knows registers and modules; does not know events.
 *
 * Threads: one owner at a time of each; several take turns. Signals: not safe.
 */
#pragma once

#include "core/base/base.h"
#include "core/include/yarn/record.h"

struct yarn_own_stacks;

int yarn_own_stacks_new(struct yarn_own_stacks **ret_stacks);
void yarn_own_stacks_free(struct yarn_own_stacks *stacks);

/* Code was mapped: it is looked for before the next walk. */
void yarn_own_stacks_note_mapping(struct yarn_own_stacks *stacks);

/* Where the sample hit and the return addresses, innermost first: how many, at most `max`.
 * -ENODATA: the sample has no registers. */
int yarn_own_stacks_walk(struct yarn_own_stacks *stacks, const struct yarn_record *record,
                         uint64_t *ret_addresses, size_t max);
