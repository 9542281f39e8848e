/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * An interpreter's own functions between those of its language, where the stacks have these: they
 * become part of the function that they run, or run for. Threads: one owner at a time.
 */
#pragma once

#include "output/analysis/profile/profile.h"

/* A stack whose last frame goes becomes what its caller's is, so that all keep their numbers.
 * -ENOMEM. */
YARN_MUST_CHECK int yarn_glue_fold(struct yarn_profile *profile);

/* What a program's thread spends in yarn's own functions is one function, [yarn]; what these only
 * hand on to the kernel is the caller's. -ENOMEM. */
YARN_MUST_CHECK int yarn_glue_fold_own(struct yarn_profile *profile);
