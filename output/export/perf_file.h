/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The container of perf.data: header, attributes of events with their ids, records, and the
 * sections of features behind them. Knows the layout; does not know profiles.
 * After tools/perf/Documentation/perf.data-file-format.txt and perf_event_open(2).
 *
 * Threads: one owner at a time.
 */
#pragma once

#include <linux/perf_event.h>
#include <stdio.h>

#include "core/base/span.h"

/* Numbers of features: their bit in the header. */
enum yarn_perf_feature {
    YARN_PERF_BUILD_ID = 2,
    YARN_PERF_HOSTNAME = 3,
    YARN_PERF_OSRELEASE = 4,
    YARN_PERF_VERSION = 5,
    YARN_PERF_ARCH = 6,
    YARN_PERF_NRCPUS = 7,
    YARN_PERF_CMDLINE = 11,
    YARN_PERF_EVENT_DESC = 12,
};

enum { YARN_PERF_FEATURES_MAX = 16, YARN_PERF_RECORD_SIZE = 65528 };

struct yarn_perf_section {
    uint64_t offset, size;
};

struct yarn_perf_file {
    FILE *file; /* borrowed; can be gone back in */
    uint64_t at, most_bytes;
    struct yarn_perf_section attrs, data;
    struct yarn_perf_section features[YARN_PERF_FEATURES_MAX]; /* size 0: there is none */
    uint32_t feature;                                          /* that is being written */
    int err;                                                   /* of writing; the first */
    uint8_t *record; /* owned: the record that is being made */
    size_t size;     /* of it so far */
};

/* Leaves room for the header. -ENOMEM. What would go beyond `most_bytes` is the error -EFBIG. */
YARN_MUST_CHECK int yarn_perf_file_init(struct yarn_perf_file *perf, FILE *file,
                                        uint64_t most_bytes);
/* Idempotent; without finish the file is invalid. */
void yarn_perf_file_fini(struct yarn_perf_file *perf);

/* Attributes get one id each: 1 + its number. Then begin the data. */
void yarn_perf_put_attrs(struct yarn_perf_file *perf, const struct perf_event_attr *attrs,
                         size_t count);

/* A record is made of parts, which are cut where it has no room, and padded to 8 bytes. */
void yarn_perf_begin_record(struct yarn_perf_file *perf, uint32_t type, uint16_t misc);
void yarn_perf_add(struct yarn_perf_file *perf, const void *bytes, size_t size);
void yarn_perf_add_u32(struct yarn_perf_file *perf, uint32_t value);
void yarn_perf_add_u64(struct yarn_perf_file *perf, uint64_t value);
/* With at least one NUL, to a multiple of `align`. */
void yarn_perf_add_text(struct yarn_perf_file *perf, struct yarn_span text, size_t align);
void yarn_perf_end_record(struct yarn_perf_file *perf);

/* Ends the data. Then the features, in the order of their numbers, each by `put` below. */
void yarn_perf_end_data(struct yarn_perf_file *perf, const uint32_t *features, size_t count);
void yarn_perf_begin_feature(struct yarn_perf_file *perf, uint32_t feature);
void yarn_perf_put(struct yarn_perf_file *perf, const void *bytes, size_t size);
void yarn_perf_put_u32(struct yarn_perf_file *perf, uint32_t value);
void yarn_perf_put_text(struct yarn_perf_file *perf, struct yarn_span text);
void yarn_perf_end_feature(struct yarn_perf_file *perf);

/* The header and the places of the features. */
YARN_MUST_CHECK int yarn_perf_file_finish(struct yarn_perf_file *perf);
