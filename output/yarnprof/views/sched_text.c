/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "output/yarnprof/stream/columns.h"
#include "output/yarnprof/stream/numbers.h"
#include "output/yarnprof/views/sched.h"

enum {
    COMM_COLUMNS = 15,
    DURATION_COLUMNS = 10,
    NUMBER_COLUMNS = 10,
    ID_COLUMNS = 7,
    PARTS_A_COLUMN = 200, /* of a life: a column appears where it passes 0.5 percent */
};

/* Which columns there are. */
struct shape {
    bool has_pid, has_switching, has_unknown;
};

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

void yarn_sched_head_text(const struct yarn_sched_view *view, const struct yarn_out *out)
{
    const struct yarn_profile *profile = view->profile;
    (void)fputs(yarn_out_paint(out, YARN_PAINT_HEAD), out->file);
    if (profile->nr_dumps == 1) {
        yarn_print_cut(out, yarn_profile_text(profile, profile->dumps[0].comm), 0);
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

static struct shape shape_of(const struct yarn_sched_view *view)
{
    struct shape shape = {.has_pid = view->profile->nr_dumps > 1};
    for (size_t i = 0; i < yarn_sched_view_count(view); i++) {
        const struct yarn_sched_sums *sums = &view->rows[i].sums;
        shape.has_switching |= sums->switching_ns > sums->life_ns / PARTS_A_COLUMN;
        shape.has_unknown |= sums->unknown_ns > sums->life_ns / PARTS_A_COLUMN;
    }
    return shape;
}

static void print_head(const struct shape *shape, const struct yarn_out *out)
{
    FILE *file = out->file;
    if (shape->has_pid)
        (void)fprintf(file, "%*s", ID_COLUMNS, "PID");
    (void)fprintf(file, "%*s  %-*s%*s%*s", ID_COLUMNS, "TID", COMM_COLUMNS, "THREAD",
                  DURATION_COLUMNS, "LIFE", DURATION_COLUMNS, "RUNNING");
    if (shape->has_switching)
        (void)fprintf(file, "%*s", DURATION_COLUMNS, "SWITCHING");
    (void)fprintf(file, "%*s%*s", DURATION_COLUMNS, "RUNNABLE", DURATION_COLUMNS, "BLOCKED");
    if (shape->has_unknown)
        (void)fprintf(file, "%*s", DURATION_COLUMNS, "UNKNOWN");
    (void)fprintf(file, "%*s%*s%*s%*s%*s%*s\n", NUMBER_COLUMNS, "SWITCHES", NUMBER_COLUMNS + 1,
                  "PREEMPTED", DURATION_COLUMNS + 1, "WAIT mean", DURATION_COLUMNS, "p99",
                  DURATION_COLUMNS, "max", DURATION_COLUMNS, "AT");
}

static void print_duration(const struct yarn_out *out, uint64_t ns)
{
    (void)fprintf(out->file, "%*s", DURATION_COLUMNS, yarn_number_duration(ns).text);
}

static void print_waits(const struct yarn_sched_view *view, const struct yarn_sched_waits *waits,
                        const struct yarn_out *out)
{
    uint64_t at_ns = yarn_u64_minus(waits->longest_at_ns, view->profile->start_ns);
    if (!waits->count) {
        (void)fprintf(out->file, "%*s%*s%*s%*s", DURATION_COLUMNS + 1, "-", DURATION_COLUMNS, "-",
                      DURATION_COLUMNS, "-", DURATION_COLUMNS, "-");
        return;
    }
    (void)fputc(' ', out->file);
    print_duration(out, waits->mean_ns);
    print_duration(out, waits->p99_ns);
    print_duration(out, waits->max_ns);
    (void)fprintf(out->file, "%*.3f s", DURATION_COLUMNS - 2, (double)at_ns / 1e9);
}

static void print_row(const struct yarn_sched_view *view, const struct shape *shape,
                      const struct yarn_sched_row *row, const struct yarn_out *out)
{
    const struct yarn_sched_sums *sums = &row->sums;
    if (shape->has_pid)
        (void)fprintf(out->file, "%*u", ID_COLUMNS, yarn_sched_view_pid(view, row));
    (void)fprintf(out->file, "%*u  ", ID_COLUMNS, row->life->tid);
    yarn_print_cell(out, yarn_sched_view_comm(view, row), COMM_COLUMNS);
    print_duration(out, sums->life_ns);
    print_duration(out, sums->running_ns);
    if (shape->has_switching)
        print_duration(out, sums->switching_ns);
    print_duration(out, sums->runnable_ns);
    print_duration(out, sums->blocked_ns);
    if (shape->has_unknown)
        print_duration(out, sums->unknown_ns);
    (void)fprintf(out->file, "%*s%*s", NUMBER_COLUMNS, yarn_number_grouped(sums->switches).text,
                  NUMBER_COLUMNS + 1, yarn_number_grouped(sums->preemptions).text);
    print_waits(view, &sums->waits, out);
    (void)fputc('\n', out->file);
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
    if (has_records_only)
        (void)fprintf(out->file,
                      "note: %swaits after a wake-up are in BLOCKED: neither wakings nor schedstat "
                      "were recorded%s\n",
                      has_schedstat ? "some " : "", has_schedstat ? " of some threads" : "");
}

/* What each dump says of why. */
static void note_refusals(const struct yarn_sched_view *view, const struct yarn_out *out)
{
    const struct yarn_profile *profile = view->profile;
    for (size_t i = 0; i < profile->nr_dumps; i++) {
        const struct yarn_dump_sched *sched = &profile->dumps[i].sched;
        if (!profile->dumps[i].has_sched || !sched->reason.size)
            continue;
        (void)fputs("note: ", out->file);
        if (profile->nr_dumps > 1)
            (void)fprintf(out->file, "pid %u: ", profile->dumps[i].process.pid);
        yarn_print_cut(out, (const char *)sched->reason.data, 0);
        (void)fputc('\n', out->file);
    }
}

void yarn_sched_notes_text(const struct yarn_sched_view *view, const struct yarn_out *out)
{
    struct yarn_sched_missing missing = yarn_sched_view_missing(view);
    (void)fputc('\n', out->file);
    if (missing.nr_unrecorded)
        yarn_out_warn(out, "of %s no switches were recorded (YARN_SCHED): their time is unknown",
                      yarn_number_of_things(missing.nr_unrecorded, "dump").text);
    if (missing.cut_ns)
        yarn_out_warn(
            out,
            "switches were cut out for %s, while there were more than YARN_SCHED allows: what "
            "threads did then is unknown",
            yarn_number_duration(missing.cut_ns).text);
    if (missing.lost)
        yarn_out_warn(out, "%s lost: what follows each is unknown until the thread's next",
                      yarn_number_of_things(missing.lost, "switch record").text);
    if (missing.refused)
        yarn_out_warn(out, "%s left out: they contradict others",
                      yarn_number_of_things(missing.refused, "span").text);
    note_refusals(view, out);
    note_waits(view, out);
}

void yarn_sched_text(const struct yarn_sched_view *view, const struct yarn_out *out)
{
    struct shape shape = shape_of(view);
    yarn_sched_head_text(view, out);
    print_head(&shape, out);
    for (size_t i = 0; i < yarn_sched_view_count(view); i++)
        print_row(view, &shape, &view->rows[i], out);
    yarn_sched_notes_text(view, out);
}
