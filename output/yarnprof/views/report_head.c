/* SPDX-License-Identifier: Apache-2.0 */
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "output/analysis/profile/event_status.h"
#include "output/analysis/profile/unnamed.h"
#include "output/analysis/time/completeness.h"
#include "output/analysis/time/coverage.h"
#include "output/analysis/time/kernel_time.h"
#include "output/analysis/time/unsampled.h"
#include "output/yarnprof/io/columns.h"
#include "output/yarnprof/io/numbers.h"
#include "output/yarnprof/options/command_line.h"
#include "output/yarnprof/views/report.h"

/* By the kernel's count; a recording that broke off has only the sum over its events. */
static uint64_t lost_of_dump(const struct yarn_profile_dump *dump, uint32_t number)
{
    uint64_t lost = 0;
    bool has_count = false;
    size_t nr_opened = 0;
    for (size_t i = 0; i < dump->nr_events; i++) {
        const struct yarn_profile_dump_event *event = &dump->events[i];
        nr_opened += event->record.name.size && !event->record.error;
        if (event->event == number && event->has_count) {
            lost += event->count.lost;
            has_count = true;
        }
    }
    if (nr_opened == 1 || !has_count)
        lost = yarn_u64_max(lost, nr_opened == 1 ? dump->trust.lost : 0);
    return lost;
}

bool yarn_report_overshoots(const struct yarn_profile_report *report, uint32_t number,
                            uint64_t *ret_count)
{
    const struct yarn_profile *profile = report->profile;
    bool has_all = !report->is_part;
    *ret_count = 0;
    for (size_t i = 0; i < profile->nr_dumps; i++) {
        const struct yarn_profile_dump *dump = &profile->dumps[i];
        for (size_t e = 0; e < dump->nr_events; e++) {
            const struct yarn_profile_dump_event *event = &dump->events[e];
            if (event->event != number || !event->samples)
                continue;
            has_all =
                has_all && event->has_count && event->record.flags & YARN_DUMP_EVENT_IS_FREQUENCY;
            *ret_count += event->count.count;
        }
    }
    return has_all && profile->events[number].total > *ret_count + *ret_count / 50;
}

struct yarn_report_missing yarn_report_missing_of(const struct yarn_profile_report *report,
                                                  uint32_t number)
{
    const struct yarn_profile *profile = report->profile;
    struct yarn_report_missing missing = {0};
    for (size_t i = 0; i < profile->nr_dumps; i++)
        missing.lost += lost_of_dump(&profile->dumps[i], number);
    missing.lost_weight = missing.lost * profile->events[number].period;
    if (yarn_kernel_time_event(profile) != number)
        return missing;
    missing.kernel_ns = report->trust.kernel_ns;
    missing.unsampled_ns =
        report->trust.unsampled_ns - yarn_u64_min(report->trust.unsampled_ns, missing.lost_weight);
    return missing;
}

/* "" where the event has no unit for it. */
static void print_amount(const struct yarn_profile_report *report, const struct yarn_out *out,
                         uint32_t number, uint64_t weight, uint64_t whole, uint64_t samples)
{
    const struct yarn_profile_event *event = &report->profile->events[number];
    const char *unit = yarn_profile_text(report->profile, event->unit);
    (void)fputs(yarn_out_paint(out, YARN_PAINT_WARNING), out->file);
    if (weight && whole)
        (void)fprintf(out->file, "%6.2f %%  ", yarn_percent(weight, whole));
    else
        (void)fprintf(out->file, "%10s", "");
    if (yarn_report_is_one_share(report))
        (void)fprintf(out->file, "%10s", samples ? yarn_number_grouped(samples).text : "");
    else
        (void)fprintf(out->file, "%8s", "");
    (void)fprintf(out->file, "  %10s  ", weight ? yarn_number_in_unit(weight, unit).text : "");
}

static void print_lost(const struct yarn_profile_report *report, const struct yarn_out *out,
                       uint32_t number, const struct yarn_report_missing *missing)
{
    print_amount(report, out, number, missing->lost_weight, report->profile->events[number].total,
                 missing->lost);
    (void)fprintf(out->file, "[lost]  %s%s\n", yarn_number_of_things(missing->lost, "sample").text,
                  yarn_out_plain(out));
}

/* Its share is of all CPU time, most of which may have no sample. */
static void print_time(const struct yarn_profile_report *report, const struct yarn_out *out,
                       uint32_t number, const char *name, uint64_t ns)
{
    print_amount(report, out, number, ns, report->trust.cpu_ns, 0);
    (void)fprintf(out->file, "%s  of the CPU time%s\n", name, yarn_out_plain(out));
}

static void print_kernel_of(const struct yarn_profile_report *report, const struct yarn_out *out,
                            uint32_t number, const struct yarn_kernel_time *time)
{
    const struct yarn_profile *profile = report->profile;
    const struct yarn_profile_dump *dump = &profile->dumps[time->dump];
    bool is_thread = time->thread != YARN_DUMP_NONE;
    uint32_t comm = is_thread ? profile->threads[time->thread].comm : dump->comm;
    uint32_t id = is_thread ? profile->threads[time->thread].tid : dump->process.pid;
    print_amount(report, out, number, time->ns, report->trust.cpu_ns, 0);
    (void)fputs("[kernel] in ", out->file);
    yarn_print_cut(out, yarn_profile_text(profile, comm), 0);
    (void)fprintf(out->file, "  %s%u  of the CPU time%s\n",
                  report->rows.by == YARN_BY_THREAD && !is_thread ? "threads of " : "", id,
                  yarn_out_plain(out));
}

/* A row each for threads or processes, where they are what the table is of. */
static void print_kernel(const struct yarn_profile_report *report, const struct yarn_out *out,
                         uint32_t number, uint64_t ns)
{
    bool is_by_thread = report->rows.by == YARN_BY_THREAD;
    struct yarn_kernel_time *list = NULL;
    size_t count = 0;
    if ((!is_by_thread && report->rows.by != YARN_BY_PROCESS) ||
        yarn_kernel_time_of(report->profile, is_by_thread, &list, &count)) {
        print_time(report, out, number, "[kernel]", ns);
        return;
    }
    size_t shown = report->limit ? yarn_size_min(report->limit, count) : count;
    for (size_t i = 0; i < shown; i++)
        print_kernel_of(report, out, number, &list[i]);
    if (shown < count)
        (void)fprintf(out->file, "… and %s of [kernel]\n",
                      yarn_number_of_things(count - shown, "more row").text);
    free(list);
}

void yarn_report_print_missing(const struct yarn_profile_report *report, const struct yarn_out *out,
                               uint32_t event)
{
    if (report->is_part)
        return;
    struct yarn_report_missing missing = yarn_report_missing_of(report, event);
    if (missing.lost)
        print_lost(report, out, event, &missing);
    if (missing.kernel_ns)
        print_kernel(report, out, event, missing.kernel_ns);
    if (missing.unsampled_ns)
        print_time(report, out, event, "[unsampled]", missing.unsampled_ns);
}

enum { SENTENCES = 3 };

static const char *name_of(const struct yarn_profile *profile, uint32_t function)
{
    return yarn_profile_text(profile, profile->functions[function].name);
}

void yarn_report_print_phases(const struct yarn_profile_report *report, const struct yarn_out *out)
{
    const struct yarn_profile *profile = report->profile;
    size_t count = 0;
    for (size_t i = 0; i < profile->nr_phases; i++) {
        const struct yarn_profile_phase *phase = &profile->phases[i];
        if (!report->choice->events[phase->event] || count++ >= SENTENCES)
            continue;
        if (count == 1)
            (void)fputc('\n', out->file);
        char *text = yarn_profile_phase_text(profile, phase);
        yarn_out_warn(out, "in phase with the clock: %s; another YARN_FREQUENCY shows which",
                      text ? text : "?");
        free(text);
    }
    if (count > SENTENCES)
        yarn_out_warn(out, "in phase with the clock: %s",
                      yarn_number_of_things(count - SENTENCES, "more function").text);
}

void yarn_report_put_phase(const struct yarn_profile *profile,
                           const struct yarn_profile_phase *phase, struct yarn_json *json)
{
    yarn_json_begin_object(json, NULL);
    yarn_json_text(json, "function", name_of(profile, phase->function));
    yarn_json_u64(json, "pid", profile->dumps[phase->dump].process.pid);
    yarn_json_text(json, "event", yarn_profile_text(profile, profile->events[phase->event].name));
    yarn_json_real(json, "percent", 100 * phase->shares[0]);
    yarn_json_real(json, "percent_by_alternate", 100 * phase->shares[1]);
    yarn_json_end_object(json);
}

void yarn_report_put_phases(const struct yarn_profile_report *report, struct yarn_json *json)
{
    const struct yarn_profile *profile = report->profile;
    yarn_json_begin_array(json, "in_phase");
    for (size_t i = 0; i < profile->nr_phases; i++)
        if (report->choice->events[profile->phases[i].event])
            yarn_report_put_phase(profile, &profile->phases[i], json);
    yarn_json_end_array(json);
}

#define COMPLETENESS_PERCENT 1.0
#define NAMELESS_PERCENT 10.0 /* with more a reader may wonder */

enum { COMMAND_MOST = 160 }; /* columns, where the output is no terminal */

static void print_run(const struct yarn_profile_report *report, const struct yarn_out *out)
{
    const struct yarn_profile *profile = report->profile;
    const struct yarn_profile_dump *chief = yarn_profile_chief(profile);
    char more[64] = "";
    char *line = yarn_command_line(chief->process.cmdline);
    const char *what = line && line[0] ? line : yarn_profile_text(profile, chief->comm);
    size_t nr_others = profile->nr_dumps - 1;
    if (nr_others)
        (void)snprintf(more, sizeof more, " and %zu more process%s", nr_others,
                       nr_others == 1 ? "" : "es");
    size_t columns = out->columns ? (size_t)out->columns : COMMAND_MOST;
    size_t room = columns > strlen(more) ? columns - strlen(more) : columns;
    (void)fputs(yarn_out_paint(out, YARN_PAINT_HEAD), out->file);
    yarn_print_cut(out, what[0] ? what : chief->path, room);
    (void)fprintf(out->file, "%s%s\n", more, yarn_out_plain(out));
    yarn_command_line_free(line);
}

static void print_size(const struct yarn_profile_report *report, const struct yarn_out *out)
{
    const struct yarn_profile *profile = report->profile;
    size_t nr_threads = 0;
    for (size_t i = 0; i < profile->nr_threads; i++)
        nr_threads += profile->threads[i].samples || profile->threads[i].has_record;
    const struct yarn_profile_dump *chief = yarn_profile_chief(profile);
    if (profile->end_ns > profile->start_ns && profile->start_ns)
        (void)fprintf(out->file, "%s, ",
                      yarn_number_duration(profile->end_ns - profile->start_ns).text);
    if (profile->nr_dumps > 1)
        (void)fprintf(out->file, "%s, ", yarn_number_of_things(profile->nr_dumps, "dump").text);
    else if (chief->process.pid)
        (void)fprintf(out->file, "pid %u, ", chief->process.pid);
    (void)fprintf(out->file, "%s", yarn_number_of_things(nr_threads, "thread").text);
    if (chief->has_sampler)
        (void)fprintf(out->file, ", sampled by %.*s, %s", (int)chief->sampler.got.size,
                      (const char *)chief->sampler.got.data, yarn_kernel_word(chief));
    (void)fputc('\n', out->file);
}

static bool has_generated_code(const struct yarn_profile *profile)
{
    for (size_t i = 0; i < profile->nr_modules; i++)
        if (strcmp(yarn_profile_text(profile, profile->modules[i].path), "//anon") == 0)
            return true;
    return false;
}

static void warn_of_stacks(const struct yarn_profile_report *report, const struct yarn_out *out)
{
    struct yarn_trust_gaps gaps = yarn_trust_gaps(&report->trust);
    if (gaps.truncated > 0)
        yarn_out_warn(out,
                      "%.1f %% of the stacks are cut: their outer part is [truncated]; the most "
                      "that the kernel copies is YARN_CALLGRAPH=dwarf:65528%s",
                      gaps.truncated,
                      has_generated_code(report->profile)
                          ? ", and generated code is believed only once it was read unchanged"
                          : "");
    if (gaps.no_unwind_info > 0)
        yarn_out_warn(out, "%.1f %% of the stacks end where there is [no unwind information]",
                      gaps.no_unwind_info);
    if (gaps.failed > 0)
        yarn_out_warn(out, "%.1f %% of the stacks could not be unwound: [unwinding failed]",
                      gaps.failed);
    if (gaps.none > 0)
        yarn_out_warn(out, "%.1f %% of the samples have no stack: their callers are unknown",
                      gaps.none);
    if (gaps.unknown > 0)
        yarn_out_warn(out,
                      "%.1f %% of the samples are in code of which nothing is known: [unknown]",
                      gaps.unknown);
}

/* As far as recordings that were cut off state how much may be missing. */
static void warn_of_cut(const struct yarn_profile *profile, const struct yarn_out *out)
{
    uint64_t nr_cut = 0, unwritten_ns = 0;
    for (size_t i = 0; i < profile->nr_dumps; i++) {
        nr_cut += !profile->dumps[i].has_end;
        unwritten_ns = yarn_u64_max(unwritten_ns, profile->dumps[i].trust.unwritten_ns);
    }
    if (!nr_cut)
        return;
    yarn_out_warn(out, "%s%s did not end cleanly: the end%s is missing%s%s",
                  profile->nr_dumps == 1 ? "the recording" : yarn_number_grouped(nr_cut).text,
                  profile->nr_dumps == 1 ? "" : " of the recordings", nr_cut == 1 ? "" : " of each",
                  unwritten_ns ? ", up to " : "",
                  unwritten_ns ? yarn_number_duration(unwritten_ns).text : "");
}

static void warn_of_missing(const struct yarn_profile_report *report, const struct yarn_out *out)
{
    const struct yarn_trust *trust = &report->trust;
    struct yarn_trust_gaps gaps = yarn_trust_gaps(trust);
    if (gaps.lost > 0)
        yarn_out_warn(out, "%s of %s samples were lost (%.1f %%)",
                      yarn_number_grouped(trust->lost).text,
                      yarn_number_grouped(trust->samples + trust->lost).text, gaps.lost);
    if (gaps.kernel > 0 && yarn_kernel_is_refused(report->profile))
        yarn_out_warn(
            out, "%.1f %% of the CPU time was spent in the kernel, which may not be sampled: %s",
            gaps.kernel, yarn_kernel_remedy());
    else if (gaps.kernel > 0)
        yarn_out_warn(out,
                      "%.1f %% of the CPU time was spent in the kernel, which the event leaves out",
                      gaps.kernel);
    if (gaps.unsampled > 0)
        yarn_out_warn(out, "%s of CPU time passed unsampled (%.1f %%)",
                      yarn_number_duration(trust->unsampled_ns).text, gaps.unsampled);
    if (trust->throttled)
        yarn_out_warn(out, "the kernel throttled the sampling %s",
                      yarn_number_of_things(trust->throttled, "time").text);
    warn_of_cut(report->profile, out);
    if (trust->disagrees)
        yarn_out_warn(out,
                      "the dump holds other samples than the recorder counted; see yarnprof info");
}

static void note(const struct yarn_out *out, const char *format, ...) YARN_PRINTF(2, 3);
static void note(const struct yarn_out *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)fprintf(out->file, "%snote: ", yarn_out_paint(out, YARN_PAINT_FAINT));
    (void)vfprintf(out->file, format, args);
    (void)fprintf(out->file, "%s\n", yarn_out_plain(out));
    va_end(args);
}

/* The reader of the report need not be the user who stopped it. */
static void print_stops(const struct yarn_profile_report *report, const struct yarn_out *out)
{
    struct yarn_coverage_sum sum = yarn_coverage_sum_of_all(report->profile);
    if (sum.stopped_ns)
        note(out, "recording was stopped for %s of %s (%.1f %%), in which %s of CPU time passed",
             yarn_number_duration(sum.stopped_ns).text,
             yarn_number_duration(sum.on_ns + sum.stopped_ns).text,
             yarn_percent(sum.stopped_ns, sum.on_ns + sum.stopped_ns),
             yarn_number_duration(sum.stopped_cpu_ns).text);
}

static void print_machines(const struct yarn_profile *profile, const struct yarn_out *out)
{
    char moved[128] = "";
    uint64_t moved_ns = yarn_machines_moved_ns(&profile->machines);
    if (profile->machines.count < 2)
        return;
    if (moved_ns)
        (void)snprintf(moved, sizeof moved, " (one of them moved by %s meanwhile)",
                       yarn_number_duration(moved_ns).text);
    note(out,
         "times of %zu machines are laid side by side by their clocks of real time, and are as "
         "exact as those agree%s",
         profile->machines.count, moved);
}

static void print_why_unsampled(const struct yarn_profile_report *report,
                                const struct yarn_out *out)
{
    char text[1024];
    size_t size = 0;
    struct yarn_unsampled parts = yarn_unsampled_of_all(report->profile);
    if (report->is_part || yarn_trust_gaps(&report->trust).unsampled <= 0 ||
        parts.ns[YARN_UNSAMPLED_UNKNOWN] == report->trust.unsampled_ns)
        return;
    for (size_t i = 0; i < YARN_UNSAMPLED_COUNT; i++)
        if (parts.ns[i])
            size += (size_t)snprintf(text + size, sizeof text - size, "%s%s %s", size ? ", " : "",
                                     yarn_number_duration(parts.ns[i]).text,
                                     yarn_unsampled_word((enum yarn_unsampled_reason)i));
    note(out, "of the unsampled time %s", text);
}

/* At the end, where what was shown raises the question. */
void yarn_report_print_foot(const struct yarn_profile_report *report, const struct yarn_out *out)
{
    char bytes[512];
    struct yarn_text text = yarn_text_of(bytes, sizeof bytes);
    if (!report->is_part && yarn_unnamed_describe(report->profile, &text))
        note(out, "%s", bytes);
    if (report->profile->has_folded)
        note(out,
             "Python's interpreter is part of the functions that it runs: --all-frames shows it");
}

/* Stripped programs and libraries: what would help is in nobody's manual. */
static void hint_at_symbols(const struct yarn_profile_report *report, const struct yarn_out *out)
{
    const struct yarn_profile *profile = report->profile;
    uint64_t nameless = 0;
    for (size_t i = 0; i < profile->nr_frames; i++) {
        const struct yarn_profile_frame *frame = &profile->frames[i];
        const struct yarn_profile_function *function = &profile->functions[frame->function];
        if (function->is_nameless && !function->is_unknown && frame->start)
            nameless += frame->leaf_samples;
    }
    double percent = yarn_percent(nameless, report->trust.samples);
    if (percent > NAMELESS_PERCENT)
        note(out,
             "%.1f %% of the samples are in code without names; debug symbols would help "
             "(those installed since: with --inlines)",
             percent);
}

/* What no other line of the head has: of waits, of children, and of a clock that counted too much.
 */
static void warn_of_completeness(const struct yarn_profile_report *report,
                                 const struct yarn_out *out)
{
    static const char *const keys[] = {"overcounted_ns", "blocked_unseen_ns", "switches_cut_ns",
                                       "children_unread_ns"};
    struct yarn_completeness completeness = yarn_completeness_of(report->profile);
    for (size_t i = 0; i < completeness.count && !report->is_part; i++) {
        const struct yarn_completeness_row *row = &completeness.rows[i];
        for (size_t k = 0; k < YARN_COUNT_OF(keys); k++)
            if (strcmp(row->key, keys[k]) == 0 && row->percent >= COMPLETENESS_PERCENT)
                yarn_out_warn(out, "%s %s (%.1f %%)", yarn_number_duration(row->count).text,
                              row->what, row->percent);
    }
}

/* What shared a counter has that in the line above its table. */
static void warn_of_events(const struct yarn_profile_report *report, const struct yarn_out *out)
{
    for (uint32_t i = 0; i < report->profile->nr_events; i++) {
        char bytes[1024];
        struct yarn_text text = yarn_text_of(bytes, sizeof bytes);
        struct yarn_profile_status status = yarn_profile_event_status(report->profile, i);
        status.bits &= ~(uint32_t)YARN_EVENT_MULTIPLEXED;
        if (!status.bits || !report->choice->events[i] ||
            !yarn_profile_event_was_asked(report->profile, i))
            continue;
        yarn_profile_status_describe(report->profile, i, &status, &text);
        yarn_out_warn(out, "%s", bytes);
    }
}

void yarn_report_print_head(const struct yarn_profile_report *report, const struct yarn_out *out)
{
    print_run(report, out);
    print_size(report, out);
    print_machines(report->profile, out);
    print_stops(report, out);
    warn_of_missing(report, out);
    print_why_unsampled(report, out);
    warn_of_stacks(report, out);
    warn_of_completeness(report, out);
    warn_of_events(report, out);
    hint_at_symbols(report, out);
    if (!report->trust.samples)
        yarn_out_warn(out, "there is no sample");
}
