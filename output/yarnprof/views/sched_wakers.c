/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "output/base/array.h"
#include "output/yarnprof/show/table.h"
#include "output/yarnprof/views/sched.h"

struct pair {
    const char *waker_comm, *woken_comm;
    uint32_t waker,
        woken; /* threads; a waker of another process as the first pid namespace has it */
    bool is_by_softirq;
    struct yarn_sched_waits latency;
};

/* A waking, and how long the thread then waited. */
struct latency {
    uint32_t waker, woken; /* group of the log; thread of the profile */
    bool is_by_softirq;
    uint64_t ns;
};

struct collection {
    struct latency *list; /* owned array */
    size_t count, capacity;
    uint32_t woken;
    int err;
};

static void on_wait(void *self, uint64_t from_ns, uint64_t to_ns,
                    const struct yarn_sched_waking *waking)
{
    struct collection *all = self;
    if (!waking || all->err)
        return;
    struct latency latency = {waking->waker, all->woken, waking->is_by_softirq, to_ns - from_ns};
    all->err = YARN_ARRAY_PUT(&all->list, &all->count, &all->capacity, &latency);
}

static int by_pair(const void *a, const void *b)
{
    const struct latency *one = a, *other = b;
    if (one->waker != other->waker)
        return one->waker < other->waker ? -1 : 1;
    if (one->woken != other->woken)
        return one->woken < other->woken ? -1 : 1;
    return one->is_by_softirq - other->is_by_softirq;
}

static int by_wakings(const void *a, const void *b)
{
    const struct pair *one = a, *other = b;
    if (one->latency.count != other->latency.count)
        return one->latency.count > other->latency.count ? -1 : 1;
    if (one->woken != other->woken)
        return one->woken < other->woken ? -1 : 1;
    if (one->waker != other->waker)
        return one->waker < other->waker ? -1 : 1;
    return one->is_by_softirq - other->is_by_softirq;
}

static const char *comm_of_waker(const struct yarn_sched_view *view, uint32_t number)
{
    const struct yarn_profile *profile = view->profile;
    const struct yarn_sched_group *group = &view->sched->groups[number];
    if (group->lives_end > YARN_SCHED_LOG_BEGIN(view->sched, number, lives_end)) {
        const struct yarn_sched_life *last = &view->sched->lives[group->lives_end - 1];
        return yarn_profile_text(profile, profile->threads[last->owner].comm);
    }
    if (group->space == YARN_SCHED_INTERRUPT)
        return "<interrupt>";
    return yarn_sched_view_foreign(view, group->tid);
}

static struct pair row_of(const struct yarn_sched_view *view, const struct latency *first)
{
    const struct yarn_profile_thread *woken = &view->profile->threads[first->woken];
    return (struct pair){
        .waker = view->sched->groups[first->waker].tid,
        .waker_comm = comm_of_waker(view, first->waker),
        .is_by_softirq = first->is_by_softirq,
        .woken = woken->tid,
        .woken_comm = yarn_profile_text(view->profile, woken->comm),
    };
}

/* Wakings of one pair stand together. */
static int add_rows(const struct yarn_sched_view *view, const struct collection *all,
                    struct pair *rows, size_t *ret_count)
{
    uint64_t *waits = malloc((all->count + 1) * sizeof *waits);
    size_t count = 0;
    if (!waits)
        return -ENOMEM;
    for (size_t at = 0, end; at < all->count; at = end) {
        for (end = at; end < all->count && !by_pair(&all->list[at], &all->list[end]); end++)
            waits[end - at] = all->list[end].ns;
        rows[count] = row_of(view, &all->list[at]);
        rows[count++].latency = yarn_sched_waits_of(waits, end - at);
    }
    free(waits);
    *ret_count = count;
    return 0;
}

static int collect(const struct yarn_sched_view *view, struct collection *all)
{
    const struct yarn_sched_visitor visitor = {.wait = on_wait};
    for (size_t i = 0; !all->err && i < view->nr_rows; i++) {
        all->woken = view->rows[i].life->owner;
        yarn_sched_walk(view->sched, view->rows[i].life, view->from_ns, view->to_ns, &visitor, all);
    }
    if (!all->err && all->count)
        qsort(all->list, all->count, sizeof *all->list, by_pair);
    return all->err;
}

/* *ret_rows is the caller's to free. -ENOMEM. */
static int make_pairs(const struct yarn_sched_view *view, struct pair **ret_rows, size_t *ret_count)
{
    struct collection all = {.list = NULL};
    int err = collect(view, &all);
    struct pair *rows = err ? NULL : calloc(all.count + 1, sizeof *rows);
    size_t count = 0;
    if (!err)
        err = rows ? add_rows(view, &all, rows, &count) : -ENOMEM;
    free(all.list);
    if (err) {
        free(rows);
        return err;
    }
    qsort(rows, count, sizeof *rows, by_wakings);
    *ret_rows = rows;
    *ret_count = count;
    return 0;
}

#define MEMBER(name) YARN_SHOW_MEMBER(struct pair, name)
#define NS(columns) .unit = YARN_SHOW_NS, .width = columns

static void get_waker(struct yarn_show_cell *cell)
{
    const struct pair *row = cell->row;
    yarn_show_add(cell, "%s%s", row->waker_comm, row->is_by_softirq ? " (softirq)" : "");
}

static const struct yarn_show_column columns[] = {
    YARN_SHOW_COLUMN("waker", "TID", MEMBER(waker), .width = 7),
    YARN_SHOW_COLUMN("waker_comm", "WAKER", .get = get_waker, .align = YARN_SHOW_LEFT, .gap = 2,
                     .width = 25),
    YARN_SHOW_COLUMN("woken", "TID", MEMBER(woken), .width = 7),
    YARN_SHOW_COLUMN("woken_comm", "WOKEN", MEMBER(woken_comm), .align = YARN_SHOW_LEFT, .gap = 2,
                     .width = 15),
    YARN_SHOW_COLUMN("wakings", "WAKINGS", MEMBER(latency.count), .unit = YARN_SHOW_GROUPED,
                     .width = 9),
    YARN_SHOW_COLUMN("latency_ns_mean", "LATENCY mean", MEMBER(latency.mean_ns), NS(14)),
    YARN_SHOW_COLUMN("latency_ns_p99", "p99", MEMBER(latency.p99_ns), NS(10)),
    YARN_SHOW_COLUMN("latency_ns_max", "max", MEMBER(latency.max_ns), NS(10)),
    {0},
};

static const char *why_none(const struct yarn_sched_view *view)
{
    return view->sched->nr_wakings
               ? "no wakers: none of these threads was woken by one that was recorded\n"
               : "no wakers: sched_waking needs YARN_SCHED=tracepoints:all, CAP_PERFMON (or "
                 "perf_event_paranoid -1) and a readable tracefs\n";
}

int yarn_sched_wakers(const struct yarn_sched_view *view, const struct yarn_out *out)
{
    struct yarn_show_table table = {.out = out, .parts = {columns}};
    struct pair *rows;
    size_t count;
    int err = make_pairs(view, &rows, &count);
    if (err)
        return err;
    if (count || out->format != YARN_OUT_TEXT)
        yarn_show_rows(&table, "wakers", rows, count, sizeof *rows, view->limit);
    else
        (void)fputs(why_none(view), out->file);
    free(rows);
    return 0;
}
