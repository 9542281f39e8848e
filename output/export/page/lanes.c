/* SPDX-License-Identifier: Apache-2.0 */
#include "output/export/page/lanes.h"

#include <stdlib.h>

#include "output/base/array.h"

static bool is_filtered(const struct yarn_lanes *lanes)
{
    return lanes->filter && yarn_filter_is_by_thread(lanes->filter);
}

/* What can still change its name may yet pass, or fail. */
static bool can_change(const struct yarn_lanes *lanes, const struct yarn_profile *profile,
                       uint32_t thread)
{
    return is_filtered(lanes) && profile->threads[thread].dump + 1 >= profile->nr_dumps;
}

static int join(struct yarn_lanes *lanes, const struct yarn_profile *profile, uint32_t thread)
{
    uint32_t *first = &lanes->firsts[thread];
    if (*first != thread) {
        *first = *first == YARN_DUMP_NONE ? YARN_DUMP_NONE : lanes->firsts[*first];
        return 0;
    }
    if (is_filtered(lanes) && !yarn_filter_has_thread(lanes->filter, profile, thread)) {
        *first = YARN_DUMP_NONE;
        return 0;
    }
    uint32_t name = lanes->kind == YARN_LANES_ALL ? 0 : profile->threads[thread].comm;
    uint32_t found = yarn_table_find(&lanes->names, name);
    if (found == YARN_TABLE_NONE)
        return yarn_table_put(&lanes->names, name, thread);
    *first = found;
    return 0;
}

/* Each new thread begins as a lane of its own. */
static int make_room(struct yarn_lanes *lanes, const struct yarn_profile *profile)
{
    if (YARN_ARRAY_RESERVE(&lanes->firsts, &lanes->capacity, profile->nr_threads + 1))
        return -ENOMEM;
    for (; lanes->count < profile->nr_threads; lanes->count++)
        lanes->firsts[lanes->count] = (uint32_t)lanes->count;
    return 0;
}

int yarn_lanes_join(struct yarn_lanes *lanes, const struct yarn_profile *profile,
                    enum yarn_lanes_kind kind, bool is_whole)
{
    int err = make_room(lanes, profile);
    if (!err && !lanes->names.slots)
        err = yarn_table_open(&lanes->names, 64, (size_t)1 << 31);
    if (lanes->kind != kind)
        yarn_table_clear(&lanes->names);
    lanes->kind = kind;
    for (uint32_t i = 0; !err && i < lanes->count; i++) {
        if (is_whole || !can_change(lanes, profile, i))
            err = join(lanes, profile, i);
    }
    return err;
}

int yarn_lanes_add(struct yarn_lanes *lanes, const struct yarn_profile *profile)
{
    uint32_t i = (uint32_t)lanes->count;
    int err = make_room(lanes, profile);
    for (; !err && i < lanes->count; i++) {
        if (!can_change(lanes, profile, i))
            err = join(lanes, profile, i);
    }
    return err;
}

void yarn_lanes_fini(struct yarn_lanes *lanes)
{
    free(lanes->firsts);
    yarn_table_close(&lanes->names);
    *lanes = YARN_LANES_EMPTY;
}
