/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/time/timeline.h"

static bool is_earlier(const void *self, const void *one, const void *other)
{
    const struct yarn_timeline_entry *left = one, *right = other;
    (void)self;
    return left->time_ns < right->time_ns;
}

static bool is_before(const void *self, const void *one, const void *other)
{
    const struct yarn_timeline_entry *left = one, *right = other;
    if (left->thread != right->thread)
        return left->thread < right->thread;
    return left->event != right->event ? left->event < right->event : is_earlier(self, left, right);
}

static const struct yarn_sorter_order orders[] = {
    [YARN_TIMELINE_BY_TIME] = {sizeof(struct yarn_timeline_entry), is_earlier},
    [YARN_TIMELINE_BY_TRACK] = {sizeof(struct yarn_timeline_entry), is_before},
};

int yarn_timeline_add(struct yarn_timeline *timeline, const struct yarn_timeline_entry *entry)
{
    timeline->rows.order = &orders[timeline->order];
    return yarn_sorter_add(&timeline->rows, entry);
}

int yarn_timeline_sort(struct yarn_timeline *timeline)
{
    timeline->rows.order = &orders[timeline->order];
    return yarn_sorter_sort(&timeline->rows);
}

const struct yarn_timeline_entry *yarn_timeline_at(const struct yarn_timeline *timeline, size_t i)
{
    const struct yarn_timeline_entry *entries = timeline->rows.list;
    yarn_sorter_drop(&timeline->rows, i);
    return &entries[i];
}
