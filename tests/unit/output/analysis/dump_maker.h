/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Dumps for tests, made through the writer: a process, an event, stacks by the names of their
 * functions, samples. Fails the test (or the program) by abort() where the writer fails.
 */
#pragma once

#include "output/dump/writer.h"

enum { MAKER_FUNCTIONS_MAX = 4096, MAKER_MODULES_MAX = 8 };

/* Where the next process runs, and what its clocks show at its start; builds of its libx. */
struct dump_maker_place {
    const char *host, *boot_id;
    uint64_t start_ns, start_realtime_ns;
    uint8_t library_build; /* 0: none is known */
};

struct dump_maker {
    struct yarn_dump_writer *writer;
    char path[256];
    uint64_t now_ns;
    uint64_t samples, weight;
    uint64_t ends[YARN_DUMP_STACK_END_COUNT];
    uint64_t lost, lost_of_faults; /* of event 0, and of event 1 */
    uint64_t unsampled_ns, kernel_ns;
    uint64_t children_ns, before_ns, switching_ns, blocked_ns, rest_ns; /* of what is unsampled */
    uint64_t too_much_ns; /* by which unsampled time exceeds what there was */
    uint64_t off_cpu_ns;
    /* Frames by "module!function", found by name. */
    char *names[MAKER_FUNCTIONS_MAX];
    uint32_t frames[MAKER_FUNCTIONS_MAX];
    size_t nr_frames;
};

#define MAKER_START_NS (1000 * YARN_NS_PER_SECOND)
#define MAKER_PERIOD_NS UINT64_C(1000000)

/* A process "/usr/bin/NAME" with one event cpu-clock of 1 ms and a first thread; modules 0
 * "/usr/bin/NAME" and 1 "/lib/libx.so.1". Stacks begin at MAKER_START_NS. */
void dump_maker_open(struct dump_maker *maker, const char *path, const char *name, uint32_t pid);

/* As dump_maker_open. */
void dump_maker_open_at(struct dump_maker *maker, const char *path, const char *name, uint32_t pid,
                        const struct dump_maker_place *place);

/* Event numbers count from 1: 0 is cpu-clock. */
void dump_maker_add_event(struct dump_maker *maker, uint32_t number, const char *name,
                          uint32_t error);
void dump_maker_add_thread(struct dump_maker *maker, uint32_t tid, const char *comm);

/* "main;work;leaf", outermost first. A word may be "lib!name" (module 1), "+1a0" (no name,
 * function starts at 0x1a0) or "?" (nothing is known). */
uint32_t dump_maker_stack(struct dump_maker *maker, const char *words);

/* `count` samples of one period each, 1 ms apart. */
void dump_maker_sample(struct dump_maker *maker, uint32_t tid, uint32_t stack, uint32_t end,
                       uint64_t count);
/* One of any event and weight, now. */
void dump_maker_sample_of(struct dump_maker *maker, uint32_t event, uint32_t tid, uint32_t cpu,
                          uint32_t stack, uint64_t weight);

/* Nothing is recorded for so long, of which half is CPU time. */
void dump_maker_stop(struct dump_maker *maker, uint64_t stopped_ns);

/* Of what there is so far. */
void dump_maker_totals(struct dump_maker *maker);

/* With totals and an end record; `is_cut`: without both. */
void dump_maker_close(struct dump_maker *maker, bool is_cut);
