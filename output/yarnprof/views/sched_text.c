/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/io/columns.h"
#include "output/yarnprof/io/numbers.h"
#include "output/yarnprof/views/sched.h"

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
            "threads did then is known in sum at most",
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
