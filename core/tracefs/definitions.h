/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Probes as the kernel's tracefs defines them: a line in uprobe_events or kprobe_events makes a
 * tracepoint that any process may open which can read its number. Why not the uprobe PMU: each
 * inherited event of it registers with the kernel anew, which holds up the birth of each thread by
 * 175 ms, and hits are lost when a thread that inherited one ends (Linux 6.18).
 *
 * A definition outlives its maker, so its group bears the maker's pid and pid namespace, and its
 * name the time: who defines probes, and `yarnprof record`, removes those of dead processes, and of
 * those whose number another process has since; one that somebody still has open stays.
 *
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "core/base/text.h"

enum { YARN_TRACEFS_NAME_MAX = 64, YARN_TRACEFS_PROBES_MAX = 32 };

#define YARN_TRACEFS "/sys/kernel/tracing"

struct yarn_tracefs_site {
    const char *path;   /* of the file; NULL: a function of the kernel */
    const char *symbol; /* of the kernel's; NULL where there is a path */
    uint64_t offset;    /* in the file, or behind the symbol */
    bool is_return;     /* hit when the function returns */
};

struct yarn_tracefs_group {
    const char *root; /* where tracefs is mounted; borrowed */
    char name[YARN_TRACEFS_NAME_MAX];
    uint64_t made_ns; /* on CLOCK_MONOTONIC, the first: part of the names */
    unsigned nr_made;
    bool is_of_kernel[YARN_TRACEFS_PROBES_MAX];
};

/* The calling process's, empty. Nothing is asked of the kernel but the namespace. */
void yarn_tracefs_group_open(struct yarn_tracefs_group *group, const char *root);

/* Adds one: *ret_number becomes the config of a tracepoint event, ret_name the event's name in
 * group->name. -EACCES: the user may not; -ENOENT: no file, no such function, or no tracefs;
 * -ENOSYS: the kernel has no such probes; -EINVAL: the kernel takes no probe there; -ENOSPC. */
YARN_MUST_CHECK int yarn_tracefs_define(struct yarn_tracefs_group *group,
                                        const struct yarn_tracefs_site *site,
                                        char ret_name[YARN_TRACEFS_NAME_MAX], uint64_t *ret_number);

/* The line that defines it, without a newline: for somebody who may. */
void yarn_tracefs_describe(const struct yarn_tracefs_group *group,
                           const struct yarn_tracefs_site *site, const char *name,
                           struct yarn_text *text);

/* Removes those that nobody has open. Idempotent. */
void yarn_tracefs_group_close(struct yarn_tracefs_group *group);

/* Removes those of processes of this pid namespace that are dead, and of the calling one, as far as
 * nobody has them open; the number of the removed. */
unsigned yarn_tracefs_sweep(const char *root);

/* A uprobe's arguments and return value as fields: " arg1=%di:u64 …", by the architecture. */
const char *yarn_tracefs_argument_fields(void);
const char *yarn_tracefs_return_field(void);
