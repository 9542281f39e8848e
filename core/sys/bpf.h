/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * bpf(2), by raw call: a program that the kernel runs at each sample of an event
 * (yarn_perf_set_program). Does not know what it decides. Threads, signals: safe anywhere.
 */
#pragma once

#include <linux/bpf.h>

#include "core/base/base.h"

/* A close-on-exec descriptor or a negative errno. -EPERM: CAP_BPF and CAP_PERFMON are needed. */
YARN_MUST_CHECK int yarn_bpf_load(const struct bpf_insn *code, size_t count);
