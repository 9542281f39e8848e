/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>

#include "output/base/array.h"
#include "output/yarnprof/io/numbers.h"
#include "output/yarnprof/show/table.h"
#include "output/yarnprof/views/sched.h"

/* A thread waited for a core, and another had it meanwhile; the same of all waits. By process any
 * of their threads stands for them. */
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

static uint32_t dump_of(const struct yarn_sched_view *view, uint32_t thread)
{
    return thread == UINT32_MAX ? YARN_DUMP_NONE : view->profile->threads[thread].dump;
}

static int order_numbers(uint32_t one, uint32_t other)
{
    return (one > other) - (one < other);
}

static bool is_unknown(struct yarn_sched_comer who)
{
    return who.owner == UINT32_MAX && who.tid == UINT32_MAX;
}

static const char *name_of_foreign(const struct yarn_sched_view *view, struct yarn_sched_comer who)
{
    return is_unknown(who) ? "[unknown]" : yarn_sched_view_foreign(view, who.tid);
}

/* Of processes that were not recorded only the names of their threads are known. */
static int order_holders(const struct yarn_sched_view *view, struct yarn_sched_comer one,
                         struct yarn_sched_comer other)
{
    if (!view->is_by_process)
        return one.owner != other.owner ? order_numbers(one.owner, other.owner)
                                        : order_numbers(one.tid, other.tid);
    uint32_t dumps[] = {dump_of(view, one.owner), dump_of(view, other.owner)};
    if (dumps[0] != dumps[1] || dumps[0] != YARN_DUMP_NONE)
        return order_numbers(dumps[0], dumps[1]);
    return strcmp(name_of_foreign(view, one), name_of_foreign(view, other));
}

static void add_holder(void *self, struct yarn_sched_comer who, uint64_t ns)
{
    struct collection *all = self;
    /* Why asked: its own record of coming in is a moment behind the core's. */
    if (who.owner == all->waiter)
        return;
    for (size_t i = all->first_of_wait; i < all->count; i++) {
        if (!order_holders(all->view, all->list[i].holder, who)) {
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

static int order_pairs(const struct yarn_sched_view *view, const struct pair *one,
                       const struct pair *other)
{
    int order = view->is_by_process
                    ? order_numbers(dump_of(view, one->waiter), dump_of(view, other->waiter))
                    : order_numbers(one->waiter, other->waiter);
    return order ? order : order_holders(view, one->holder, other->holder);
}

static bool by_pair(const void *self, const void *one, const void *other)
{
    return order_pairs(self, one, other) < 0;
}

static bool by_time(const void *self, const void *a, const void *b)
{
    const struct pair *one = a, *other = b;
    return one->ns != other->ns ? one->ns > other->ns : by_pair(self, a, b);
}

/* Waits of one pair become one row. */
static int join(struct collection *all)
{
    size_t count = 0;
    int err = YARN_ARRAY_SORT(&all->list, &all->capacity, all->count, by_pair, all->view);
    for (size_t i = 0; !err && i < all->count; i++) {
        if (!count || order_pairs(all->view, &all->list[count - 1], &all->list[i])) {
            all->list[count++] = all->list[i];
            continue;
        }
        all->list[count - 1].ns += all->list[i].ns;
        all->list[count - 1].waits += all->list[i].waits;
    }
    all->count = count;
    return err ? err : YARN_ARRAY_SORT(&all->list, &all->capacity, count, by_time, all->view);
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
    if (!all->err)
        all->err = join(all);
}

/* ---- shown ---- */

static const struct yarn_sched_view *view_of(const struct yarn_show_cell *cell)
{
    return cell->self;
}

static const struct yarn_profile_thread *holder_of(const struct yarn_show_cell *cell)
{
    const struct pair *pair = cell->row;
    return pair->holder.owner == UINT32_MAX ? NULL
                                            : &view_of(cell)->profile->threads[pair->holder.owner];
}

static void get_holder(struct yarn_show_cell *cell)
{
    const struct yarn_profile_thread *thread = holder_of(cell);
    const struct pair *pair = cell->row;
    uint32_t tid = thread ? thread->tid : pair->holder.tid;
    yarn_show_u64_if(cell, !view_of(cell)->is_by_process && tid != UINT32_MAX, tid);
}

/* Of the thread, or of its process. */
static const char *name_of(const struct yarn_sched_view *view,
                           const struct yarn_profile_thread *thread)
{
    return yarn_profile_text(view->profile, view->is_by_process
                                                ? view->profile->dumps[thread->dump].program
                                                : thread->comm);
}

static void get_holder_comm(struct yarn_show_cell *cell)
{
    const struct yarn_profile_thread *thread = holder_of(cell);
    const struct pair *pair = cell->row;
    yarn_show_text(cell, thread ? name_of(view_of(cell), thread)
                                : name_of_foreign(view_of(cell), pair->holder));
}

/* Of processes that were recorded. */
static void get_holder_process(struct yarn_show_cell *cell)
{
    const struct yarn_profile_thread *thread = holder_of(cell);
    uint32_t pid = thread ? view_of(cell)->profile->dumps[thread->dump].process.pid : 0;
    yarn_show_u64_if(cell, pid, pid);
}

static const struct yarn_profile_thread *waiter_of(const struct yarn_show_cell *cell)
{
    return &view_of(cell)->profile->threads[((const struct pair *)cell->row)->waiter];
}

static void get_waiter(struct yarn_show_cell *cell)
{
    yarn_show_u64_if(cell, !view_of(cell)->is_by_process, waiter_of(cell)->tid);
}

static void get_waiter_comm(struct yarn_show_cell *cell)
{
    yarn_show_text(cell, name_of(view_of(cell), waiter_of(cell)));
}

static void get_waiter_process(struct yarn_show_cell *cell)
{
    yarn_show_u64(cell, view_of(cell)->profile->dumps[waiter_of(cell)->dump].process.pid);
}

#define MEMBER(name) YARN_SHOW_MEMBER(struct pair, name)

#define HOLDER                                                                                     \
    YARN_SHOW_COLUMN("holder_comm", "HAD THE CORE", .get = get_holder_comm,                        \
                     .align = YARN_SHOW_LEFT, .gap = 2, .width = 15),                              \
        YARN_SHOW_COLUMN("holder_pid", "PID", .get = get_holder_process, .width = 7)
#define WAITER                                                                                     \
    YARN_SHOW_COLUMN("waiter_comm", "WAITED", .get = get_waiter_comm, .align = YARN_SHOW_LEFT,     \
                     .gap = 2, .width = 15)
#define SUMS                                                                                       \
    YARN_SHOW_COLUMN("waits", "WAITS", MEMBER(waits), .unit = YARN_SHOW_GROUPED, .width = 9),      \
        YARN_SHOW_COLUMN("ns", "TIME", MEMBER(ns), .unit = YARN_SHOW_NS, .width = 11)

static const struct yarn_show_column columns[] = {
    YARN_SHOW_COLUMN("holder", "TID", .get = get_holder, .width = 7),
    HOLDER,
    YARN_SHOW_COLUMN("waiter", "TID", .get = get_waiter, .gap = 2, .width = 7),
    WAITER,
    SUMS,
    YARN_SHOW_COLUMN("waiter_pid", NULL, .get = get_waiter_process),
    {0},
};

static const struct yarn_show_column columns_by_process[] = {
    HOLDER, WAITER, YARN_SHOW_COLUMN("waiter_pid", "PID", .get = get_waiter_process, .width = 7),
    SUMS,   {0},
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
    bool is_text = out->format == YARN_OUT_TEXT;
    struct yarn_show_table table = {
        .out = out,
        .self = view,
        .parts = {view->is_by_process && is_text ? columns_by_process : columns},
    };
    struct collection all = {.view = view};
    if (view->sched->cores.count)
        collect(&all);
    if (!all.err && (all.count || !is_text))
        yarn_show_rows(&table, "wait_for_core", all.list, all.count, sizeof *all.list, view->limit);
    else if (!all.err)
        (void)fputs(why_none(view), out->file);
    uint64_t lost = count_lost(view->profile);
    if (is_text && view->limit && all.count > view->limit)
        (void)fprintf(out->file, "… and %s; --limit=0 shows all\n",
                      yarn_number_of_things(all.count - view->limit, "more row").text);
    if (lost && is_text)
        (void)fprintf(out->file,
                      "%" PRIu64 " records of the machine were lost: some of this time "
                      "was another's\n",
                      lost);
    free(all.list);
    return all.err;
}
