/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A perf record made typed: what perf_event_open(2) documents as bytes, as a struct. The events of
 * a session may have layouts of their own in one ring: the identifier, which stands first in a
 * sample and last in every other record, says whose it is. Knows the layouts; does not know rings'
 * order (merge) or what becomes of a record (listener). Bytes are untrusted.
 *
 * Threads, signals: pure functions over values; safe anywhere.
 */
#pragma once

#include "core/base/table.h"
#include "core/event/attr.h"
#include "core/record/ring.h"

#define YARN_RECORD_NO_EVENT YARN_TABLE_NONE

enum yarn_record_type {
    YARN_RECORD_SAMPLE,
    YARN_RECORD_MMAP,
    YARN_RECORD_COMM,
    YARN_RECORD_FORK,
    YARN_RECORD_EXIT,
    YARN_RECORD_LOST,
    YARN_RECORD_THROTTLE,
    YARN_RECORD_SWITCH,
    YARN_RECORD_OTHER,   /* a known kind that is not decoded: its body */
    YARN_RECORD_UNKNOWN, /* a kind of a later kernel: its body */
    YARN_RECORD_TYPE_COUNT,
};

/* How an event lays out its samples: YARN_SAMPLE_TYPE_COMMON and what it wants beyond. */
struct yarn_record_layout {
    uint64_t sample_type;
    uint64_t read_format;
    uint64_t registers_mask; /* sample_regs_user */
    uint64_t period;         /* of each sample, where the layout has none */
    bool has_calls;          /* the branches are the calls that have not returned */
};

/* Of an event that is opened so. */
struct yarn_record_layout yarn_record_layout_of(const struct perf_event_attr *attr);

/* What the layout lacks is 0 or empty. */
struct yarn_record_sample {
    const struct yarn_record_layout *layout; /* borrowed from the decoder */
    uint64_t ip;
    uint64_t period;
    uint64_t address;
    uint64_t latency, data_source; /* of the access: PERF_SAMPLE_WEIGHT, PERF_SAMPLE_DATA_SRC */
    struct yarn_wrapped counters;  /* as yarn_record_counter reads them */
    struct yarn_wrapped callchain; /* u64 entries, as the kernel has them */
    struct yarn_wrapped raw;
    struct yarn_wrapped branches;  /* struct perf_branch_entry each, the latest first */
    struct yarn_wrapped registers; /* u64 each, in the order of the mask's bits */
    struct yarn_wrapped stack;     /* the valid part of the copy */
    uint64_t nr_counters, time_enabled_ns, time_running_ns;
    bool has_registers;
};

/* The value of an event, or of each event of a group. */
struct yarn_record_counter {
    uint64_t value, id, lost; /* 0: the read format lacks it */
};

struct yarn_record_mmap {
    uint32_t pid, tid;
    uint64_t start, size, file_offset;
    uint64_t device, inode;
    uint32_t protection;
    char path[4096]; /* terminated; cut where it was longer */
};

struct yarn_typed_record {
    enum yarn_record_type type;
    uint32_t kernel_type; /* PERF_RECORD_* */
    uint16_t misc;
    uint32_t event; /* number of the event that a sample, loss or throttling is of */
    uint32_t pid, tid;
    uint64_t time_ns;
    uint32_t cpu;
    uint64_t id; /* of the event that wrote it, as PERF_EVENT_IOC_ID has it */
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
            uint64_t count;
        } lost;
        struct {
            bool is_on;
        } throttle;
        struct {
            bool is_out, is_preempted;
            uint32_t other_pid, other_tid; /* which comes or went; 0: not known */
        } switched;
        struct yarn_wrapped body; /* between header and trailer */
    };
    struct yarn_record_mmap *mmap; /* borrowed from the decoder; for YARN_RECORD_MMAP */
    /* As the kernel wrote it, in its ring; NULL: made here, out of what was found in /proc. */
    const struct perf_event_header *header;
    const struct yarn_wrapped *bytes;
};

struct yarn_record_decoder {
    const struct yarn_record_layout *layouts; /* borrowed; by number of the event */
    const struct yarn_table *numbers;         /* borrowed: id of an event -> its number */
    struct yarn_record_mmap mmap;             /* room for the latest one: too large for a stack */
};

/* The time of a record without decoding the rest; 0 where it is too short to have one. */
uint64_t yarn_record_time(const struct perf_event_header *header, const struct yarn_wrapped *bytes);

/* -EBADMSG: shorter than its type, lengths inside that do not fit, or a sample of an unknown event.
 * Spans in *ret_record lie in `bytes`. */
YARN_MUST_CHECK int yarn_record_decoder_decode(struct yarn_record_decoder *decoder,
                                               const struct perf_event_header *header,
                                               const struct yarn_wrapped *bytes,
                                               struct yarn_typed_record *ret_record);

/* Register number `bit` of the mask; false where the mask or the sample lacks it. */
bool yarn_record_register(const struct yarn_record_sample *sample, unsigned bit,
                          uint64_t *ret_value);

/* Branch number `at` of a sample, from 0; false beyond the last. */
bool yarn_record_branch(const struct yarn_record_sample *sample, size_t at,
                        struct perf_branch_entry *ret_branch);

/* Counter number `at` of a sample's nr_counters; false beyond them. */
bool yarn_record_counter(const struct yarn_record_sample *sample, uint64_t at,
                         struct yarn_record_counter *ret_counter);
