/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/time/timeline.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "output/analysis/time/external_sort.h"
#include "output/store/array.h"

enum { BLOCK_ENTRIES = 64 << 10 }; /* a multiple of any page */

/* Merges from[begin, middle) and from[middle, end) into `to`; the first goes first among equals. */
static void merge(const struct yarn_timeline *timeline, struct yarn_timeline_entry *to,
                  size_t begin, size_t middle, size_t end)
{
    const struct yarn_timeline_entry *from = timeline->entries;
    size_t left = begin, right = middle;
    for (size_t at = begin; at < end; at++) {
        bool is_left =
            left < middle &&
            (right >= end || !yarn_timeline_is_before(timeline->order, &from[right], &from[left]));
        to[at] = from[is_left ? left++ : right++];
    }
}

static size_t end_of_run(const struct yarn_timeline *timeline, size_t begin)
{
    size_t end = begin + 1;
    while (end < timeline->count &&
           !yarn_timeline_is_before(timeline->order, &timeline->entries[end],
                                    &timeline->entries[end - 1]))
        end++;
    return end;
}

/* One pass of a natural merge sort; the number of runs that it found. */
static size_t merge_runs(const struct yarn_timeline *timeline, struct yarn_timeline_entry *to)
{
    size_t runs = 0;
    for (size_t begin = 0; begin < timeline->count;) {
        size_t middle = end_of_run(timeline, begin);
        size_t end = middle < timeline->count ? end_of_run(timeline, middle) : middle;
        merge(timeline, to, begin, middle, end);
        runs += middle < end ? 2 : 1;
        begin = end;
    }
    return runs;
}

/* Why a natural merge sort: the records of a dump are nearly in order, those of several dumps are
 * as many runs, and equal times must keep their order. */
static int sort_entries(struct yarn_timeline *timeline)
{
    if (timeline->count < 2 || end_of_run(timeline, 0) == timeline->count)
        return 0;
    struct yarn_timeline_entry *other = calloc(timeline->count, sizeof *other);
    if (!other)
        return -ENOMEM;
    size_t runs;
    do {
        runs = merge_runs(timeline, other);
        struct yarn_timeline_entry *sorted = other;
        other = timeline->entries;
        timeline->entries = sorted;
    } while (runs > 2);
    timeline->capacity = timeline->count;
    free(other);
    return 0;
}

/* What is in memory becomes a run in the file. */
static int spill(struct yarn_timeline *timeline)
{
    int err = timeline->external ? 0 : yarn_external_sort_new(timeline->order, &timeline->external);
    if (!err)
        err = sort_entries(timeline);
    if (!err)
        err = yarn_external_sort_add(timeline->external, timeline->entries, timeline->count);
    if (!err)
        timeline->count = 0;
    return err;
}

int yarn_timeline_add(struct yarn_timeline *timeline, const struct yarn_timeline_entry *entry)
{
    if (timeline->most && timeline->count >= timeline->most) {
        int err = spill(timeline);
        if (err)
            return err;
    }
    if (YARN_ARRAY_PUT(&timeline->entries, &timeline->count, &timeline->capacity, entry))
        return -ENOMEM;
    timeline->nr_added++;
    return 0;
}

int yarn_timeline_sort(struct yarn_timeline *timeline)
{
    return timeline->external ? spill(timeline) : sort_entries(timeline);
}

int yarn_timeline_next(struct yarn_timeline *timeline, struct yarn_timeline_entry *ret_entry)
{
    if (timeline->external)
        return yarn_external_sort_next(timeline->external, ret_entry);
    if (timeline->at >= timeline->count)
        return 0;
    *ret_entry = timeline->entries[timeline->at++];
    return 1;
}

int yarn_timeline_gather(struct yarn_timeline *timeline)
{
    if (!timeline->external)
        return 0;
    const struct yarn_timeline_entry *mapped;
    size_t bytes = (size_t)timeline->nr_added * sizeof *mapped;
    int err = yarn_external_sort_map(timeline->external, &mapped);
    if (err)
        return err;
    free(timeline->entries);
    yarn_external_sort_free(timeline->external);
    timeline->external = NULL;
    timeline->entries = (struct yarn_timeline_entry *)mapped;
    timeline->count = (size_t)timeline->nr_added;
    timeline->mapped_bytes = bytes;
    return 0;
}

/* What is behind the reader goes from memory; the file still has it. */
const struct yarn_timeline_entry *yarn_timeline_at(const struct yarn_timeline *timeline, size_t i)
{
    if (timeline->mapped_bytes && i && i % BLOCK_ENTRIES == 0)
        (void)madvise(&timeline->entries[i - BLOCK_ENTRIES],
                      BLOCK_ENTRIES * sizeof *timeline->entries, MADV_DONTNEED);
    return &timeline->entries[i];
}

void yarn_timeline_fini(struct yarn_timeline *timeline)
{
    if (timeline->mapped_bytes)
        (void)munmap(timeline->entries, timeline->mapped_bytes);
    else
        free(timeline->entries);
    yarn_external_sort_free(timeline->external);
    *timeline = (struct yarn_timeline){0};
}
