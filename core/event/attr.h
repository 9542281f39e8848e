/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * From an event spec to the perf_event_attr that requests it, and its fallbacks without features
 * that older kernels lack. Pure functions over values; threads, signals: safe anywhere.
 */
#pragma once

#include <linux/perf_event.h>

#include "core/event/spec.h"

/* Every event asks for these, and none for ID or STREAM_ID: so identifier and time of any record
 * are found without knowing which event wrote it. */
#define YARN_SAMPLE_TYPE_COMMON                                                                    \
    (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)

/* Features that an older kernel may refuse with EINVAL or E2BIG, newest first: the order of giving
 * up. */
enum yarn_attr_feature {
    YARN_ATTR_LOST = 1,           /* 6.0: exact count of lost samples by read(2) */
    YARN_ATTR_INHERIT_THREAD = 2, /* 5.13: threads inherit, forked children do not */
    YARN_ATTR_REMOVE_ON_EXEC = 4, /* 5.13 */
    YARN_ATTR_CLOCK = 8,          /* 4.1: CLOCK_MONOTONIC */
    YARN_ATTR_ALL = 15,
};

/* The name of a feature in the dump's messages; NULL for none. */
const char *yarn_attr_feature_name(enum yarn_attr_feature feature);

/* Takes the newest feature away; the rest. 0 stays 0. */
uint32_t yarn_attr_without_newest(uint32_t features);

struct yarn_attr_options {
    uint32_t features;        /* enum yarn_attr_feature */
    uint64_t sample_type;     /* beyond the common fields: CALLCHAIN, REGS_USER, STACK_USER */
    uint64_t registers_mask;  /* for REGS_USER */
    uint32_t stack_bytes;     /* for STACK_USER */
    bool has_user_chain;      /* CALLCHAIN is of user frames, too; the kernel's are as the spec's */
    bool has_call_branches;   /* the processor's stack of calls, of the user's code */
    bool has_side_band;       /* also mapping, comm and task records: one event a thread and core */
    bool has_switches;        /* also when a thread comes onto a core and leaves it */
    bool is_single;           /* of its thread only: not inherited */
    bool starts_at_exec;      /* enabled by its thread's next exec */
    bool reads_members;       /* leads a group: each sample has what its members counted */
    bool is_read;             /* a member of such a group: takes no samples */
    uint32_t watermark_bytes; /* at which its own ring wakes the poller; 0: none of its own */
};

/* A disabled event on a host thread, inherited unless `is_single`. */
struct perf_event_attr yarn_attr_of(const struct yarn_event_spec *spec,
                                    const struct yarn_attr_options *options);

/* The same, only to be read: it writes no records. */
struct perf_event_attr yarn_attr_of_counter(const struct yarn_event_spec *spec,
                                            const struct yarn_attr_options *options);

/* A core's leader: a dummy whose ring wakes its poller at `watermark_bytes`. */
struct perf_event_attr yarn_attr_of_leader(const struct yarn_attr_options *options,
                                           uint32_t watermark_bytes);

/* Beside a thread's events: a dummy with switch records, or what else is opted for, inherited
 * unless `is_single`. */
struct perf_event_attr yarn_attr_of_switches(const struct yarn_attr_options *options);

/* A thread's watch: a dummy, not inherited, with mapping, comm and task records, of which each
 * wakes the poller of its ring. */
struct perf_event_attr yarn_attr_of_watch(const struct yarn_attr_options *options);

/* The user registers that unwinding needs on this machine, as a mask for REGS_USER. */
uint64_t yarn_attr_unwind_registers(void);

/* Where a BPF program at an event finds the sampled address in its context. */
size_t yarn_attr_bpf_ip_offset(void);

/* The reason why this processor cannot watch so: a static sentence, or NULL. `access`:
 * HW_BREAKPOINT_R, W, X. */
const char *yarn_attr_breakpoint_fault(uint32_t access, uint64_t length_bytes);
