/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Variables that begin with YARN_ and that yarn does not know, as a recording's messages name them,
 * with the one that is meant. Threads: one.
 */
#pragma once

#include "core/base/span.h"
#include "output/analysis/load/load.h"

/* "YARN_FREQENCY is not a variable …" with what is meant. */
void yarn_misspelt_describe(struct yarn_span sentence, struct yarn_text *text);
/* "YARN_FREQENCY is not a variable …", as the options have it, with "; YARN_FREQUENCY?". Complains.
 */
void yarn_misspelt_tell(const char *verb, struct yarn_span sentence);
/* False: the sentence is of something else. */
bool yarn_misspelt_is(struct yarn_span sentence);

/* What the dumps say of it, each name once. */
void yarn_misspelt_report(const char *verb, const struct yarn_profile *profile);
