/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A perf record of a session, made typed. The events of a session may have attrs of their own in
 * one ring: the identifier, which stands first in a sample and last in every other record, says
 * whose it is. Fields are where the attr of the event puts them: the one reading of what
 * perf_event_open(2) documents as bytes, also for yarn_record_decode of libyarn. Knows every field
 * and kind up to Linux 6.18; does not know rings' order (merge) or what becomes of a record
 * (listener). Bytes are untrusted.
 *
 * Threads, signals: pure functions over values; safe anywhere.
 */
#pragma once

#include "core/base/table.h"
#include "core/event/attr.h"
#include "core/include/yarn/record.h"
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
    /* As libyarn shows it; of what was found in /proc, without fields. A sample's stack is empty
     * where it is in two pieces. */
    struct yarn_record perf;
    enum yarn_record_type type;
    uint32_t event; /* number of the event that a sample, loss or throttling is of */
    const struct perf_event_attr *attr; /* of a sample's; borrowed from the decoder; NULL else */
    struct yarn_wrapped stack;          /* the valid part of a sample's copy, in place */
    union {
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
    };
    struct yarn_record_mmap *mmap; /* borrowed from the decoder; for YARN_RECORD_MMAP */
};

enum { YARN_RECORD_BYTES_MAX = 1 << 16 };

struct yarn_record_decoder {
    const struct perf_event_attr *attrs; /* borrowed; by number of the event, as it was opened */
    const struct yarn_table *numbers;    /* borrowed: id of an event -> its number */
    uint8_t *room;                       /* borrowed, YARN_RECORD_BYTES_MAX: for split parts */
    struct yarn_record_mmap mmap;        /* room for the latest one: too large for a stack */
};

/* The period of each sample of an event whose samples do not say theirs; 0: they do. */
static inline uint64_t yarn_record_fixed_period(const struct perf_event_attr *attr)
{
    return attr->freq ? 0 : attr->sample_period;
}

/* The time of a record without decoding the rest; 0 where it is too short to have one. */
uint64_t yarn_record_time(const struct perf_event_header *header, const struct yarn_wrapped *bytes);

/* -EBADMSG: shorter than its type, lengths inside that do not fit, or a sample of an unknown event.
 * What *ret_record shows lies in `bytes` or in the decoder's room. */
YARN_MUST_CHECK int yarn_record_decoder_decode(struct yarn_record_decoder *decoder,
                                               const struct perf_event_header *header,
                                               const struct yarn_wrapped *bytes,
                                               struct yarn_typed_record *ret_record);

/* True where a sample has registers of this machine: a 32-bit task's are not ours to interpret. */
static inline bool yarn_record_has_registers(const struct yarn_record *record)
{
    return record->registers_abi == PERF_SAMPLE_REGS_ABI_64;
}

/* Register number `bit` of the event's mask; false where the mask or the sample lacks it. */
bool yarn_record_register(const struct yarn_record *record, uint64_t mask, unsigned bit,
                          uint64_t *ret_value);

/* Entry number `at` of a sample's callchain, from 0; false beyond the last. */
bool yarn_record_caller(const struct yarn_record *record, size_t at, uint64_t *ret_ip);

/* Branch number `at` of a sample, from 0, the latest first; false beyond the last. */
bool yarn_record_branch(const struct yarn_record *record, size_t at,
                        struct perf_branch_entry *ret_branch);

/* Counter number `at` of a sample with PERF_SAMPLE_READ; false beyond the last. */
bool yarn_record_counter(const struct yarn_record *record, uint64_t read_format, uint64_t at,
                         struct yarn_record_counter *ret_counter);

/* The listener gets the records, on the reader thread, in time order; what a record borrows is
 * valid for the length of the call. */

struct yarn_record_listener {
    void *self;
    void (*record)(void *self, const struct yarn_typed_record *record);
    /* A record of `size` bytes that could not be decoded, or what was left of a broken ring. */
    void (*malformed)(void *self, uint32_t kernel_type, size_t size);
};
