/* SPDX-License-Identifier: Apache-2.0 */
#include "output/store/sorter.h"

#include <stdlib.h>

#include "output/base/array.h"
#include "output/store/spill.h"

enum {
    BLOCK_ROWS = 64 << 10,
    WINDOW_ROWS = 4096,       /* of a run, in memory */
    WINDOWS_ROWS = 256 << 10, /* of all, where there are that many runs */
    ROW_BYTES_MAX = 64,
};

/* Rows in order, of which the file has the rest. */
struct run {
    uint64_t at, end;   /* in the file, of what is not in the window */
    char *window;       /* owned */
    size_t next, count; /* in the window */
};

/* The runs that did not fit into memory, one behind the other. */
struct yarn_sorter_runs {
    const struct yarn_sorter_order *order;
    struct yarn_spill own, *file; /* which is the sorter's, or that */
    struct run *runs;             /* owned array */
    size_t count, capacity;
    size_t *heap; /* owned: runs that are not at their end, the first row on top */
    size_t nr_heap;
};

static int sort(struct yarn_sorter *sorter)
{
    if (!sorter->count)
        return 0;
    return yarn_array_sort(&sorter->list, &sorter->capacity, sorter->count,
                           sorter->order->row_bytes, sorter->order->before, NULL);
}

static void free_runs(struct yarn_sorter *sorter)
{
    struct yarn_sorter_runs *runs = sorter->runs;
    for (size_t i = 0; runs && i < runs->count; i++)
        free(runs->runs[i].window);
    if (runs) {
        free(runs->runs);
        free(runs->heap);
        yarn_spill_close(&runs->own);
    }
    free(runs);
    sorter->runs = NULL;
}

static int open_runs(struct yarn_sorter *sorter)
{
    sorter->runs = calloc(1, sizeof *sorter->runs);
    if (!sorter->runs)
        return -ENOMEM;
    struct yarn_sorter_runs *runs = sorter->runs;
    runs->order = sorter->order;
    runs->own = YARN_SPILL_CLOSED;
    runs->file = sorter->file ? sorter->file : &runs->own;
    return runs->file->fd < 0 ? yarn_spill_open(runs->file) : 0;
}

/* What is in memory becomes a run in the file. */
static int spill(struct yarn_sorter *sorter)
{
    int err = sorter->runs ? 0 : open_runs(sorter);
    if (!err)
        err = sort(sorter);
    if (err)
        return err;
    struct yarn_sorter_runs *runs = sorter->runs;
    const size_t bytes = sorter->count * sorter->order->row_bytes;
    const struct run run = {.at = runs->file->size, .end = runs->file->size + bytes};
    err = yarn_spill_put(runs->file, yarn_span_of(sorter->list, bytes));
    if (!err)
        err = YARN_ARRAY_PUT(&runs->runs, &runs->count, &runs->capacity, &run);
    if (!err)
        sorter->count = 0;
    return err;
}

int yarn_sorter_add(struct yarn_sorter *sorter, const void *row)
{
    if (sorter->most && sorter->count >= sorter->most) {
        int err = spill(sorter);
        if (err)
            return err;
    }
    if (yarn_array_put(&sorter->list, &sorter->count, &sorter->capacity, row,
                       sorter->order->row_bytes))
        return -ENOMEM;
    sorter->nr_added++;
    return 0;
}

/* The next rows of a run; none at its end. */
static int fill(struct yarn_sorter_runs *runs, struct run *run)
{
    const size_t row_bytes = runs->order->row_bytes;
    size_t room = yarn_size_max(16, yarn_size_min(WINDOW_ROWS, WINDOWS_ROWS / runs->count));
    size_t size = (size_t)yarn_u64_min(room * row_bytes, run->end - run->at);
    if (!run->window)
        run->window = calloc(room, row_bytes);
    int err = run->window ? yarn_spill_get(runs->file, run->at, run->window, size) : -ENOMEM;
    run->at += size;
    run->next = 0;
    run->count = err ? 0 : size / row_bytes;
    return err;
}

static const void *next_row(const struct yarn_sorter_runs *runs, size_t number)
{
    const struct run *run = &runs->runs[number];
    return run->window + run->next * runs->order->row_bytes;
}

/* Of two runs whose next rows are equal the earlier one. */
static bool is_run_before(const struct yarn_sorter_runs *runs, size_t a, size_t b)
{
    const void *one = next_row(runs, a), *other = next_row(runs, b);
    return runs->order->before(NULL, one, other) ||
           (a < b && !runs->order->before(NULL, other, one));
}

/* What is at `at` goes down to where it belongs. */
static void sink(struct yarn_sorter_runs *runs, size_t at)
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

static int begin_merging(struct yarn_sorter_runs *runs)
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

int yarn_sorter_sort(struct yarn_sorter *sorter)
{
    int err = sorter->runs ? spill(sorter) : sort(sorter);
    return err || !sorter->runs ? err : begin_merging(sorter->runs);
}

static int next_of_runs(struct yarn_sorter_runs *runs, void *ret_row)
{
    int err = 0;
    if (!runs->nr_heap)
        return 0;
    struct run *run = &runs->runs[runs->heap[0]];
    memcpy(ret_row, next_row(runs, runs->heap[0]), runs->order->row_bytes);
    if (++run->next == run->count)
        err = fill(runs, run);
    if (!run->count)
        runs->heap[0] = runs->heap[--runs->nr_heap];
    if (runs->nr_heap)
        sink(runs, 0);
    return err ? err : 1;
}

int yarn_sorter_next(struct yarn_sorter *sorter, void *ret_row)
{
    if (sorter->runs)
        return next_of_runs(sorter->runs, ret_row);
    if (sorter->at >= sorter->count)
        return 0;
    memcpy(ret_row, (const char *)sorter->list + sorter->at++ * sorter->order->row_bytes,
           sorter->order->row_bytes);
    return 1;
}

int yarn_sorter_gather(struct yarn_sorter *sorter)
{
    struct yarn_spill file;
    _Alignas(uint64_t) char row[ROW_BYTES_MAX];
    struct yarn_span bytes = YARN_SPAN_EMPTY;
    if (!sorter->runs) {
        sorter->file = NULL;
        return 0;
    }
    int more = 1, err = yarn_spill_open(&file);
    while (!err && (more = next_of_runs(sorter->runs, row)) > 0)
        err = yarn_spill_put(&file, yarn_span_of(row, sorter->order->row_bytes));
    if (!err)
        err = more < 0 ? more : yarn_spill_map(&file, &bytes);
    yarn_spill_close(&file);
    if (err)
        return err;
    free_runs(sorter);
    free(sorter->list);
    sorter->file = NULL;
    sorter->list = (void *)(uintptr_t)bytes.data;
    sorter->count = (size_t)sorter->nr_added;
    sorter->mapped_bytes = bytes.size;
    return 0;
}

void yarn_sorter_drop(const struct yarn_sorter *sorter, size_t read)
{
    if (sorter->mapped_bytes && read % BLOCK_ROWS == 0)
        yarn_spill_drop_pages(yarn_span_of(sorter->list, sorter->mapped_bytes));
}

void yarn_sorter_fini(struct yarn_sorter *sorter)
{
    if (sorter->mapped_bytes)
        yarn_spill_unmap(yarn_span_of(sorter->list, sorter->mapped_bytes));
    else
        free(sorter->list);
    free_runs(sorter);
    *sorter = (struct yarn_sorter){.order = sorter->order, .most = sorter->most};
}
