/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A perf record made typed: what perf_event_open(2) documents as bytes, as a struct. All events of
 * a session share the common fields below, so the time and the event of any record are found
 * without knowing which event wrote it. Knows the layouts; does not know rings' order (merge) or
 * what becomes of a record (listener). Bytes are untrusted.
 *
 * Threads, signals: pure functions over values; safe anywhere.
 */
#pragma once

#include <linux/perf_event.h>

#include "core/record/ring.h"

/* Every event asks for at least these, so that side-band records end in (pid, tid, time, cpu, id)
 * and samples begin with (id, ip, pid, tid, time). */
#define YARN_SAMPLE_TYPE_COMMON                                                                    \
    (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |                \
     PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)

enum yarn_record_type {
    YARN_RECORD_SAMPLE,
    YARN_RECORD_MMAP,
    YARN_RECORD_COMM,
    YARN_RECORD_FORK,
    YARN_RECORD_EXIT,
    YARN_RECORD_LOST,
    YARN_RECORD_THROTTLE,
    YARN_RECORD_SWITCH,
    YARN_RECORD_UNKNOWN, /* a type of a later kernel, or one that nobody here asked for */
    YARN_RECORD_TYPE_COUNT,
};

struct yarn_record_sample {
    uint64_t ip;
    uint64_t period;
    struct yarn_wrapped callchain; /* u64 entries, as the kernel has them */
    bool has_registers;
    struct yarn_wrapped registers; /* u64 each, in the order of the mask's bits */
    struct yarn_wrapped stack;     /* the valid part of the copy */
};

struct yarn_record_mmap {
    uint32_t pid, tid;
    uint64_t start, size, file_offset;
    uint64_t device, inode;
    uint32_t protection;
    char path[4096]; /* terminated; cut where it was longer */
};

struct yarn_record {
    enum yarn_record_type type;
    uint32_t kernel_type; /* PERF_RECORD_* */
    uint16_t misc;
    uint32_t pid, tid;
    uint64_t time_ns;
    uint32_t cpu;
    uint64_t id; /* of the event, as PERF_EVENT_IOC_ID tells it */
    union {
        struct yarn_record_sample sample;
        struct {
            uint32_t pid, tid;
            char name[16];
        } comm;
        struct {
            uint32_t pid, parent_pid, tid, parent_tid;
        } task; /* fork and exit */
        struct {
            uint64_t id, count; /* id 0: the record names no event */
        } lost;
        struct {
            uint64_t id;
            bool is_on;
        } throttle;
        struct {
            bool is_out, is_preempted;
        } switched;
    };
    struct yarn_record_mmap *mmap; /* borrowed from the decoder; for YARN_RECORD_MMAP */
};

/* How samples are laid out beyond the common fields. */
struct yarn_record_layout {
    uint64_t sample_type;
    uint64_t registers_mask; /* sample_regs_user */
};

struct yarn_record_decoder {
    struct yarn_record_layout layout;
    struct yarn_record_mmap mmap; /* room for the latest one: too large for a stack */
};

/* The time of a record without decoding the rest; 0 where it is too short to have one. */
uint64_t yarn_record_time(const struct perf_event_header *header, const struct yarn_wrapped *bytes);

/* -EBADMSG: shorter than its type, or lengths inside that do not fit. Spans in *ret_record lie in
 * `bytes`. */
YARN_MUST_CHECK int yarn_record_decode(struct yarn_record_decoder *decoder,
                                       const struct perf_event_header *header,
                                       const struct yarn_wrapped *bytes,
                                       struct yarn_record *ret_record);

/* Register number `bit` of the mask; false where the mask or the sample lacks it. */
bool yarn_record_register(const struct yarn_record_sample *sample, uint64_t registers_mask,
                          unsigned bit, uint64_t *ret_value);
