/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/show/table.h"
#include "output/yarnprof/views/sched.h"

enum { PARTS_A_LIFE = 200 }; /* a column appears where it passes 0.5 percent of a life */

/* What the table is of, and which columns text has of it. */
struct threads {
    const struct yarn_sched_view *view;
    bool has_switching, has_unknown;
};

static void get_pid(struct yarn_show_cell *cell)
{
    const struct threads *threads = cell->self;
    yarn_show_u64(cell, yarn_sched_view_pid(threads->view, cell->row));
}

static void get_tid(struct yarn_show_cell *cell)
{
    const struct yarn_sched_row *row = cell->row;
    yarn_show_u64(cell, row->life->tid);
}

static void get_comm(struct yarn_show_cell *cell)
{
    const struct threads *threads = cell->self;
    yarn_show_text(cell, yarn_sched_view_comm(threads->view, cell->row));
}

static void get_runnable_from(struct yarn_show_cell *cell)
{
    static const char *const words[] = {
        [YARN_SCHED_FROM_RECORDS] = "records",
        [YARN_SCHED_FROM_SCHEDSTAT] = "schedstat",
        [YARN_SCHED_FROM_WAKING] = "waking",
    };
    const struct yarn_sched_row *row = cell->row;
    yarn_show_text(cell, words[row->sums.runnable_from]);
}

/* The column's member, which only waits have. */
static void get_wait(struct yarn_show_cell *cell)
{
    const struct yarn_sched_row *row = cell->row;
    const uint64_t *member = (const void *)((const char *)cell->row + cell->column->member);
    yarn_show_u64_if(cell, row->sums.waits.count, *member);
}

static void get_longest_at(struct yarn_show_cell *cell)
{
    const struct threads *threads = cell->self;
    const struct yarn_sched_waits *waits = &((const struct yarn_sched_row *)cell->row)->sums.waits;
    yarn_show_u64_if(cell, waits->count,
                     yarn_u64_minus(waits->longest_at_ns, threads->view->profile->start_ns));
}

static bool has_pid(const void *self)
{
    return ((const struct threads *)self)->view->profile->nr_dumps > 1;
}

static bool has_switching(const void *self)
{
    return ((const struct threads *)self)->has_switching;
}

static bool has_unknown(const void *self)
{
    return ((const struct threads *)self)->has_unknown;
}

#define SUM(name) YARN_SHOW_MEMBER(struct yarn_sched_row, sums.name)
#define NS(columns) .unit = YARN_SHOW_NS, .width = columns
#define GROUPED(columns) .unit = YARN_SHOW_GROUPED, .width = columns

static const struct yarn_show_column columns[] = {
    YARN_SHOW_COLUMN("pid", "PID", .get = get_pid, .width = 7, .is_wanted = has_pid),
    YARN_SHOW_COLUMN("tid", "TID", .get = get_tid, .width = 7),
    YARN_SHOW_COLUMN("comm", "THREAD", .get = get_comm, .align = YARN_SHOW_LEFT, .gap = 2,
                     .width = 15),
    YARN_SHOW_COLUMN("life_ns", "LIFE", SUM(life_ns), NS(10)),
    YARN_SHOW_COLUMN("runnable_from", NULL, .get = get_runnable_from),
    YARN_SHOW_COLUMN("running_ns", "RUNNING", SUM(running_ns), NS(10)),
    YARN_SHOW_COLUMN(NULL, "SWITCHING", SUM(switching_ns), NS(10), .is_wanted = has_switching),
    YARN_SHOW_COLUMN("runnable_ns", "RUNNABLE", SUM(runnable_ns), NS(10)),
    YARN_SHOW_COLUMN("blocked_ns", "BLOCKED", SUM(blocked_ns), NS(10)),
    YARN_SHOW_COLUMN("switching_ns", NULL, SUM(switching_ns)),
    YARN_SHOW_COLUMN("unknown_ns", "UNKNOWN", SUM(unknown_ns), NS(10), .is_wanted = has_unknown),
    YARN_SHOW_COLUMN("switches", "SWITCHES", SUM(switches), GROUPED(10)),
    YARN_SHOW_COLUMN("preemptions", "PREEMPTED", SUM(preemptions), GROUPED(11)),
    YARN_SHOW_COLUMN("wakeups", NULL, SUM(wakeups)),
    YARN_SHOW_COLUMN("migrations", NULL, SUM(migrations)),
    YARN_SHOW_COLUMN("waits", NULL, SUM(waits.count)),
    YARN_SHOW_COLUMN("wait_ns_mean", "WAIT mean", .get = get_wait, SUM(waits.mean_ns), NS(11)),
    YARN_SHOW_COLUMN("wait_ns_p99", "p99", .get = get_wait, SUM(waits.p99_ns), NS(10)),
    YARN_SHOW_COLUMN("wait_ns_max", "max", .get = get_wait, SUM(waits.max_ns), NS(10)),
    YARN_SHOW_COLUMN("wait_max_at_ns", "AT", .get = get_longest_at, .unit = YARN_SHOW_MOMENT,
                     .width = 10),
    {0},
};

void yarn_sched_threads(const struct yarn_sched_view *view, const struct yarn_out *out,
                        struct yarn_json *json)
{
    struct threads threads = {.view = view};
    struct yarn_show_table table = {.out = out, .json = json, .self = &threads, .parts = {columns}};
    for (size_t i = 0; i < yarn_sched_view_count(view); i++) {
        const struct yarn_sched_sums *sums = &view->rows[i].sums;
        threads.has_switching |= sums->switching_ns > sums->life_ns / PARTS_A_LIFE;
        threads.has_unknown |= sums->unknown_ns > sums->life_ns / PARTS_A_LIFE;
    }
    if (out->format == YARN_OUT_TEXT)
        yarn_sched_head_text(view, out);
    yarn_show_rows(&table, "threads", view->rows, view->nr_rows, sizeof *view->rows, view->limit);
    if (out->format == YARN_OUT_TEXT)
        yarn_sched_notes_text(view, out);
}
