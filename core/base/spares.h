/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Things that were used and are ready to be used again, a few of them. Does not know what they are
 * or how they are freed. Threads: one owner at a time.
 */
#pragma once

#include "core/base/base.h"

enum { YARN_SPARES_MAX = 8 };

struct yarn_spares {
    size_t count;
    void *things[YARN_SPARES_MAX]; /* owned */
};

/* NULL: there is none. NULL is allowed. */
static inline void *yarn_spares_take(struct yarn_spares *spares)
{
    return spares && spares->count ? spares->things[--spares->count] : NULL;
}

/* False where there is no room for it, which there is not in NULL. */
YARN_MUST_CHECK static inline bool yarn_spares_keep(struct yarn_spares *spares, void *thing)
{
    bool has_room = spares && spares->count < YARN_SPARES_MAX;
    if (has_room)
        spares->things[spares->count++] = thing;
    return has_room;
}
