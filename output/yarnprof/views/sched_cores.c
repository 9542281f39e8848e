/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>

#include "output/base/array.h"
#include "output/yarnprof/show/table.h"
#include "output/yarnprof/views/sched.h"

/* A thread waited for a core, and another had it meanwhile; the same of all waits. */
struct pair {
    struct yarn_sched_comer holder;
    uint32_t waiter; /* thread of the profile */
    uint64_t ns, waits;
};

struct collection {
    const struct yarn_sched_view *view;
    struct pair *list; /* owned array */
    size_t count, capacity;
    size_t first_of_wait;
    uint32_t waiter;
    uint64_t from_ns, to_ns; /* of the wait that ends where its thread comes in */
    int err;
};

static void on_wait(void *self, uint64_t from_ns, uint64_t to_ns,
                    const struct yarn_sched_waking *waking)
{
    struct collection *all = self;
    (void)waking;
    all->from_ns = from_ns;
    all->to_ns = to_ns;
}

static void add_holder(void *self, struct yarn_sched_comer who, uint64_t ns)
{
    struct collection *all = self;
    /* Why asked: its own record of coming in is a moment behind the core's. */
    if (who.owner == all->waiter)
        return;
    for (size_t i = all->first_of_wait; i < all->count; i++) {
        if (all->list[i].holder.owner == who.owner && all->list[i].holder.tid == who.tid) {
            all->list[i].ns += ns;
            return;
        }
    }
    const struct pair pair = {who, all->waiter, ns, 1};
    if (!all->err)
        all->err = YARN_ARRAY_PUT(&all->list, &all->count, &all->capacity, &pair);
}

/* Of the core that it got: it may have waited for another before. */
static void on_came(void *self, const struct yarn_sched_span *span, uint32_t cpu_before,
                    bool was_blocked, uint64_t at_ns)
{
    struct collection *all = self;
    (void)cpu_before;
    (void)was_blocked;
    if (all->to_ns != at_ns || all->err)
        return;
    all->first_of_wait = all->count;
    uint64_t from_ns = yarn_u64_max(all->from_ns, all->view->from_ns);
    yarn_sched_cores_between(&all->view->sched->cores, span->cpu, from_ns, at_ns, add_holder, all);
}

static int by_pair(const void *a, const void *b)
{
    const struct pair *one = a, *other = b;
    if (one->waiter != other->waiter)
        return one->waiter < other->waiter ? -1 : 1;
    if (one->holder.owner != other->holder.owner)
        return one->holder.owner < other->holder.owner ? -1 : 1;
    if (one->holder.tid != other->holder.tid)
        return one->holder.tid < other->holder.tid ? -1 : 1;
    return 0;
}

static int by_time(const void *a, const void *b)
{
    const struct pair *one = a, *other = b;
    if (one->ns != other->ns)
        return one->ns > other->ns ? -1 : 1;
    return by_pair(a, b);
}

/* Waits of one pair become one row. */
static void join(struct collection *all)
{
    size_t count = 0;
    if (all->count)
        qsort(all->list, all->count, sizeof *all->list, by_pair);
    for (size_t i = 0; i < all->count; i++) {
        if (!count || by_pair(&all->list[count - 1], &all->list[i])) {
            all->list[count++] = all->list[i];
            continue;
        }
        all->list[count - 1].ns += all->list[i].ns;
        all->list[count - 1].waits += all->list[i].waits;
    }
    all->count = count;
    if (count)
        qsort(all->list, count, sizeof *all->list, by_time);
}

static void collect(struct collection *all)
{
    const struct yarn_sched_visitor visitor = {.wait = on_wait, .came = on_came};
    const struct yarn_sched_view *view = all->view;
    for (size_t i = 0; !all->err && i < view->nr_rows; i++) {
        all->waiter = view->rows[i].life->owner;
        all->to_ns = 0;
        yarn_sched_walk(view->sched, view->rows[i].life, view->from_ns, view->to_ns, &visitor, all);
    }
    join(all);
}

/* ---- shown ---- */

static const struct yarn_profile *profile_of(const struct yarn_show_cell *cell)
{
    return ((const struct yarn_sched_view *)cell->self)->profile;
}

static const struct yarn_profile_thread *holder_of(const struct yarn_show_cell *cell)
{
    const struct pair *pair = cell->row;
    return pair->holder.owner == UINT32_MAX ? NULL : &profile_of(cell)->threads[pair->holder.owner];
}

static void get_holder(struct yarn_show_cell *cell)
{
    const struct yarn_profile_thread *thread = holder_of(cell);
    const struct pair *pair = cell->row;
    uint32_t tid = thread ? thread->tid : pair->holder.tid;
    yarn_show_u64_if(cell, tid != UINT32_MAX, tid);
}

static void get_holder_comm(struct yarn_show_cell *cell)
{
    const struct yarn_profile_thread *thread = holder_of(cell);
    const struct pair *pair = cell->row;
    if (pair->holder.tid == UINT32_MAX && !thread)
        yarn_show_text(cell, "[unknown]");
    else
        yarn_show_text(cell, thread ? yarn_profile_text(profile_of(cell), thread->comm)
                                    : yarn_sched_view_foreign(cell->self, pair->holder.tid));
}

/* Of processes that were recorded. */
static void get_holder_process(struct yarn_show_cell *cell)
{
    const struct yarn_profile_thread *thread = holder_of(cell);
    uint32_t pid = thread ? profile_of(cell)->dumps[thread->dump].process.pid : 0;
    yarn_show_u64_if(cell, pid, pid);
}

static const struct yarn_profile_thread *waiter_of(const struct yarn_show_cell *cell)
{
    return &profile_of(cell)->threads[((const struct pair *)cell->row)->waiter];
}

static void get_waiter(struct yarn_show_cell *cell)
{
    yarn_show_u64(cell, waiter_of(cell)->tid);
}

static void get_waiter_comm(struct yarn_show_cell *cell)
{
    yarn_show_text(cell, yarn_profile_text(profile_of(cell), waiter_of(cell)->comm));
}

#define MEMBER(name) YARN_SHOW_MEMBER(struct pair, name)

static const struct yarn_show_column columns[] = {
    YARN_SHOW_COLUMN("holder", "TID", .get = get_holder, .width = 7),
    YARN_SHOW_COLUMN("holder_comm", "HAD THE CORE", .get = get_holder_comm, .align = YARN_SHOW_LEFT,
                     .gap = 2, .width = 15),
    YARN_SHOW_COLUMN("holder_pid", "PID", .get = get_holder_process, .width = 7),
    YARN_SHOW_COLUMN("waiter", "TID", .get = get_waiter, .gap = 2, .width = 7),
    YARN_SHOW_COLUMN("waiter_comm", "WAITED", .get = get_waiter_comm, .align = YARN_SHOW_LEFT,
                     .gap = 2, .width = 15),
    YARN_SHOW_COLUMN("waits", "WAITS", MEMBER(waits), .unit = YARN_SHOW_GROUPED, .width = 9),
    YARN_SHOW_COLUMN("ns", "TIME", MEMBER(ns), .unit = YARN_SHOW_NS, .width = 11),
    {0},
};

static const char *why_none(const struct yarn_sched_view *view)
{
    return view->sched->cores.count
               ? "none of these threads is known to have waited for a core\n"
               : "who was on the cores is not known: that needs YARN_SCHED=tracepoints:all, "
                 "CAP_PERFMON (or perf_event_paranoid -1) and a readable tracefs\n";
}

/* Samples of sched_switch of the whole machine: behind each there is somebody else on the core. */
static uint64_t count_lost(const struct yarn_profile *profile)
{
    uint64_t lost = 0;
    for (size_t i = 0; i < profile->nr_dumps; i++)
        for (size_t e = 0; e < profile->dumps[i].nr_events; e++)
            if (profile->dumps[i].events[e].record.flags & YARN_DUMP_EVENT_IS_OF_MACHINE)
                lost += profile->dumps[i].events[e].count.lost;
    return lost;
}

int yarn_sched_wait_for_core(const struct yarn_sched_view *view, const struct yarn_out *out)
{
    struct yarn_show_table table = {.out = out, .self = view, .parts = {columns}};
    struct collection all = {.view = view};
    if (view->sched->cores.count)
        collect(&all);
    if (!all.err && (all.count || out->format != YARN_OUT_TEXT))
        yarn_show_rows(&table, "wait_for_core", all.list, all.count, sizeof *all.list, view->limit);
    else if (!all.err)
        (void)fputs(why_none(view), out->file);
    uint64_t lost = count_lost(view->profile);
    if (lost && out->format == YARN_OUT_TEXT)
        (void)fprintf(out->file,
                      "%" PRIu64 " records of the machine were lost: some of this time "
                      "was another's\n",
                      lost);
    free(all.list);
    return all.err;
}
