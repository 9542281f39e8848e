/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Reads dumps of any released version, without trust. Threads: one owner. Signals: not safe.
 */
#ifndef YARN_DUMP_H
#define YARN_DUMP_H

#include <yarn/sample.h>

#ifdef __cplusplus
extern "C" {
#endif

struct yarn_dump;

enum yarn_item_kind {
    YARN_ITEM_PROCESS = 1,
    YARN_ITEM_EVENT,
    YARN_ITEM_THREAD,
    YARN_ITEM_SAMPLE,
    YARN_ITEM_COUNT,
    YARN_ITEM_LOST,
    YARN_ITEM_MARK,
    YARN_ITEM_END,
};

struct yarn_item {
    enum yarn_item_kind kind;
    uint32_t pid, tid, cpu, event;
    uint64_t time_ns; /* CLOCK_MONOTONIC */
    uint64_t value;   /* weight of a sample, count, number lost */
    const char *name; /* of process, event, thread, mark; valid until the next call */
    size_t nr_frames; /* of a sample */
    const struct yarn_sample *sample; /* all of it; NULL: it is none; valid until the next call */
};

struct yarn_frame {
    const char *function, *module; /* NULL: unknown */
    uint64_t address;              /* linked */
};

/* The recording's own account of what is missing: sums over the processes that were read so far,
 * each as of its last report. Times are ns. */
struct yarn_trust_report {
    size_t size; /* sizeof of this struct, for later versions */
    uint64_t samples, lost, throttled;
    uint64_t stacks_complete, stacks_cut, stacks_no_info, stacks_failed, stacks_absent;
    uint64_t frames_unknown;       /* innermost frames without a name */
    uint64_t cpu_ns, unsampled_ns; /* of the threads; of that what no sample stands for */
    uint64_t switches_lost;
    uint64_t damages; /* as yarn_dump_damages */
};

int yarn_dump_open(const char *path, struct yarn_dump **ret_dump);
/* 1 an item, 0 the end, negative errno (-ENOBUFS: the file asks for more than any recording does).
 * Damage is passed over and counted. */
int yarn_dump_next(struct yarn_dump *dump, struct yarn_item *ret_item);
/* Frame `index` of the last sample, innermost first. */
int yarn_dump_frame(struct yarn_dump *dump, size_t index, struct yarn_frame *ret_frame);
/* Of the last sample: enum yarn_stack_end; -ENOENT: the last item was none. */
int yarn_dump_stack_end(const struct yarn_dump *dump);
/* Fills `size` bytes; 0 stands for this version. -EINVAL. */
int yarn_dump_trust_report(const struct yarn_dump *dump, struct yarn_trust_report *ret_report);
uint64_t yarn_dump_damages(const struct yarn_dump *dump);
void yarn_dump_close(struct yarn_dump *dump);

#ifdef __cplusplus
}
#endif
#endif
