/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A sample: what stays of the kernel's record once its stack is unwound, what a dump holds of it,
 * and what each reader of dumps gives.
 */
#ifndef YARN_SAMPLE_H
#define YARN_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

struct yarn_bytes {
    const uint8_t *data;
    size_t size;
};

/* How a stack ended: all but the first say that outer frames are missing. Others: FAILED. */
enum yarn_stack_end {
    YARN_STACK_END_COMPLETE = 0, /* at the thread's start */
    YARN_STACK_END_CUT = 2,      /* the copy ended before it */
    YARN_STACK_END_NO_INFO = 3,  /* at a frame without unwind information */
    YARN_STACK_END_FAILED = 4,   /* at a caller that cannot be */
    YARN_STACK_END_ABSENT = 5,   /* no stack was recorded */
};

/* Bits; a reader passes over those that it does not know. */
enum yarn_sample_flag {
    YARN_SAMPLE_ALTERNATE = 1, /* taken by the second clock of its event */
};

struct yarn_sample {
    uint64_t time_ns; /* CLOCK_MONOTONIC */
    uint64_t weight;  /* in the event's unit */
    uint32_t event;   /* its index in the list of events */
    uint32_t tid;     /* 0: of no thread of the process */
    uint32_t cpu;
    uint32_t stack;        /* its number; UINT32_MAX: none */
    uint32_t stack_end;    /* enum yarn_stack_end */
    uint32_t flags;        /* enum yarn_sample_flag */
    uint64_t address;      /* of the memory that it is about; 0: none */
    uint64_t latency;      /* of that access, as the processor has it; 0: none */
    uint64_t data_source;  /* union perf_mem_data_src of it; 0: none */
    struct yarn_bytes raw; /* a tracepoint's fields, as the kernel gave them */
};

#endif
