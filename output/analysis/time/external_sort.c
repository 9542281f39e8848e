/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/time/external_sort.h"

#include <stdlib.h>
#include <unistd.h>

#include "output/store/array.h"
#include "output/store/spill.h"

enum {
    WINDOW_ENTRIES = 4096,       /* of a run, in memory */
    WINDOWS_ENTRIES = 256 << 10, /* of all, where there are that many runs */
};

struct run {
    uint64_t at, end;                   /* in the file, of what is not in the window */
    struct yarn_timeline_entry *window; /* owned */
    size_t next, count;                 /* in the window */
};

struct yarn_external_sort {
    struct yarn_spill file;
    enum yarn_timeline_order order;
    struct run *runs; /* owned array */
    size_t count, capacity;
    size_t *heap; /* owned: runs that are not at their end, the earliest entry on top */
    size_t nr_heap;
    bool is_open; /* windows and heap are there */
};

int yarn_external_sort_new(enum yarn_timeline_order order, struct yarn_external_sort **ret_sort)
{
    struct yarn_external_sort *sort = calloc(1, sizeof *sort);
    if (!sort)
        return -ENOMEM;
    sort->order = order;
    int err = yarn_spill_open(&sort->file);
    if (err)
        free(sort);
    else
        *ret_sort = sort;
    return err;
}

void yarn_external_sort_free(struct yarn_external_sort *sort)
{
    if (!sort)
        return;
    for (size_t i = 0; i < sort->count; i++)
        free(sort->runs[i].window);
    free(sort->runs);
    free(sort->heap);
    yarn_spill_close(&sort->file);
    free(sort);
}

int yarn_external_sort_add(struct yarn_external_sort *sort,
                           const struct yarn_timeline_entry *entries, size_t count)
{
    const size_t bytes = count * sizeof *entries;
    const struct run run = {.at = sort->file.size, .end = sort->file.size + bytes};
    int err = yarn_spill_put(&sort->file, yarn_span_of(entries, bytes));
    return err ? err : YARN_ARRAY_PUT(&sort->runs, &sort->count, &sort->capacity, &run);
}

/* The next entries of a run; none at its end. */
static int fill(struct yarn_external_sort *sort, struct run *run, size_t room)
{
    size_t size = (size_t)yarn_u64_min(room * sizeof *run->window, run->end - run->at);
    int err = yarn_spill_get(&sort->file, run->at, run->window, size);
    if (err)
        return err;
    run->at += size;
    run->next = 0;
    run->count = size / sizeof *run->window;
    return 0;
}

static size_t window_entries(const struct yarn_external_sort *sort)
{
    return yarn_size_max(16, yarn_size_min(WINDOW_ENTRIES, WINDOWS_ENTRIES / sort->count));
}

static bool is_before(const struct yarn_external_sort *sort, size_t a, size_t b)
{
    const struct run *one = &sort->runs[a], *other = &sort->runs[b];
    const struct yarn_timeline_entry *first = &one->window[one->next];
    const struct yarn_timeline_entry *second = &other->window[other->next];
    if (yarn_timeline_is_before(sort->order, first, second))
        return true;
    return a < b && !yarn_timeline_is_before(sort->order, second, first);
}

/* What is at `at` goes down to where it belongs. */
static void sink(struct yarn_external_sort *sort, size_t at)
{
    for (;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < sort->nr_heap; child++) {
            if (is_before(sort, sort->heap[child], sort->heap[least]))
                least = child;
        }
        if (least == at)
            return;
        size_t moved = sort->heap[at];
        sort->heap[at] = sort->heap[least];
        sort->heap[least] = moved;
        at = least;
    }
}

static int open_windows(struct yarn_external_sort *sort)
{
    sort->heap = calloc(sort->count + 1, sizeof *sort->heap);
    if (!sort->heap)
        return -ENOMEM;
    for (size_t i = 0; i < sort->count; i++) {
        struct run *run = &sort->runs[i];
        run->window = calloc(window_entries(sort), sizeof *run->window);
        int err = run->window ? fill(sort, run, window_entries(sort)) : -ENOMEM;
        if (err)
            return err;
        if (run->count)
            sort->heap[sort->nr_heap++] = i;
    }
    for (size_t i = sort->nr_heap; i-- > 0;)
        sink(sort, i);
    sort->is_open = true;
    return 0;
}

int yarn_external_sort_next(struct yarn_external_sort *sort, struct yarn_timeline_entry *ret_entry)
{
    int err = sort->is_open || !sort->count ? 0 : open_windows(sort);
    if (err || !sort->nr_heap)
        return err;
    struct run *run = &sort->runs[sort->heap[0]];
    *ret_entry = run->window[run->next++];
    if (run->next == run->count)
        err = fill(sort, run, window_entries(sort));
    if (!run->count)
        sort->heap[0] = sort->heap[--sort->nr_heap];
    if (sort->nr_heap)
        sink(sort, 0);
    return err ? err : 1;
}

int yarn_external_sort_map(struct yarn_external_sort *sort,
                           const struct yarn_timeline_entry **ret_mapped)
{
    struct yarn_spill file;
    struct yarn_timeline_entry entry;
    struct yarn_span bytes = YARN_SPAN_EMPTY;
    int more = 1, err = yarn_spill_open(&file);
    while (!err && (more = yarn_external_sort_next(sort, &entry)) > 0)
        err = yarn_spill_put(&file, yarn_span_of(&entry, sizeof entry));
    if (!err)
        err = more < 0 ? more : yarn_spill_map(&file, &bytes);
    if (!err)
        *ret_mapped = (const void *)bytes.data;
    yarn_spill_close(&file);
    return err;
}
