/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The folders where the kernel lists its PMUs and tracepoints, and how their small files are read.
 * The two folders are parameters: tests have trees of their own.
 *
 * Threads, signals: safe anywhere.
 */
#pragma once

#include "core/base/span.h"

/* The configuration that a name stands for on this processor. */
struct yarn_event_encoding {
    uint64_t config, config1, config2;
};

struct yarn_event_machine {
    const char *pmus;    /* "/sys/bus/event_source/devices" */
    const char *tracing; /* "/sys/kernel/tracing" */
    /* Names beyond the kernel's, of events of the cores' PMU; -ENOENT: not one of them. NULL: there
     * are none, as inside of a host. */
    int (*encode)(struct yarn_span words, struct yarn_event_encoding *ret_encoding);
};

extern const struct yarn_event_machine yarn_event_machine_here;

enum { YARN_MACHINE_PATH_MAX = 512, YARN_MACHINE_NAME_MAX = 128 };

/* ROOT/FOLDER/FOLDER…/NAME of up to four parts, of which none may lead elsewhere. -ENOENT where one
 * is no name of a file, or they are too long together. */
YARN_MUST_CHECK int yarn_machine_path(const char *root, const struct yarn_span *parts, size_t count,
                                      char ret_path[YARN_MACHINE_PATH_MAX]);

/* The file's first bytes, without the newline behind the last, as a text; its size. */
YARN_MUST_CHECK int yarn_machine_read(const char *path, char *ret_text, size_t capacity);

/* False: enough. The name is good for the call. */
typedef bool yarn_machine_name_fn(void *self, const char *name);

/* Reports what is in the folder, without what begins with a dot. */
YARN_MUST_CHECK int yarn_machine_list(const char *path, yarn_machine_name_fn *tell, void *self);
