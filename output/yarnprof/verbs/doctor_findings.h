/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What yarnprof doctor finds: a line each, with how well it is and the setting that mends it.
 * Threads: one.
 */
#pragma once

#include "core/base/base.h"
#include "output/yarnprof/io/out.h"

enum yarn_finding_state { YARN_FINDING_GOOD, YARN_FINDING_LIMIT, YARN_FINDING_BAD };

enum { YARN_FINDINGS_MAX = 64, YARN_FINDING_BYTES = 1536 };

struct yarn_finding {
    enum yarn_finding_state state;
    const char *subject;           /* static; a word or two */
    char what[YARN_FINDING_BYTES]; /* a clause */
    char mend[YARN_FINDING_BYTES]; /* the setting that mends it; empty: none, or nothing to mend */
};

struct yarn_findings {
    struct yarn_finding list[YARN_FINDINGS_MAX];
    size_t count;
};

/* The clause, as printf. Its mend is "". */
struct yarn_finding *yarn_findings_add(struct yarn_findings *findings,
                                       enum yarn_finding_state state, const char *subject,
                                       const char *format, ...) YARN_PRINTF(4, 5);
/* What mends the last one. */
void yarn_findings_mend(struct yarn_findings *findings, const char *format, ...) YARN_PRINTF(2, 3);

enum yarn_finding_state yarn_findings_worst(const struct yarn_findings *findings);

/* -ENOMEM. */
YARN_MUST_CHECK int yarn_findings_print(const struct yarn_findings *findings,
                                        const struct yarn_out *out);
