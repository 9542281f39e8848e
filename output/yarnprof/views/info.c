/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/views/info.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>

#include "output/analysis/profile/event_status.h"
#include "output/analysis/profile/unnamed.h"
#include "output/analysis/time/completeness.h"
#include "output/analysis/time/coverage.h"
#include "output/analysis/time/kernel_time.h"
#include "output/analysis/time/unsampled.h"
#include "output/dump/words.h"
#include "output/text/legible.h"
#include "output/yarnprof/io/columns.h"
#include "output/yarnprof/io/numbers.h"
#include "output/yarnprof/options/command_line.h"
#include "output/yarnprof/views/report.h"

static struct yarn_info info_of(const struct yarn_profile *profile, size_t number,
                                const struct yarn_out *out)
{
    size_t begin = 0, end;
    while (begin < profile->nr_threads && profile->threads[begin].dump != number)
        begin++;
    for (end = begin; end < profile->nr_threads && profile->threads[end].dump == number;)
        end++;
    return (struct yarn_info){
        profile, &profile->dumps[number], number, &profile->threads[begin], end - begin, out};
}

uint64_t yarn_info_cpu_ns(const struct yarn_profile_dump *dump)
{
    if (dump->trust.cpu_ns)
        return dump->trust.cpu_ns;
    for (size_t i = 0; i < dump->nr_events; i++) {
        const struct yarn_profile_dump_event *event = &dump->events[i];
        if (event->has_count && event->record.flags & YARN_DUMP_EVENT_IS_CLOCK)
            return event->count.count;
    }
    return 0;
}

/* "  label        value": the label only, what follows is the caller's. */
static void print_label(const struct yarn_out *out, const char *label)
{
    (void)fprintf(out->file, "  %s%-15s %s", yarn_out_paint(out, YARN_PAINT_FAINT), label,
                  yarn_out_plain(out));
}

static void print_pair(const struct yarn_out *out, const char *label, const char *format, ...)
    YARN_PRINTF(3, 4);
static void print_pair(const struct yarn_out *out, const char *label, const char *format, ...)
{
    char *value;
    va_list args;
    va_start(args, format);
    int size = vasprintf(&value, format, args);
    va_end(args);
    print_label(out, label);
    yarn_print_cut(out, size < 0 ? "?" : value, 0);
    (void)fputc('\n', out->file);
    if (size >= 0)
        free(value);
}

void yarn_info_section(const struct yarn_out *out, const char *title)
{
    (void)fprintf(out->file, "\n%s%s%s\n", yarn_out_paint(out, YARN_PAINT_HEAD), title,
                  yarn_out_plain(out));
}

static void print_moment(const struct yarn_out *out, const char *label, uint64_t realtime_ns)
{
    char text[64];
    struct tm date;
    time_t seconds = (time_t)(realtime_ns / YARN_NS_PER_SECOND);
    if (!realtime_ns || !localtime_r(&seconds, &date))
        return;
    (void)strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S %z", &date);
    print_pair(out, label, "%s", text);
}

static void print_end(const struct yarn_profile_dump *dump, const struct yarn_out *out)
{
    uint64_t end_ns = dump->has_end ? dump->end.time_ns : dump->last_ns;
    print_pair(out, "length", "%s",
               end_ns > dump->process.start_ns
                   ? yarn_number_duration(end_ns - dump->process.start_ns).text
                   : "unknown");
    print_label(out, "end");
    if (!dump->has_end)
        (void)fprintf(out->file, "%snone: the recording was cut off%s%s%s",
                      yarn_out_paint(out, YARN_PAINT_WARNING),
                      dump->trust.unwritten_ns ? ", and lacks its last moments, up to " : "",
                      dump->trust.unwritten_ns ? yarn_number_duration(dump->trust.unwritten_ns).text
                                               : "",
                      yarn_out_plain(out));
    else
        (void)fputs(yarn_dump_word_of_end_reason(dump->end.reason), out->file);
    if (dump->has_end && dump->end.status >= 0)
        (void)fprintf(out->file, ", status %d", dump->end.status);
    (void)fputc('\n', out->file);
}

/* How often, how long, and what the threads did meanwhile. */
static void print_coverage(const struct yarn_profile_dump *dump, const struct yarn_out *out)
{
    struct yarn_coverage_sum sum = yarn_coverage_sum_of(dump);
    if (!dump->nr_coverage)
        return;
    print_pair(
        out, "recorded", "%s in %s; stopped for %s, with %s of CPU time",
        yarn_number_duration(sum.on_ns).text, yarn_number_of_things(sum.nr_spans, "part").text,
        yarn_number_duration(sum.stopped_ns).text, yarn_number_duration(sum.stopped_cpu_ns).text);
}

/* What a merged dump was made of; damage is reported on standard error, as that of any dump. */
static void print_froms(const struct yarn_profile_dump *dump, const struct yarn_out *out)
{
    for (size_t i = 0; i < dump->nr_froms; i++) {
        const struct yarn_dump_from *from = &dump->froms[i];
        print_pair(out, "merged from", "%s, %s%s", yarn_span_as_text(from->path),
                   yarn_number_bytes(from->file_bytes).text,
                   from->nr_damages ? ", damaged"
                   : from->is_cut   ? ", cut off"
                                    : "");
    }
}

static void print_process(const struct yarn_profile_dump *dump, const struct yarn_out *out)
{
    const struct yarn_dump_process *process = &dump->process;
    yarn_info_section(out, "Process");
    if (!dump->has_process) {
        (void)fputs("  unknown: its record is missing\n", out->file);
        return;
    }
    char *line = yarn_command_line(process->cmdline);
    print_pair(out, "command", "%s", line ? line : "");
    print_pair(out, "executable", "%s", yarn_span_as_text(process->exe));
    print_pair(out, "pid", "%u, child of %u", process->pid, process->ppid);
    if (process->predecessor_pid)
        print_pair(out, "predecessor", "%u (another image of this process)",
                   process->predecessor_pid);
    print_froms(dump, out);
    print_moment(out, "start", process->start_realtime_ns);
    print_end(dump, out);
    print_coverage(dump, out);
    if (process->rank.size)
        print_pair(out, "rank", "%s", yarn_span_as_text(process->rank));
    print_pair(out, "machine", "%s, Linux %s, %s, %u of %u cpus online",
               yarn_span_as_text(process->host), yarn_span_as_text(process->kernel),
               yarn_span_as_text(process->arch), process->cpus_online, process->cpus_present);
    print_pair(out, "clock", "%s", yarn_dump_word_of_clock(process->clock));
    yarn_command_line_free(line);
}

static void print_machines(const struct yarn_machines *machines, const struct yarn_out *out)
{
    if (machines->count < 2)
        return;
    print_pair(out, "machines",
               "%zu machines' times side by side by real time, which moved by %s meanwhile; "
               "how far they agree is unknown",
               machines->count, yarn_number_duration(yarn_machines_moved_ns(machines)).text);
}

static void print_sampler(const struct yarn_profile_dump *dump, const struct yarn_out *out)
{
    const struct yarn_dump_sampler *sampler = &dump->sampler;
    if (!dump->has_sampler)
        return;
    yarn_info_section(out, "Sampler");
    print_pair(out, "sampler", "%s (asked: %s)%s%s", yarn_span_as_text(sampler->got),
               yarn_span_as_text(sampler->asked), sampler->reason.size ? ": " : "",
               yarn_span_as_text(sampler->reason));
    print_pair(out, "samples of", "%s", yarn_kernel_word(dump));
    print_pair(out, "strategy", "%s, reader %s", yarn_span_as_text(sampler->strategy),
               yarn_span_as_text(sampler->reader));
    if (sampler->own_tid)
        print_pair(out, "own thread", "%u", sampler->own_tid);
    print_pair(out, "rings", "%u of %s each (asked: %s)", sampler->nr_rings,
               yarn_number_bytes(sampler->ring_got_bytes).text,
               sampler->ring_asked_bytes ? yarn_number_bytes(sampler->ring_asked_bytes).text
                                         : "auto");
    print_pair(out, "stack copy", "%s (asked: %s)",
               yarn_number_bytes(sampler->stack_got_bytes).text,
               yarn_number_bytes(sampler->stack_asked_bytes).text);
}

static void print_switches(const struct yarn_profile_dump *dump, const struct yarn_out *out)
{
    const struct yarn_dump_sched *sched = &dump->sched;
    uint64_t cut_ns = yarn_profile_dump_cut_ns(dump);
    if (!dump->has_sched)
        return;
    print_pair(out, "scheduling", "%s (asked: %s)%s%s", yarn_span_as_text(sched->got),
               yarn_span_as_text(sched->asked), sched->reason.size ? ": " : "",
               yarn_span_as_text(sched->reason));
    if (!cut_ns)
        return;
    print_pair(out, "  cut out", "%s, as they were too many", yarn_number_duration(cut_ns).text);
}

/* Where it had to share a counter: what it would have counted on one of its own. */
static void print_running(const struct yarn_profile_dump_event *event, const struct yarn_out *out)
{
    const struct yarn_dump_count *count = &event->count;
    bool is_shared =
        event->record.type != PERF_TYPE_SOFTWARE && count->time_running_ns < count->time_enabled_ns;
    double running = yarn_percent(count->time_running_ns, count->time_enabled_ns);
    if (count->is_in_error && event->record.flags & YARN_DUMP_EVENT_IS_OF_MACHINE)
        (void)fputs(", less what a core did before it came online", out->file);
    else if (count->is_in_error)
        (void)fputs(", IN ERROR: pinned, and at times without a counter", out->file);
    if (is_shared && !count->time_running_ns)
        (void)fputs(", never on a counter", out->file);
    else if (is_shared)
        (void)fprintf(out->file, ", running %.1f %% of the time, scaled to %s", running,
                      yarn_number_in_unit((uint64_t)((double)count->count * 100 / running + 0.5),
                                          yarn_span_as_text(event->record.unit))
                          .text);
}

static void print_event(const struct yarn_profile_dump *dump, size_t number,
                        const struct yarn_out *out)
{
    const struct yarn_profile_dump_event *event = &dump->events[number];
    const struct yarn_dump_event *record = &event->record;
    const struct yarn_dump_count *count = &event->count;
    if (record->error) {
        print_pair(out, yarn_span_as_text(record->name), "asked as %s, refused: %s (errno %u)%s%s",
                   yarn_span_as_text(record->asked), strerror((int)record->error), record->error,
                   record->reason.size ? "; " : "", yarn_span_as_text(record->reason));
        return;
    }
    print_pair(out, yarn_span_as_text(record->name), "%s (asked: %s)%s%s",
               yarn_span_as_text(record->got), yarn_span_as_text(record->asked),
               record->reason.size ? ": " : "", yarn_span_as_text(record->reason));
    if (record->flags & YARN_DUMP_EVENT_KERNEL_REFUSED)
        print_pair(out, "", "user only, the kernel is not permitted: %s", yarn_kernel_remedy());
    struct yarn_profile_status status = yarn_dump_event_status(dump, number);
    if (status.nr_children)
        print_pair(out, "", "children missing: %s of them ended before recording",
                   yarn_number_grouped(status.nr_children).text);
    print_label(out, "");
    (void)fprintf(out->file, "%s", yarn_number_of_things(event->samples, "sample").text);
    if (record->frequency)
        (void)fprintf(out->file, ", %" PRIu64 " Hz", record->frequency);
    else if (record->period)
        (void)fprintf(out->file, ", period %s",
                      yarn_number_in_unit(record->period, yarn_span_as_text(record->unit)).text);
    if (event->alternate_period && record->period)
        (void)fprintf(
            out->file, " and %s in turns",
            yarn_number_in_unit(event->alternate_period, yarn_span_as_text(record->unit)).text);
    if (event->has_count) {
        (void)fprintf(out->file, ", counted %s",
                      yarn_number_in_unit(count->count, yarn_span_as_text(record->unit)).text);
        print_running(event, out);
    }
    (void)fputc('\n', out->file);
}

static void print_threads(const struct yarn_info *info)
{
    char title[64];
    (void)snprintf(title, sizeof title, "Threads (%zu)", info->nr_threads);
    yarn_info_section(info->out, title);
    YARN_INFO_SHOW(info, threads, NULL, info->threads, info->nr_threads);
}

static void print_modules(const struct yarn_info *info)
{
    char title[64];
    (void)snprintf(title, sizeof title, "Modules (%zu)", info->dump->nr_modules);
    yarn_info_section(info->out, title);
    YARN_INFO_SHOW(info, modules, NULL, info->dump->modules, info->dump->nr_modules);
}

static void print_share(const struct yarn_out *out, const char *label, uint64_t part,
                        uint64_t whole, bool is_bad)
{
    double percent = yarn_percent(part, whole);
    print_label(out, label);
    (void)fprintf(out->file, "%s%12s",
                  is_bad && percent > 1 ? yarn_out_paint(out, YARN_PAINT_WARNING) : "",
                  yarn_number_grouped(part).text);
    if (whole)
        (void)fprintf(out->file, "  %6.2f %%", percent);
    (void)fprintf(out->file, "%s\n", yarn_out_plain(out));
}

static void print_value(const struct yarn_out *out, const char *label, const char *value)
{
    print_label(out, label);
    (void)fprintf(out->file, "%12s\n", value);
}

/* Time without a sample. */
static void print_share_of_time(const struct yarn_out *out, const char *label, uint64_t ns,
                                uint64_t cpu_ns)
{
    print_label(out, label);
    (void)fprintf(out->file, "%12s", yarn_number_duration(ns).text);
    if (cpu_ns)
        (void)fprintf(out->file, "  %6.2f %%", yarn_percent(ns, cpu_ns));
    (void)fputc('\n', out->file);
}

/* Of what is unsampled. */
static void print_reasons(const struct yarn_profile *profile, size_t number,
                          const struct yarn_out *out)
{
    struct yarn_unsampled parts = yarn_unsampled_of(profile, (uint32_t)number);
    for (size_t i = 0; i < YARN_UNSAMPLED_UNKNOWN; i++) {
        if (!parts.ns[i])
            continue;
        print_pair(out, "", "%12s  %s", yarn_number_duration(parts.ns[i]).text,
                   yarn_unsampled_word((enum yarn_unsampled_reason)i));
    }
}

static void print_phases(const struct yarn_profile *profile, size_t number,
                         const struct yarn_out *out)
{
    for (size_t i = 0; i < profile->nr_phases; i++) {
        const struct yarn_profile_phase *phase = &profile->phases[i];
        if (phase->dump != number)
            continue;
        char *text = yarn_profile_phase_text(profile, phase);
        print_pair(out, "in phase", "%s", text ? text : "?");
        free(text);
    }
}

static void print_tree(const struct yarn_profile_dump *dump, const struct yarn_out *out)
{
    uint64_t silent = 0;
    for (size_t i = 0; i < dump->nr_tree_programs; i++)
        silent += dump->tree_programs[i].silent;
    if (!dump->has_tree)
        return;
    yarn_info_section(out, "Tree");
    print_value(out, "processes", yarn_number_grouped(dump->tree.processes).text);
    print_value(out, "silent", yarn_number_grouped(silent).text);
    print_value(out, "CPU time", yarn_number_duration(dump->tree.cpu_ns).text);
    if (dump->tree.counted_ns)
        print_value(out, "event's count", yarn_number_duration(dump->tree.counted_ns).text);
}

/* From outside nobody counts it: what was not sampled is not known then. */
static void print_cpu_time(const struct yarn_profile *profile, size_t number,
                           const struct yarn_out *out)
{
    const struct yarn_trust *trust = &profile->dumps[number].trust;
    const uint64_t cpu_ns = yarn_info_cpu_ns(&profile->dumps[number]);
    if (!cpu_ns && trust->samples) {
        print_value(out, "CPU time", "not counted");
        print_value(out, "unsampled", "not known");
        return;
    }
    print_pair(out, "CPU time", "%12s%s", yarn_number_duration(cpu_ns).text,
               trust->cpu_estimated ? "  estimated: too many switches, or records were lost" : "");
    print_share_of_time(out, "in the kernel", trust->kernel_ns, cpu_ns);
    print_share_of_time(out, "unsampled", trust->unsampled_ns, cpu_ns);
    print_reasons(profile, number, out);
}

/* From outside all processes' recorder is in the dump that has the tree. */
static void print_own(const struct yarn_profile_dump *dump, const struct yarn_out *out)
{
    const struct yarn_trust *trust = &dump->trust;
    uint64_t cpu_ns = dump->has_tree ? dump->tree.cpu_ns : yarn_info_cpu_ns(dump);
    print_label(out, "profiler's own");
    (void)fprintf(out->file, "%12s of CPU time", yarn_number_duration(trust->drain_cpu_ns).text);
    if (cpu_ns)
        (void)fprintf(out->file, " (%.2f %%%s)", yarn_percent(trust->drain_cpu_ns, cpu_ns),
                      dump->has_tree ? " of the tree's" : "");
    (void)fprintf(out->file, ", %s of memory, %s written\n",
                  yarn_number_bytes(trust->memory_bytes).text,
                  yarn_number_bytes(trust->bytes_written).text);
}

static void print_trust(const struct yarn_profile *profile, size_t number,
                        const struct yarn_out *out)
{
    const struct yarn_profile_dump *dump = &profile->dumps[number];
    const struct yarn_trust *trust = &dump->trust;
    yarn_info_section(out, "Trust");
    print_value(out, "samples", yarn_number_grouped(trust->samples).text);
    if (trust->disagrees)
        print_value(out, "recorder says",
                    yarn_number_grouped(trust->stored.value[YARN_DUMP_TOTAL_SAMPLES]).text);
    print_share(out, "lost", trust->lost, trust->samples + trust->lost, true);
    print_value(out, "throttled", yarn_number_grouped(trust->throttled).text);
    print_value(out, "foreign", yarn_number_grouped(trust->foreign).text);
    print_share(out, "complete", trust->stacks_complete, trust->samples, false);
    print_share(out, "truncated", trust->stacks_truncated, trust->samples, true);
    print_share(out, "no unwind info", trust->stacks_no_unwind_info, trust->samples, true);
    print_share(out, "failed", trust->stacks_failed, trust->samples, true);
    print_share(out, "without stack", trust->stacks_none - trust->stacks_unasked, trust->samples,
                true);
    if (trust->stacks_unasked)
        print_share(out, "not asked for", trust->stacks_unasked, trust->samples, false);
    print_value(out, "frames unknown", yarn_number_grouped(trust->frames_unknown).text);
    if (trust->frames_unnamed)
        print_value(out, "frames unnamed", yarn_number_grouped(trust->frames_unnamed).text);
    print_cpu_time(profile, number, out);
    print_phases(profile, number, out);
    if (trust->ends_unknown)
        print_pair(out, "ends unknown", "%12s  of threads with %s of CPU time",
                   yarn_number_grouped(trust->ends_unknown).text,
                   yarn_number_duration(trust->ends_unknown_ns).text);
    if (trust->messages_lost)
        print_value(out, "messages lost", yarn_number_grouped(trust->messages_lost).text);
    print_own(dump, out);
    print_pair(out, "clean end", "%12s", trust->clean_end ? "yes" : "no");
}

/* Of the profile: the frames of several dumps are counted together, so it is said once. */
static void print_unnamed(const struct yarn_profile *profile, size_t number,
                          const struct yarn_out *out)
{
    char bytes[512];
    struct yarn_text text = yarn_text_of(bytes, sizeof bytes);
    if (number + 1 == profile->nr_dumps && yarn_unnamed_describe(profile, &text))
        print_pair(out, "names", "%s", bytes);
}

static void print_options(const struct yarn_profile_dump *dump, const struct yarn_out *out)
{
    if (!dump->nr_options)
        return;
    yarn_info_section(out, "Options");
    for (size_t i = 0; i < dump->nr_options; i++)
        print_pair(out, yarn_span_as_text(dump->options[i].name), "%s",
                   yarn_span_as_text(dump->options[i].value));
}

static void print_dump(const struct yarn_info *info)
{
    const struct yarn_profile *profile = info->profile;
    const struct yarn_profile_dump *dump = info->dump;
    const struct yarn_out *out = info->out;
    (void)fputs(yarn_out_paint(out, YARN_PAINT_HEAD), out->file);
    yarn_print_cut(out, dump->path, 0);
    (void)fprintf(out->file, "%s: yarn dump, version %u.%u, %s\n", yarn_out_plain(out),
                  dump->summary.version_major, dump->summary.version_minor,
                  yarn_number_bytes(dump->summary.file_bytes).text);
    print_process(dump, out);
    print_machines(&profile->machines, out);
    print_sampler(dump, out);
    print_switches(dump, out);
    yarn_info_section(out, "Events");
    for (size_t i = 0; i < dump->nr_events; i++)
        print_event(dump, i, out);
    print_options(dump, out);
    print_threads(info);
    print_modules(info);
    print_tree(dump, out);
    print_trust(profile, info->number, out);
    print_unnamed(profile, info->number, out);
    yarn_info_show_lists(info);
}

/* Of all together, as `verify --trust` has it. */
static void print_completeness(const struct yarn_profile *profile, const struct yarn_out *out)
{
    struct yarn_completeness completeness = yarn_completeness_of(profile);
    if (completeness.count)
        yarn_info_section(out, "Missing");
    for (size_t i = 0; i < completeness.count; i++) {
        char text[YARN_COMPLETENESS_TEXT];
        yarn_completeness_describe(&completeness.rows[i], text);
        (void)fprintf(out->file, "  %s\n", text);
    }
}

void yarn_info_print(const struct yarn_profile *profile, const struct yarn_out *out)
{
    if (out->json)
        yarn_json_begin_array(out->json, "dumps");
    for (size_t i = 0; i < profile->nr_dumps; i++) {
        struct yarn_info info = info_of(profile, i, out);
        if (i && !out->json)
            (void)fputc('\n', out->file);
        if (out->json)
            yarn_info_json(&info);
        else
            print_dump(&info);
    }
    if (!out->json) {
        print_completeness(profile, out);
        return;
    }
    yarn_json_end_array(out->json);
    yarn_report_put_completeness(profile, out->json);
}
