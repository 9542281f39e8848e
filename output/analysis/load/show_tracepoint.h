/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The fields of a tracepoint's sample as one text: NAME=VALUE of each, and those of the scheduler
 * as their own format file prints them. Both are untrusted. Threads: pure functions; safe anywhere.
 */
#pragma once

#include "output/store/trace_fields.h"

void yarn_show_tracepoint(const struct yarn_trace_fields *fields, struct yarn_span raw,
                          struct yarn_text *text);
