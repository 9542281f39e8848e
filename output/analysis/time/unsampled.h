/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Why CPU time has no sample, as far as a dump says it: the parts never exceed that time.
 * Threads: one owner at a time.
 */
#pragma once

#include "output/analysis/profile/profile.h"

enum yarn_unsampled_reason {
    YARN_UNSAMPLED_LOST,      /* samples that were lost */
    YARN_UNSAMPLED_CHILDREN,  /* children that were gone before they were recorded */
    YARN_UNSAMPLED_BEFORE,    /* before the recording began: loading, and a start that waits */
    YARN_UNSAMPLED_SWITCHING, /* context switches, where no event runs */
    YARN_UNSAMPLED_BLOCKED,   /* the sampler's signal was blocked or held back */
    YARN_UNSAMPLED_SHORT,     /* threads that ended within a period */
    YARN_UNSAMPLED_SILENT,    /* threads with many periods of CPU time and no sample */
    YARN_UNSAMPLED_REST,      /* less than a period of each thread on each core */
    YARN_UNSAMPLED_UNKNOWN,
    YARN_UNSAMPLED_COUNT,
};

struct yarn_unsampled {
    uint64_t ns[YARN_UNSAMPLED_COUNT];
};

/* The profile has threads, and samples of all of its time. */
struct yarn_unsampled yarn_unsampled_of(const struct yarn_profile *profile, uint32_t dump);
struct yarn_unsampled yarn_unsampled_of_all(const struct yarn_profile *profile);

/* A few words; and the key of JSON. */
const char *yarn_unsampled_word(enum yarn_unsampled_reason reason);
const char *yarn_unsampled_key(enum yarn_unsampled_reason reason);
