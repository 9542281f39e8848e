/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Where probes go: the symbols of event specs become offsets in files, and the probes tracepoints
 * that the kernel has by number. Files are read, never executed or mapped.
 *
 * What cannot be put anywhere is a refusal in its spec, with a sentence; the others go on.
 *
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "core/base/arena.h"
#include "core/event/parse.h"
#include "core/tracefs/definitions.h"

struct yarn_probe_sites {
    struct yarn_tracefs_group group; /* what was defined; all zeros: nothing */
    bool is_open;
};

/* Probes by a module's name go by what is mapped in the calling process; with `is_of_this` false
 * they are left alone, for the process that they are meant for. A pattern's specs take its place in
 * the list, as far as there is room. Texts are of the arena. `root`: where tracefs is mounted. */
void yarn_probe_sites_open(struct yarn_probe_sites *sites, struct yarn_event_list *list,
                           struct yarn_arena *arena, const char *root, bool is_of_this);

/* In a child after fork: the probes are the parent's, who removes them. */
static inline void yarn_probe_sites_inherit(struct yarn_probe_sites *sites)
{
    sites->group.nr_made = 0;
}

/* Removes the probes, as far as nobody has them open, and those that dead processes have left.
 * Idempotent. */
void yarn_probe_sites_close(struct yarn_probe_sites *sites);
