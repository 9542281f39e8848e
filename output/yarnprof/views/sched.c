/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/views/sched.h"

#include <stdlib.h>

#include "output/analysis/sched/lane.h"
#include "output/text/json.h"
#include "output/yarnprof/io/columns.h"
#include "output/yarnprof/io/numbers.h"
#include "output/yarnprof/show/table.h"

static int compare_rows(const void *a, const void *b)
{
    const struct yarn_sched_row *one = a, *other = b;
    return (one->life->owner > other->life->owner) - (one->life->owner < other->life->owner);
}

static bool is_in_window(const struct yarn_sched_view *view, const struct yarn_sched_life *life)
{
    return life->birth_ns <= view->to_ns && life->end_ns >= view->from_ns;
}

static void set_window(struct yarn_sched_view *view)
{
    uint64_t first_ns = UINT64_MAX, last_ns = 0;
    for (size_t i = 0; i < view->sched->nr_lives; i++) {
        first_ns = yarn_u64_min(first_ns, view->sched->lives[i].birth_ns);
        last_ns = yarn_u64_max(last_ns, view->sched->lives[i].end_ns);
    }
    view->from_ns = yarn_u64_max(view->sched->from_ns, yarn_u64_min(first_ns, last_ns));
    view->to_ns = yarn_u64_min(view->sched->to_ns, last_ns);
    view->to_ns = yarn_u64_max(view->to_ns, view->from_ns);
}

int yarn_sched_view_build(struct yarn_sched_view *view, const struct yarn_choice *choice)
{
    const struct yarn_sched_log *sched = view->sched;
    struct yarn_sched_scratch scratch = {0};
    view->rows = malloc((sched->nr_lives + 1) * sizeof *view->rows);
    int err = view->rows ? 0 : -ENOMEM;
    set_window(view);
    for (size_t i = 0; !err && i < sched->nr_lives; i++) {
        struct yarn_sched_row row = {.life = &sched->lives[i]};
        if (!choice->threads[row.life->owner] || !is_in_window(view, row.life))
            continue;
        err = yarn_sched_sums_of(sched, row.life, view->from_ns, view->to_ns, &scratch, &row.sums);
        view->rows[view->nr_rows++] = row;
    }
    if (!err && view->nr_rows)
        qsort(view->rows, view->nr_rows, sizeof *view->rows, compare_rows);
    yarn_sched_scratch_fini(&scratch);
    return err;
}

void yarn_sched_view_fini(struct yarn_sched_view *view)
{
    free(view->rows);
    view->rows = NULL;
    view->nr_rows = 0;
}

static size_t count_of(const struct yarn_sched_view *view)
{
    return view->limit ? yarn_size_min(view->limit, view->nr_rows) : view->nr_rows;
}

static const char *comm_of(const struct yarn_sched_view *view, const struct yarn_sched_row *row)
{
    return yarn_profile_text(view->profile, view->profile->threads[row->life->owner].comm);
}

const char *yarn_sched_view_foreign(const struct yarn_sched_view *view, uint32_t tid)
{
    if (!tid)
        return "<idle>";
    uint32_t comm = yarn_table_find(&view->profile->raw_comms, tid);
    return yarn_profile_text(view->profile, comm == YARN_TABLE_NONE ? 0 : comm);
}

static uint32_t pid_of(const struct yarn_sched_view *view, const struct yarn_sched_row *row)
{
    const struct yarn_profile *profile = view->profile;
    return profile->dumps[profile->threads[row->life->owner].dump].process.pid;
}

static uint64_t plus(uint64_t one, uint64_t other)
{
    return one > UINT64_MAX - other ? UINT64_MAX : one + other;
}

static struct yarn_sched_missing missing_of(const struct yarn_sched_view *view)
{
    struct yarn_sched_missing missing = {.refused = view->sched->nr_refused};
    const struct yarn_profile *profile = view->profile;
    uint32_t last = UINT32_MAX;
    for (size_t i = 0; i < profile->nr_dumps; i++) {
        const struct yarn_profile_dump *dump = &profile->dumps[i];
        missing.cut_ns = plus(missing.cut_ns, yarn_profile_dump_cut_ns(dump));
        missing.lost = plus(missing.lost, dump->trust.stored.value[YARN_DUMP_TOTAL_SWITCHES_LOST]);
    }
    for (size_t i = 0; i < view->nr_rows; i++) {
        const struct yarn_sched_row *row = &view->rows[i];
        missing.refused = plus(missing.refused, row->sums.refused);
        if (!row->life->is_recorded && row->life->space != last)
            missing.nr_unrecorded++;
        last = row->life->space;
    }
    return missing;
}

static const char *word_of_waits(const struct yarn_sched_view *view)
{
    enum yarn_sched_runnable_from from = YARN_SCHED_FROM_RECORDS;
    for (size_t i = 0; i < view->nr_rows; i++)
        from = view->rows[i].sums.runnable_from > from ? view->rows[i].sums.runnable_from : from;
    switch (from) {
    case YARN_SCHED_FROM_WAKING:
        return "waits by wakings";
    case YARN_SCHED_FROM_SCHEDSTAT:
        return "waits by schedstat";
    default:
        return "waits after births and preemptions only";
    }
}

static bool has_records(const struct yarn_sched_view *view)
{
    for (size_t i = 0; i < view->nr_rows; i++)
        if (view->rows[i].life->is_recorded)
            return true;
    return false;
}

static void print_head(const struct yarn_sched_view *view, const struct yarn_out *out)
{
    const struct yarn_profile *profile = view->profile;
    (void)fputs(yarn_out_paint(out, YARN_PAINT_HEAD), out->file);
    if (profile->nr_dumps == 1) {
        yarn_print_cut(out, yarn_profile_text(profile, profile->dumps[0].program), 0);
        (void)fprintf(out->file, ", pid %u", profile->dumps[0].process.pid);
    } else {
        (void)fputs(yarn_number_of_things(profile->nr_dumps, "dump").text, out->file);
    }
    (void)fprintf(out->file, ", %s, %s; ", yarn_number_duration(view->to_ns - view->from_ns).text,
                  yarn_number_of_things(view->nr_rows, "thread").text);
    if (has_records(view))
        (void)fprintf(out->file, "switches by the kernel's records, %s", word_of_waits(view));
    else
        (void)fputs("no switches were recorded", out->file);
    (void)fprintf(out->file, "%s\n\n", yarn_out_plain(out));
}

static bool begins(struct yarn_span text, const char *with)
{
    size_t size = strlen(with);
    return text.size >= size && memcmp(text.data, with, size) == 0;
}

/* A dump that was refused more has its own sentence for it. */
static const char *what_wakings_are_missing(const struct yarn_profile *profile)
{
    bool are_refused = false, are_own = false;
    for (size_t i = 0; i < profile->nr_dumps; i++) {
        const struct yarn_profile_dump *dump = &profile->dumps[i];
        are_own |= dump->has_sched && begins(dump->sched.got, "tracepoints");
        are_refused |= dump->has_sched && dump->sched.reason.size;
    }
    return are_own
               ? "waits after a wake-up are in WAIT where a thread of these dumps woke, else in "
                 "RUNNABLE only (YARN_SCHED=tracepoints:all records every waking)"
           : are_refused
               ? "waits after a wake-up are in RUNNABLE, not in WAIT: no wakings are in these dumps"
               : "waits after a wake-up are in RUNNABLE, not in WAIT: no wakings were recorded "
                 "(YARN_SCHED=tracepoints:all)";
}

static void note_waits(const struct yarn_sched_view *view, const struct yarn_out *out)
{
    bool has_schedstat = false, has_records_only = false;
    for (size_t i = 0; i < view->nr_rows; i++) {
        enum yarn_sched_runnable_from from = view->rows[i].sums.runnable_from;
        has_schedstat |= from == YARN_SCHED_FROM_SCHEDSTAT;
        has_records_only |= from == YARN_SCHED_FROM_RECORDS && view->rows[i].life->is_recorded;
    }
    if (has_schedstat)
        (void)fprintf(out->file, "note: %s\n", what_wakings_are_missing(view->profile));
    if (has_records_only && !view->sched->nr_readings)
        (void)fputs("note: waits after a wake-up are in BLOCKED: neither wakings nor schedstat "
                    "were recorded\n",
                    out->file);
}

static bool is_same_refusal(const struct yarn_profile_dump *one,
                            const struct yarn_profile_dump *other)
{
    return one->has_sched && yarn_span_equal(one->sched.reason, other->sched.reason);
}

/* What dumps say of why: each sentence once, with how many say it or whose it is. */
static void note_refusals(const struct yarn_sched_view *view, const struct yarn_out *out)
{
    const struct yarn_profile *profile = view->profile;
    for (size_t i = 0; i < profile->nr_dumps; i++) {
        const struct yarn_profile_dump *dump = &profile->dumps[i];
        size_t before = 0, count = 1;
        if (!dump->has_sched || !dump->sched.reason.size)
            continue;
        while (before < i && !is_same_refusal(&profile->dumps[before], dump))
            before++;
        if (before < i)
            continue;
        for (size_t k = i + 1; k < profile->nr_dumps; k++)
            count += is_same_refusal(&profile->dumps[k], dump);
        (void)fputs("note: ", out->file);
        if (count > 1 && count < profile->nr_dumps)
            (void)fprintf(out->file, "%s: ", yarn_number_of_things(count, "dump").text);
        else if (count < profile->nr_dumps)
            (void)fprintf(out->file, "pid %u: ", dump->process.pid);
        yarn_print_cut(out, (const char *)dump->sched.reason.data, 0);
        (void)fputc('\n', out->file);
    }
}

static void print_notes(const struct yarn_sched_view *view, const struct yarn_out *out)
{
    struct yarn_sched_missing missing = missing_of(view);
    (void)fputc('\n', out->file);
    if (missing.nr_unrecorded)
        yarn_out_warn(out, "of %s no switches were recorded (YARN_SCHED): their time is unknown",
                      yarn_number_of_things(missing.nr_unrecorded, "dump").text);
    if (missing.cut_ns)
        yarn_out_warn(
            out,
            "switches were cut out for %s, as they were too many: what threads did then is known "
            "in sum at most",
            yarn_number_duration(missing.cut_ns).text);
    if (missing.lost)
        yarn_out_warn(out, "%s lost: what threads did meanwhile is known in sum at most",
                      yarn_number_of_things(missing.lost, "switch record").text);
    if (missing.refused)
        yarn_out_warn(out, "%s left out: they contradict others",
                      yarn_number_of_things(missing.refused, "span").text);
    note_refusals(view, out);
    note_waits(view, out);
}

enum { PARTS_A_LIFE = 200 }; /* a column appears where it passes 0.5 percent of a life */

/* What the table is of, and which columns text has of it. */
struct threads {
    const struct yarn_sched_view *view;
    bool has_switching, has_unknown;
};

static void get_pid(struct yarn_show_cell *cell)
{
    const struct threads *threads = cell->self;
    yarn_show_u64(cell, pid_of(threads->view, cell->row));
}

static void get_tid(struct yarn_show_cell *cell)
{
    const struct yarn_sched_row *row = cell->row;
    yarn_show_u64(cell, row->life->tid);
}

static void get_comm(struct yarn_show_cell *cell)
{
    const struct threads *threads = cell->self;
    yarn_show_text(cell, comm_of(threads->view, cell->row));
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
    if (((const struct yarn_sched_row *)cell->row)->sums.waits.count)
        yarn_show_member(cell);
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

static void show_threads(const struct yarn_sched_view *view, const struct yarn_out *out)
{
    struct threads threads = {.view = view};
    struct yarn_show_table table = {.out = out, .self = &threads, .parts = {columns}};
    for (size_t i = 0; i < count_of(view); i++) {
        const struct yarn_sched_sums *sums = &view->rows[i].sums;
        threads.has_switching |= sums->switching_ns > sums->life_ns / PARTS_A_LIFE;
        threads.has_unknown |= sums->unknown_ns > sums->life_ns / PARTS_A_LIFE;
    }
    if (out->format == YARN_OUT_TEXT)
        print_head(view, out);
    yarn_show_rows(&table, "threads", view->rows, view->nr_rows, sizeof *view->rows, view->limit);
    if (out->format == YARN_OUT_TEXT)
        print_notes(view, out);
}

enum {
    ID_COLUMNS = 7,
    COMM_COLUMNS = 15,
    LEAST_CELLS = 20,
    PIPE_COLUMNS = 100,
    MOST_CELLS = 1000,
    EIGHTHS = 8,
    MARKS = 2, /* a time stands at each half */
};

static uint64_t life_of(const struct yarn_sched_cell *cell)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < YARN_SCHED_STATES; i++)
        sum += cell->states[i];
    return sum;
}

/* What it did most; running as eighths of the time that it lived. */
static const char *sign_of(const struct yarn_sched_cell *cell)
{
    static const char *const blocks[EIGHTHS + 1] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    uint64_t life_ns = life_of(cell), running_ns = cell->states[YARN_SCHED_RUNNING];
    uint64_t eighths = (uint64_t)((double)running_ns / (double)(life_ns + !life_ns) * EIGHTHS + .5);
    if (!life_ns)
        return " ";
    if (cell->states[YARN_SCHED_UNKNOWN] > life_ns / 2)
        return "?";
    if (eighths)
        return blocks[yarn_u64_min(eighths, EIGHTHS)];
    return cell->states[YARN_SCHED_RUNNABLE] > cell->states[YARN_SCHED_BLOCKED] ? "░" : "·";
}

static void print_time(const struct yarn_out *out, double seconds, size_t width)
{
    char text[32];
    (void)snprintf(text, sizeof text, seconds > 0 ? "%.*f s" : "0 s", seconds < 100 ? 2 : 0,
                   seconds);
    (void)fprintf(out->file, "%-*s", (int)width, text);
}

static void print_axis(const struct yarn_sched_view *view, const struct yarn_out *out, bool has_pid,
                       size_t nr_cells)
{
    uint64_t start_ns = view->profile->start_ns;
    double from = (double)yarn_u64_minus(view->from_ns, start_ns) / 1e9;
    double length = (double)(view->to_ns - view->from_ns) / 1e9;
    char last[32];
    if (has_pid)
        (void)fprintf(out->file, "%*s", ID_COLUMNS, "PID");
    (void)fprintf(out->file, "%*s  %-*s ", ID_COLUMNS, "TID", COMM_COLUMNS, "THREAD");
    for (size_t i = 0; i < MARKS; i++)
        print_time(out, from + length * (double)i / MARKS,
                   i ? nr_cells / MARKS - 6 : nr_cells / MARKS);
    (void)snprintf(last, sizeof last, "%.2f s", from + length);
    (void)fprintf(out->file, "%s\n", last);
}

static int print_timeline(const struct yarn_sched_view *view, const struct yarn_out *out)
{
    bool has_pid = view->profile->nr_dumps > 1;
    size_t before = ID_COLUMNS + 3 + COMM_COLUMNS + (has_pid ? ID_COLUMNS : 0);
    size_t width = out->columns ? (size_t)out->columns : PIPE_COLUMNS;
    size_t nr_cells = width > before + LEAST_CELLS ? width - before : LEAST_CELLS;
    nr_cells = yarn_size_min(nr_cells, MOST_CELLS);
    struct yarn_sched_cell *cells = calloc(nr_cells, sizeof *cells);
    if (!cells)
        return -ENOMEM;
    struct yarn_sched_lane lane =
        yarn_sched_lane_of(cells, (uint32_t)nr_cells, view->from_ns, view->to_ns);
    print_head(view, out);
    print_axis(view, out, has_pid, nr_cells);
    for (size_t i = 0; i < count_of(view); i++) {
        const struct yarn_sched_row *row = &view->rows[i];
        memset(cells, 0, nr_cells * sizeof *cells);
        yarn_sched_lane_add(&lane, view->sched, row->life, view->from_ns, view->to_ns);
        if (has_pid)
            (void)fprintf(out->file, "%*u", ID_COLUMNS, pid_of(view, row));
        (void)fprintf(out->file, "%*u  ", ID_COLUMNS, row->life->tid);
        yarn_print_cell(out, comm_of(view, row), COMM_COLUMNS);
        (void)fputc(' ', out->file);
        size_t used = nr_cells;
        while (used && !life_of(&cells[used - 1]))
            used--;
        for (size_t j = 0; j < used; j++)
            (void)fputs(sign_of(&cells[j]), out->file);
        (void)fputc('\n', out->file);
    }
    print_notes(view, out);
    free(cells);
    return 0;
}

static void put_notes(const struct yarn_sched_view *view, struct yarn_json *json)
{
    struct yarn_sched_missing missing = missing_of(view);
    yarn_json_begin_object(json, "notes");
    yarn_json_u64(json, "cut_ns", missing.cut_ns);
    yarn_json_u64(json, "switches_lost", missing.lost);
    yarn_json_u64(json, "refused", missing.refused);
    yarn_json_u64(json, "processes_without_switches", missing.nr_unrecorded);
    yarn_json_end_object(json);
}

static int put_json(const struct yarn_sched_view *view, const struct yarn_out *out)
{
    int err = 0;
    show_threads(view, out);
    if (view->has_wakers)
        err = yarn_sched_wakers(view, out);
    if (!err && view->has_wakers)
        err = yarn_sched_locks(view, out);
    if (!err && view->has_cores)
        err = yarn_sched_wait_for_core(view, out);
    if (!err && view->streams)
        yarn_stream_list_json(view->streams, view->shown, out);
    put_notes(view, out->json);
    return err;
}

int yarn_sched_print(const struct yarn_sched_view *view, const struct yarn_out *out)
{
    if (out->json)
        return put_json(view, out);
    if (view->has_cores)
        return yarn_sched_wait_for_core(view, out);
    if (view->has_wakers) {
        int err = yarn_sched_wakers(view, out);
        return err || out->format == YARN_OUT_CSV ? err : yarn_sched_locks(view, out);
    }
    if (out->format == YARN_OUT_TEXT && view->is_timeline)
        return print_timeline(view, out);
    if (view->streams)
        yarn_stream_list_print(view->streams, view->shown, out);
    else
        show_threads(view, out);
    return 0;
}
