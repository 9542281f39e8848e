/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Samples of runtimes that do not say which function of their language ran: in generated code
 * without names, or in an interpreter. Threads: safe anywhere.
 */
#pragma once

#include "core/base/text.h"
#include "output/analysis/profile/profile.h"

/* Where they are more than a tenth of the samples: one sentence, with the switch that gives names.
 * False: they are fewer. */
bool yarn_unnamed_describe(const struct yarn_profile *profile, struct yarn_text *text);
