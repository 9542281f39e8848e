/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Whether what a record that is no sample has between header and identity is as long as its kind
 * says. Knows the kinds up to Linux 6.18; a later one may have any length.
 *
 * Threads, signals: safe anywhere.
 */
#pragma once

#include <linux/perf_event.h>

#include "core/base/base.h"
#include "lib/words.h"

/* True where a body of that kind can be made of just these bytes. */
YARN_MUST_CHECK bool yarn_record_body_fits(const struct perf_event_attr *attr, uint32_t type,
                                           const uint8_t *bytes, size_t size);

/* Passes over what PERF_SAMPLE_READ and PERF_RECORD_READ have. */
void yarn_record_pass_values(struct yarn_words *words, uint64_t read_format);
