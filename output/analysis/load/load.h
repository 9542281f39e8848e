/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Fills a profile from dumps, one after the other. Threads: one owner at a time.
 */
#pragma once

#include "output/analysis/load/load_options.h"
#include "output/analysis/load/sources.h"
#include "output/analysis/profile/profile.h"

/* -EIO and the like: a dump could not be read; *ret_failure names it. Damage is no failure: see
 * `summary` of each dump. */
YARN_MUST_CHECK int yarn_profile_load(struct yarn_profile *profile,
                                      const struct yarn_sources *sources,
                                      const struct yarn_load_options *options,
                                      struct yarn_source_failure *ret_failure);
