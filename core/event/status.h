/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The status of an event, in words: what became of what was asked for, the same in each view, in
 * libyarn and in `stat`. Threads, signals: pure functions; safe anywhere.
 */
#pragma once

#include "core/base/base.h"
#include "core/base/text.h"
#include "core/include/yarn/event.h"

/* Of a bit that is set, the lowest; "as asked" of none. Static. */
const char *yarn_event_status_word(uint32_t status);

/* All of them: "user's part alone, multiplexed". */
void yarn_event_status_describe(uint32_t status, struct yarn_text *text);

/* Why of the user's part alone. Static. */
const char *yarn_event_status_user_only(void);

/* The cause of a refusal of perf_event_open(2), and what would mend it: one sentence for each
 * errno. */

/* Of a negative errno; a static sentence, never NULL. */
const char *yarn_event_refusal(int err);
