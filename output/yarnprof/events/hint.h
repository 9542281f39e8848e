/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a word is meant to be that is no event: a tracepoint or function without what stands before
 * it, or the form that another profiler has for it. Threads: one.
 */
#pragma once

#include "core/base/span.h"
#include "core/base/text.h"

/* "; FORM?" behind a sentence, where something is known. `at`: of the fault in the list. */
void yarn_event_hint(const char *list, size_t at, struct yarn_text *text);
