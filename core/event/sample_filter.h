/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The filter='EXPR' of an event that is neither a tracepoint nor a probe, as a BPF program that the
 * kernel runs at each of its samples: those for which it says 0 are dropped, the count goes on.
 * Fields are ip, addr and period, all of 64 bits without a sign; && binds more than ||.
 *
 * Threads, signals: safe anywhere.
 */
#pragma once

#include <linux/bpf.h>

#include "core/base/span.h"

enum { YARN_SAMPLE_FILTER_MAX = 1024 /* instructions */ };

struct yarn_sample_filter {
    struct bpf_insn code[YARN_SAMPLE_FILTER_MAX];
    size_t count;
};

/* -EINVAL: not such an expression (the parser of events says what is wrong); -E2BIG: it is too long
 * or its brackets are too deep. */
YARN_MUST_CHECK int yarn_sample_filter_compile(const char *text,
                                               struct yarn_sample_filter *ret_filter);

/* A descriptor of the program (yarn_perf_set_program), or a negative errno. */
YARN_MUST_CHECK int yarn_sample_filter_load(const char *text);

/* Why it is refused where it could not be compiled, or not be loaded: a static sentence. */
const char *yarn_sample_filter_refusal(int err);
