/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The events of a list with their places in this process: breakpoints with the addresses of their
 * symbols, probes as tracepoints that are defined for as long as it is open. Knows what is to be
 * found in files; does not know what is opened of it.
 *
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "core/event/parse.h"
#include "unwind/site/probe_sites.h"

struct yarn_placed {
    struct yarn_event_list list; /* a spec's `item` is its index in the list that was asked for */
    struct yarn_probe_sites sites;
};

/* What has no place is a refusal in its spec. A probe's pattern becomes a spec for each function
 * that has such a name. Texts are of the arena. */
void yarn_placed_open(struct yarn_placed *placed, const struct yarn_event_spec *specs, size_t count,
                      struct yarn_arena *arena);

/* The definitions are gone once their events are closed; those of a parent stay. Idempotent. */
void yarn_placed_close(struct yarn_placed *placed, bool is_of_parent);
