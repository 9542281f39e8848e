/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Reads dumps of any released version, without trust. Threads: one owner. Signals: not safe.
 */
#ifndef YARN_DUMP_H
#define YARN_DUMP_H

#include <stddef.h>
#include <stdint.h>

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
};

struct yarn_frame {
    const char *function, *module; /* NULL: unknown */
    uint64_t address;              /* linked */
};

int yarn_dump_open(const char *path, struct yarn_dump **ret_dump);
/* 1 an item, 0 the end, negative errno (-ENOBUFS: the file asks for more than any recording does).
 * Damage is passed over and counted. */
int yarn_dump_next(struct yarn_dump *dump, struct yarn_item *ret_item);
/* Frame `index` of the last sample, innermost first. */
int yarn_dump_frame(struct yarn_dump *dump, size_t index, struct yarn_frame *ret_frame);
uint64_t yarn_dump_damages(const struct yarn_dump *dump);
void yarn_dump_close(struct yarn_dump *dump);

#ifdef __cplusplus
}
#endif
#endif
