/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Everything that can be written in a list of events on this machine, as rows. Threads: one.
 */
#pragma once

#include "core/base/arena.h"
#include "output/yarnprof/events/usable.h"

struct yarn_catalogue_row {
    const char *name;
    const char *kind; /* as yarn_catalogue_kinds */
    const char *help; /* NULL: none */
    bool is_usable;
    const char *why; /* empty: nothing to say */
};

struct yarn_catalogue {
    struct yarn_arena arena;         /* of the texts */
    struct yarn_catalogue_row *rows; /* owned */
    size_t count, room;
    bool has_no_memory;
};

extern const char *const yarn_catalogue_kinds[YARN_EVENT_KIND_COUNT];

/* -ENOMEM with nothing to be freed. */
YARN_MUST_CHECK int yarn_catalogue_make(struct yarn_catalogue *ret_catalogue);
void yarn_catalogue_fini(struct yarn_catalogue *catalogue);
