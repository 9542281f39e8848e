/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The events that have a name of their own on every machine: catalog.def as a table.
 * Knows names and numbers; does not know which of them this machine has.
 *
 * Threads, signals: constant; safe anywhere.
 */
#pragma once

#include "core/base/span.h"
#include "core/event/spec.h"

struct yarn_catalog_entry {
    const char *name;
    const char *alias; /* NULL: none */
    enum yarn_event_kind kind;
    uint32_t type;
    uint64_t config;
    const char *unit;
    bool counts_kernel;        /* happens in the kernel: nothing is left without it */
    bool has_default_period_1; /* each occurrence is a sample where no rate is asked for */
    const char *help;
};

/* NULL behind the last. */
const struct yarn_catalog_entry *yarn_catalog_at(size_t index);

/* By name or alias, - and _ alike; NULL where there is none. */
const struct yarn_catalog_entry *yarn_catalog_find(struct yarn_span name);

/* The spec of an entry with the default exclusion; the texts are the entry's. */
struct yarn_event_spec yarn_catalog_spec(const struct yarn_catalog_entry *entry);
