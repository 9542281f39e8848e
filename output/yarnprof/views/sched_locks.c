/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "output/base/array.h"
#include "output/yarnprof/io/columns.h"
#include "output/yarnprof/show/table.h"
#include "output/yarnprof/views/sched.h"

enum { FRAMES_SHOWN = 2, FUNCTION_COLUMNS = 40 };

struct pair {
    const char *holder_comm, *waiter_comm;
    uint32_t holder, waiter; /* threads */
    uint32_t stack;          /* of the sample that stands for most */
    uint64_t looks, ns, most_ns;
};

/* NULL: it has no life, or does not pass. */
static const struct yarn_sched_life *life_of(const struct yarn_sched_view *view, uint32_t group)
{
    uint32_t end = view->sched->groups[group].lives_end;
    return end > YARN_SCHED_LOG_BEGIN(view->sched, group, lives_end) ? &view->sched->lives[end - 1]
                                                                     : NULL;
}

static const char *comm_of(const struct yarn_sched_view *view, uint32_t group)
{
    const struct yarn_sched_life *life = life_of(view, group);
    return life ? yarn_profile_text(view->profile, view->profile->threads[life->owner].comm) : "";
}

static int by_pair(const void *a, const void *b)
{
    const struct yarn_sched_lock_sample *one = a, *other = b;
    if (one->holder != other->holder)
        return one->holder < other->holder ? -1 : 1;
    return (one->waiter > other->waiter) - (one->waiter < other->waiter);
}

static int by_pair_in_order(const void *a, const void *b)
{
    const struct yarn_sched_lock_sample *one = a, *other = b;
    int order = by_pair(a, b);
    return order ? order : (one->time_ns > other->time_ns) - (one->time_ns < other->time_ns);
}

/* A long wait has one look and several samples of it: the thread did not run between them. */
static bool is_of_one_look(const struct yarn_sched_view *view, const struct yarn_sched_life *life,
                           const struct yarn_sched_lock_sample *one,
                           const struct yarn_sched_lock_sample *other)
{
    const struct yarn_sched_span *spans = view->sched->spans + life->first;
    return life->count && one->time_ns &&
           YARN_ARRAY_UP_TO(spans, life->count, one->time_ns - 1) ==
               YARN_ARRAY_UP_TO(spans, life->count, other->time_ns - 1);
}

static int by_time(const void *a, const void *b)
{
    const struct pair *one = a, *other = b;
    if (one->ns != other->ns)
        return one->ns > other->ns ? -1 : 1;
    if (one->holder != other->holder)
        return one->holder < other->holder ? -1 : 1;
    return (one->waiter > other->waiter) - (one->waiter < other->waiter);
}

/* Bit by bit of the owners of rows. */
static uint8_t *rows_by_owner(const struct yarn_sched_view *view)
{
    uint8_t *passes = calloc(view->profile->nr_threads + 1, 1);
    for (size_t i = 0; passes && i < view->nr_rows; i++)
        passes[view->rows[i].life->owner] = 1;
    return passes;
}

static void add_sample(const struct yarn_sched_view *view,
                       const struct yarn_sched_lock_sample *sample, bool is_new, struct pair *row)
{
    if (is_new)
        *row = (struct pair){
            .holder = view->sched->groups[sample->holder].tid,
            .holder_comm = comm_of(view, sample->holder),
            .waiter = view->sched->groups[sample->waiter].tid,
            .waiter_comm = comm_of(view, sample->waiter),
            .stack = sample->place,
        };
    if (sample->ns > row->most_ns) {
        row->most_ns = sample->ns;
        row->stack = sample->place;
    }
    row->ns += yarn_u64_min(sample->ns, UINT64_MAX - row->ns);
}

/* *ret_rows is the caller's to free. -ENOMEM. */
static int make_pairs(const struct yarn_sched_view *view, struct pair **ret_rows, size_t *ret_count)
{
    const struct yarn_sched_log *sched = view->sched;
    struct pair *rows = calloc(sched->nr_lock_samples + 1, sizeof *rows);
    uint8_t *passes = rows_by_owner(view);
    const struct yarn_sched_lock_sample *last = NULL;
    size_t count = 0;
    if (!rows || !passes) {
        free(rows);
        free(passes);
        return -ENOMEM;
    }
    if (sched->nr_lock_samples)
        qsort(sched->lock_samples, sched->nr_lock_samples, sizeof *sched->lock_samples,
              by_pair_in_order);
    for (size_t i = 0; i < sched->nr_lock_samples; i++) {
        const struct yarn_sched_lock_sample *sample = &sched->lock_samples[i];
        const struct yarn_sched_life *life = life_of(view, sample->waiter);
        if (!life || !passes[life->owner])
            continue;
        bool is_new = !last || by_pair(last, sample);
        count += is_new;
        add_sample(view, sample, is_new, &rows[count - 1]);
        rows[count - 1].looks += is_new || !is_of_one_look(view, life, last, sample);
        last = sample;
    }
    if (count)
        qsort(rows, count, sizeof *rows, by_time);
    free(passes);
    *ret_rows = rows;
    *ret_count = count;
    return 0;
}

/* "pthread_mutex_lock < reader" */
static void get_place(struct yarn_show_cell *cell)
{
    const struct yarn_profile *profile = ((const struct yarn_sched_view *)cell->self)->profile;
    uint32_t stack = ((const struct pair *)cell->row)->stack;
    for (int i = 0; i < FRAMES_SHOWN && stack < profile->nr_stacks; i++) {
        uint32_t function = profile->stacks[stack].function;
        const char *name = yarn_profile_text(profile, profile->functions[function].name);
        size_t bytes = yarn_text_bytes(name, FUNCTION_COLUMNS);
        bool is_cut = name[bytes];
        if (is_cut)
            bytes = yarn_text_bytes(name, FUNCTION_COLUMNS - 1);
        yarn_show_add(cell, "%s%.*s%s", i ? " < " : "", (int)bytes, name, is_cut ? "…" : "");
        stack = profile->stacks[stack].parent;
    }
}

#define MEMBER(name) YARN_SHOW_MEMBER(struct pair, name)

static const struct yarn_show_column columns[] = {
    YARN_SHOW_COLUMN("holder", "HOLDER", MEMBER(holder), .width = 7),
    YARN_SHOW_COLUMN("holder_comm", "", MEMBER(holder_comm), .align = YARN_SHOW_LEFT, .gap = 1,
                     .width = 15),
    YARN_SHOW_COLUMN("waiter", "WAITER", MEMBER(waiter), .width = 7),
    YARN_SHOW_COLUMN("waiter_comm", "", MEMBER(waiter_comm), .align = YARN_SHOW_LEFT, .gap = 1,
                     .width = 15),
    YARN_SHOW_COLUMN("looks", "LOOKS", MEMBER(looks), .unit = YARN_SHOW_GROUPED, .width = 9),
    YARN_SHOW_COLUMN("ns", "TIME", MEMBER(ns), .unit = YARN_SHOW_NS, .width = 10),
    YARN_SHOW_COLUMN("where", "WHERE", .get = get_place, .align = YARN_SHOW_TAIL, .gap = 2),
    {0},
};

int yarn_sched_locks(const struct yarn_sched_view *view, const struct yarn_out *out)
{
    struct yarn_show_table table = {.out = out, .self = view, .parts = {columns}};
    bool is_text = out->format == YARN_OUT_TEXT;
    struct pair *rows;
    size_t count;
    int err = make_pairs(view, &rows, &count);
    if (err)
        return err;
    if (is_text)
        (void)fputs(count ? "\n"
                          : "no locks: no look at a blocked thread found who held one (off-cpu in "
                            "YARN_EVENTS)\n",
                    out->file);
    if (count || !is_text)
        yarn_show_rows(&table, "locks", rows, count, sizeof *rows, view->limit);
    free(rows);
    return 0;
}
