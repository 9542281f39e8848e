/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "output/analysis/value/array.h"
#include "output/yarnprof/stream/columns.h"
#include "output/yarnprof/stream/numbers.h"
#include "output/yarnprof/views/sched.h"

enum { TID_COLUMNS = 7, COMM_COLUMNS = 15, NUMBER_COLUMNS = 9, DURATION_COLUMNS = 10 };

/* A waking, and how long the thread then waited. */
struct latency {
    uint32_t waker, woken; /* group of the log; thread of the profile */
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
    struct latency latency = {waking->waker, all->woken, to_ns - from_ns};
    all->err = YARN_ARRAY_PUT(&all->list, &all->count, &all->capacity, &latency);
}

static int by_pair(const void *a, const void *b)
{
    const struct latency *one = a, *other = b;
    if (one->waker != other->waker)
        return one->waker < other->waker ? -1 : 1;
    return (one->woken > other->woken) - (one->woken < other->woken);
}

static int by_wakings(const void *a, const void *b)
{
    const struct yarn_sched_waker *one = a, *other = b;
    if (one->latency.count != other->latency.count)
        return one->latency.count > other->latency.count ? -1 : 1;
    if (one->woken != other->woken)
        return one->woken < other->woken ? -1 : 1;
    return (one->waker > other->waker) - (one->waker < other->waker);
}

static const char *comm_of_waker(const struct yarn_sched_view *view, uint32_t number)
{
    const struct yarn_profile *profile = view->profile;
    const struct yarn_sched_group *group = &view->sched->groups[number];
    if (group->lives_end > YARN_SCHED_LOG_BEGIN(view->sched, number, lives_end)) {
        const struct yarn_sched_life *last = &view->sched->lives[group->lives_end - 1];
        return yarn_profile_text(profile, profile->threads[last->owner].comm);
    }
    if (group->space == YARN_SCHED_FOREIGN && !group->tid)
        return "<idle>";
    uint32_t comm = yarn_table_find(view->wakers, group->tid);
    return yarn_profile_text(profile, comm == YARN_TABLE_NONE ? 0 : comm);
}

static struct yarn_sched_waker row_of(const struct yarn_sched_view *view,
                                      const struct latency *first)
{
    const struct yarn_profile_thread *woken = &view->profile->threads[first->woken];
    return (struct yarn_sched_waker){
        .waker = view->sched->groups[first->waker].tid,
        .waker_comm = comm_of_waker(view, first->waker),
        .woken = woken->tid,
        .woken_comm = yarn_profile_text(view->profile, woken->comm),
    };
}

/* Those of one pair stand together. */
static int add_rows(const struct yarn_sched_view *view, const struct collection *all,
                    struct yarn_sched_waker *rows, size_t *ret_count)
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

int yarn_sched_wakers_of(const struct yarn_sched_view *view, struct yarn_sched_waker **ret_rows,
                         size_t *ret_count)
{
    struct collection all = {.list = NULL};
    int err = collect(view, &all);
    struct yarn_sched_waker *rows = err ? NULL : calloc(all.count + 1, sizeof *rows);
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

static void print_row(const struct yarn_sched_waker *row, const struct yarn_out *out)
{
    (void)fprintf(out->file, "%*u  ", TID_COLUMNS, row->waker);
    yarn_print_cell(out, row->waker_comm, COMM_COLUMNS);
    (void)fprintf(out->file, "%*u  ", TID_COLUMNS, row->woken);
    yarn_print_cell(out, row->woken_comm, COMM_COLUMNS);
    (void)fprintf(out->file, "%*s", NUMBER_COLUMNS, yarn_number_grouped(row->latency.count).text);
    (void)fprintf(out->file, "%*s", DURATION_COLUMNS + 4,
                  yarn_number_duration(row->latency.mean_ns).text);
    (void)fprintf(out->file, "%*s", DURATION_COLUMNS,
                  yarn_number_duration(row->latency.p99_ns).text);
    (void)fprintf(out->file, "%*s\n", DURATION_COLUMNS,
                  yarn_number_duration(row->latency.max_ns).text);
}

int yarn_sched_wakers_text(const struct yarn_sched_view *view, const struct yarn_out *out)
{
    struct yarn_sched_waker *rows;
    size_t count;
    int err = yarn_sched_wakers_of(view, &rows, &count);
    if (err)
        return err;
    if (count)
        (void)fprintf(out->file, "%*s  %-*s%*s  %-*s%*s%*s%*s%*s\n", TID_COLUMNS, "TID",
                      COMM_COLUMNS, "WAKER", TID_COLUMNS, "TID", COMM_COLUMNS, "WOKEN",
                      NUMBER_COLUMNS, "WAKINGS", DURATION_COLUMNS + 4, "LATENCY mean",
                      DURATION_COLUMNS, "p99", DURATION_COLUMNS, "max");
    else if (view->sched->nr_wakings)
        (void)fputs("no wakers: none of these threads was woken by one that was recorded\n",
                    out->file);
    else
        (void)fputs("no wakers: sched_waking needs YARN_SCHED=tracepoints:all, CAP_PERFMON (or "
                    "perf_event_paranoid -1) and a readable tracefs\n",
                    out->file);
    for (size_t i = 0; i < count && !(view->limit && i >= view->limit); i++)
        print_row(&rows[i], out);
    free(rows);
    return yarn_sched_locks_text(view, out);
}
