/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "output/analysis/sched/lane.h"
#include "output/yarnprof/io/columns.h"
#include "output/yarnprof/io/numbers.h"
#include "output/yarnprof/views/sched.h"

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

static void print_head(const struct yarn_sched_view *view, const struct yarn_out *out, bool has_pid,
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

int yarn_sched_timeline_text(const struct yarn_sched_view *view, const struct yarn_out *out)
{
    bool has_pid = view->profile->nr_dumps > 1;
    size_t before = ID_COLUMNS + 3 + COMM_COLUMNS + (has_pid ? ID_COLUMNS : 0);
    size_t columns = out->columns ? (size_t)out->columns : PIPE_COLUMNS;
    size_t nr_cells = columns > before + LEAST_CELLS ? columns - before : LEAST_CELLS;
    nr_cells = yarn_size_min(nr_cells, MOST_CELLS);
    struct yarn_sched_cell *cells = calloc(nr_cells, sizeof *cells);
    if (!cells)
        return -ENOMEM;
    struct yarn_sched_lane lane =
        yarn_sched_lane_of(cells, (uint32_t)nr_cells, view->from_ns, view->to_ns);
    yarn_sched_head_text(view, out);
    print_head(view, out, has_pid, nr_cells);
    for (size_t i = 0; i < yarn_sched_view_count(view); i++) {
        const struct yarn_sched_row *row = &view->rows[i];
        memset(cells, 0, nr_cells * sizeof *cells);
        yarn_sched_lane_add(&lane, view->sched, row->life, view->from_ns, view->to_ns);
        if (has_pid)
            (void)fprintf(out->file, "%*u", ID_COLUMNS, yarn_sched_view_pid(view, row));
        (void)fprintf(out->file, "%*u  ", ID_COLUMNS, row->life->tid);
        yarn_print_cell(out, yarn_sched_view_comm(view, row), COMM_COLUMNS);
        (void)fputc(' ', out->file);
        size_t used = nr_cells;
        while (used && !life_of(&cells[used - 1]))
            used--;
        for (size_t j = 0; j < used; j++)
            (void)fputs(sign_of(&cells[j]), out->file);
        (void)fputc('\n', out->file);
    }
    yarn_sched_notes_text(view, out);
    free(cells);
    return 0;
}
