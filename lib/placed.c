/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/placed.h"

#include "unwind/symbol/place.h"

static void find_symbol(struct yarn_event_spec *spec)
{
    if (spec->kind != YARN_EVENT_BREAKPOINT || !spec->site.symbol || spec->config1 ||
        !yarn_symbol_place_find(spec->site.symbol, &spec->config1))
        return;
    spec->config1 += spec->site.offset;
}

void yarn_placed_open(struct yarn_placed *placed, const struct yarn_event_spec *specs, size_t count,
                      struct yarn_arena *arena)
{
    placed->list.count = count;
    for (size_t i = 0; i < count; i++) {
        placed->list.specs[i] = specs[i];
        placed->list.specs[i].item = (uint8_t)i;
        find_symbol(&placed->list.specs[i]);
    }
    yarn_probe_sites_open(&placed->sites, &placed->list, arena, YARN_TRACEFS, true);
}

void yarn_placed_close(struct yarn_placed *placed, bool is_of_parent)
{
    if (is_of_parent)
        yarn_probe_sites_inherit(&placed->sites);
    yarn_probe_sites_close(&placed->sites);
}
