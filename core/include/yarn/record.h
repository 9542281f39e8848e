/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * One perf record, typed. Views point into the bytes that were decoded.
 */
#ifndef YARN_RECORD_H
#define YARN_RECORD_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <yarn/sample.h>

#ifdef __cplusplus
extern "C" {
#endif

struct yarn_record {
    uint32_t type; /* PERF_RECORD_* */
    uint16_t misc;
    uint64_t fields; /* PERF_SAMPLE_*: which of the next are there */
    uint32_t pid, tid, cpu;
    uint64_t time, id, stream_id;
    /* PERF_RECORD_SAMPLE */
    uint64_t ip, addr, period, weight, data_src, transaction, phys_addr;
    struct yarn_bytes callchain; /* uint64_t each */
    struct yarn_bytes values;    /* of PERF_SAMPLE_READ, as attr.read_format says */
    struct yarn_bytes raw;
    struct yarn_bytes branches; /* struct perf_branch_entry each; unaligned */
    uint64_t branch_hw_index;   /* UINT64_MAX: not known */
    uint64_t registers_abi;
    struct yarn_bytes registers; /* uint64_t each, in the order of attr.sample_regs_user */
    struct yarn_bytes stack;     /* the valid part of the copy */
    /* all others: what follows the header, without the trailing identity */
    struct yarn_bytes body;
};

/* A record as the kernel writes it, header first, of an event with this attr. -EBADMSG: lengths
 * that do not fit, or bytes left over. Pure; any thread, any signal. */
int yarn_record_decode(const struct perf_event_attr *attr, const void *bytes, size_t size,
                       struct yarn_record *ret_record);

#ifdef __cplusplus
}
#endif
#endif
