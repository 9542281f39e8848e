/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A function of which two clocks that took turns saw shares so different that the process must be
 * in phase with one of them (output/analysis/time/phase.h). Threads: safe anywhere.
 */
#pragma once

#include "core/base/base.h"

struct yarn_profile_phase {
    uint32_t dump, event, function;
    double shares[2]; /* by the clock and by its alternate */
    double chance;    /* that they differ so much by chance */
};

struct yarn_profile;

/* "work of pid 7 has 10.0 % of cpu-clock by one of two periods that took turns and 40.0 % by the
 * other". Owned by the caller; NULL: no memory. */
YARN_MUST_CHECK char *yarn_profile_phase_text(const struct yarn_profile *profile,
                                              const struct yarn_profile_phase *phase);
