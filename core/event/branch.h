/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Which branches a processor notes beside a sample: the words of branch=, as perf has them, and
 * their bits of perf_event_attr.branch_sample_type. Threads, signals: constant; safe anywhere.
 */
#pragma once

#include "core/base/span.h"

/* The first word of a kind is the one that is shown. */
extern const struct yarn_branch_kind {
    const char *word;
    uint64_t bits;
} yarn_branch_kinds[];
extern const size_t yarn_branch_kind_count; /* of those that are shown */

/* 0: not a kind of branch. - and _ alike. */
uint64_t yarn_branch_bits(struct yarn_span word);
