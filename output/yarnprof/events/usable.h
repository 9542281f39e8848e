/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Whether this user on this machine can have an event, and if not, why, and what would change it.
 * Opens it for a moment on the tool's own thread. Threads: one.
 */
#pragma once

#include "core/event/spec.h"

struct yarn_usable {
    bool is_usable;
    char why[320]; /* also of a usable one: what is left out; empty: nothing to say */
};

void yarn_usable_ask(const struct yarn_event_spec *spec, struct yarn_usable *ret_usable);

/* Of all tracepoints of a system at once, none of which is opened: the last close of each takes the
 * kernel 40 ms. `err`: 0, or why the kernel's list of them cannot be read. */
void yarn_usable_tracepoints(int err, const char *system, struct yarn_usable *ret_usable);

/* Of probes that are to be defined by a file of tracefs. */
void yarn_usable_probes(const char *path, struct yarn_usable *ret_usable);
