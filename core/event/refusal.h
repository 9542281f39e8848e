/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What stands behind a refusal of perf_event_open(2), and what would mend it: one sentence for each
 * errno. Threads, signals: constant; safe anywhere.
 */
#pragma once

#include "core/base/base.h"

/* Of a negative errno; a static sentence, never NULL. */
const char *yarn_event_refusal(int err);
