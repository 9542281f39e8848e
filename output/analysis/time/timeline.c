/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/time/timeline.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "output/store/array.h"
#include "output/store/spill.h"

enum {
    BLOCK_ENTRIES = 64 << 10,    /* a multiple of any page */
    WINDOW_ENTRIES = 4096,       /* of a run, in memory */
    WINDOWS_ENTRIES = 256 << 10, /* of all, where there are that many runs */
};

/* Entries in order, of which the file has the rest. */
struct run {
    uint64_t at, end;                   /* in the file, of what is not in the window */
    struct yarn_timeline_entry *window; /* owned */
    size_t next, count;                 /* in the window */
};

/* The runs that did not fit into memory, one behind the other. */
struct yarn_timeline_runs {
    struct yarn_spill file;
    enum yarn_timeline_order order;
    struct run *runs; /* owned array */
    size_t count, capacity;
    size_t *heap; /* owned: runs that are not at their end, the earliest entry on top */
    size_t nr_heap;
};

static bool is_before(const void *self, const void *one, const void *other)
{
    const struct yarn_timeline_entry *left = one, *right = other;
    if (*(const enum yarn_timeline_order *)self == YARN_TIMELINE_BY_TRACK) {
        if (left->thread != right->thread)
            return left->thread < right->thread;
        if (left->event != right->event)
            return left->event < right->event;
    }
    return left->time_ns < right->time_ns;
}

static int sort(struct yarn_timeline *timeline)
{
    return YARN_ARRAY_SORT(&timeline->entries, &timeline->capacity, timeline->count, is_before,
                           &timeline->order);
}

static void free_runs(struct yarn_timeline *timeline)
{
    struct yarn_timeline_runs *runs = timeline->runs;
    for (size_t i = 0; runs && i < runs->count; i++)
        free(runs->runs[i].window);
    if (runs) {
        free(runs->runs);
        free(runs->heap);
        yarn_spill_close(&runs->file);
    }
    free(runs);
    timeline->runs = NULL;
}

static int open_runs(struct yarn_timeline *timeline)
{
    timeline->runs = calloc(1, sizeof *timeline->runs);
    if (!timeline->runs)
        return -ENOMEM;
    timeline->runs->order = timeline->order;
    return yarn_spill_open(&timeline->runs->file);
}

/* What is in memory becomes a run in the file. */
static int spill(struct yarn_timeline *timeline)
{
    int err = timeline->runs ? 0 : open_runs(timeline);
    if (!err)
        err = sort(timeline);
    if (err)
        return err;
    struct yarn_timeline_runs *runs = timeline->runs;
    const size_t bytes = timeline->count * sizeof *timeline->entries;
    const struct run run = {.at = runs->file.size, .end = runs->file.size + bytes};
    err = yarn_spill_put(&runs->file, yarn_span_of(timeline->entries, bytes));
    if (!err)
        err = YARN_ARRAY_PUT(&runs->runs, &runs->count, &runs->capacity, &run);
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

/* The next entries of a run; none at its end. */
static int fill(struct yarn_timeline_runs *runs, struct run *run)
{
    size_t room = yarn_size_max(16, yarn_size_min(WINDOW_ENTRIES, WINDOWS_ENTRIES / runs->count));
    size_t size = (size_t)yarn_u64_min(room * sizeof *run->window, run->end - run->at);
    if (!run->window)
        run->window = calloc(room, sizeof *run->window);
    int err = run->window ? yarn_spill_get(&runs->file, run->at, run->window, size) : -ENOMEM;
    run->at += size;
    run->next = 0;
    run->count = err ? 0 : size / sizeof *run->window;
    return err;
}

/* Of two runs whose next entries are equal the earlier one. */
static bool is_run_before(const struct yarn_timeline_runs *runs, size_t a, size_t b)
{
    const struct run *one = &runs->runs[a], *other = &runs->runs[b];
    const struct yarn_timeline_entry *first = &one->window[one->next];
    const struct yarn_timeline_entry *second = &other->window[other->next];
    return is_before(&runs->order, first, second) ||
           (a < b && !is_before(&runs->order, second, first));
}

/* What is at `at` goes down to where it belongs. */
static void sink(struct yarn_timeline_runs *runs, size_t at)
{
    for (;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < runs->nr_heap; child++) {
            if (is_run_before(runs, runs->heap[child], runs->heap[least]))
                least = child;
        }
        if (least == at)
            return;
        size_t moved = runs->heap[at];
        runs->heap[at] = runs->heap[least];
        runs->heap[least] = moved;
        at = least;
    }
}

static int begin_merging(struct yarn_timeline_runs *runs)
{
    int err = 0;
    runs->heap = calloc(runs->count, sizeof *runs->heap);
    if (!runs->heap)
        return -ENOMEM;
    for (size_t i = 0; !err && i < runs->count; i++) {
        err = fill(runs, &runs->runs[i]);
        if (runs->runs[i].count)
            runs->heap[runs->nr_heap++] = i;
    }
    for (size_t i = runs->nr_heap; i-- > 0;)
        sink(runs, i);
    return err;
}

int yarn_timeline_sort(struct yarn_timeline *timeline)
{
    int err = timeline->runs ? spill(timeline) : sort(timeline);
    return err || !timeline->runs ? err : begin_merging(timeline->runs);
}

static int next_of_runs(struct yarn_timeline_runs *runs, struct yarn_timeline_entry *ret_entry)
{
    int err = 0;
    if (!runs->nr_heap)
        return 0;
    struct run *run = &runs->runs[runs->heap[0]];
    *ret_entry = run->window[run->next++];
    if (run->next == run->count)
        err = fill(runs, run);
    if (!run->count)
        runs->heap[0] = runs->heap[--runs->nr_heap];
    if (runs->nr_heap)
        sink(runs, 0);
    return err ? err : 1;
}

int yarn_timeline_next(struct yarn_timeline *timeline, struct yarn_timeline_entry *ret_entry)
{
    if (timeline->runs)
        return next_of_runs(timeline->runs, ret_entry);
    if (timeline->at >= timeline->count)
        return 0;
    *ret_entry = timeline->entries[timeline->at++];
    return 1;
}

int yarn_timeline_gather(struct yarn_timeline *timeline)
{
    struct yarn_spill file;
    struct yarn_timeline_entry entry;
    struct yarn_span bytes = YARN_SPAN_EMPTY;
    if (!timeline->runs)
        return 0;
    int more = 1, err = yarn_spill_open(&file);
    while (!err && (more = next_of_runs(timeline->runs, &entry)) > 0)
        err = yarn_spill_put(&file, yarn_span_of(&entry, sizeof entry));
    if (!err)
        err = more < 0 ? more : yarn_spill_map(&file, &bytes);
    yarn_spill_close(&file);
    if (err)
        return err;
    free_runs(timeline);
    free(timeline->entries);
    timeline->entries = (struct yarn_timeline_entry *)(uintptr_t)bytes.data;
    timeline->count = (size_t)timeline->nr_added;
    timeline->mapped_bytes = bytes.size;
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
    free_runs(timeline);
    *timeline = (struct yarn_timeline){0};
}
