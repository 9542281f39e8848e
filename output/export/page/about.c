/* SPDX-License-Identifier: Apache-2.0 */
#include "output/export/page/about.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "output/analysis/profile/commands.h"
#include "output/analysis/profile/event_status.h"
#include "output/analysis/profile/programs.h"
#include "output/analysis/profile/unnamed.h"
#include "output/analysis/time/completeness.h"
#include "output/analysis/time/coverage.h"
#include "output/analysis/time/kernel_time.h"
#include "output/analysis/time/unsampled.h"
#include "output/export/page/html.h"

enum {
    ROWS_OF_GROUP = 64,
    DUMPS_LISTED = 20,
    PHASES_MOST = 3,
    PROGRAMS_LISTED = 20,
    NAME_COLUMNS = 30, /* which is what a lane has room for */
    COMMAND_BYTES = 80
};

static void put_command(const struct yarn_dump_process *process, FILE *file)
{
    struct yarn_span line = process->cmdline;
    if (!line.size)
        yarn_html_text(file, yarn_span_as_text(process->exe));
    for (size_t at = 0; at < line.size; at += strlen((const char *)line.data + at) + 1) {
        (void)fputs(at ? " " : "", file);
        yarn_html_text(file, (const char *)line.data + at);
    }
}

void yarn_page_about_command(const struct yarn_profile *profile, FILE *file)
{
    const struct yarn_profile_dump *chief = yarn_profile_chief(profile);
    if (!chief || !chief->has_process) {
        (void)fputs("unknown command", file);
        return;
    }
    put_command(&chief->process, file);
    if (profile->nr_dumps > 1)
        (void)fprintf(file, " (and %zu more)", profile->nr_dumps - 1);
}

static void put_date(uint64_t realtime_ns, FILE *file)
{
    char text[64];
    struct tm date;
    time_t seconds = (time_t)(realtime_ns / YARN_NS_PER_SECOND);
    if (!realtime_ns || !gmtime_r(&seconds, &date))
        return;
    (void)strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &date);
    (void)fprintf(file, ", %s", text);
}

static void put_dump(const struct yarn_profile_dump *dump, size_t nr_same, FILE *file)
{
    const struct yarn_dump_process *process = &dump->process;
    (void)fputs("<dt>Process</dt><dd>", file);
    if (dump->has_process) {
        put_command(process, file);
        (void)fprintf(file, " (pid %u", process->pid);
        put_date(process->start_realtime_ns, file);
        (void)fputs(process->host.size ? ", on " : "", file);
        yarn_html_text(file, yarn_span_as_text(process->host));
        (void)fputc(')', file);
    } else {
        (void)fputs("unknown: its record is missing", file);
    }
    (void)fputs(dump->has_end ? "" : "; the recording was cut off", file);
    if (dump->trust.unwritten_ns)
        (void)fprintf(file, ", and lacks up to %.3f s of its end",
                      (double)dump->trust.unwritten_ns / 1e9);
    if (nr_same)
        (void)fprintf(file, "; and %zu more process%s of this command", nr_same,
                      nr_same == 1 ? "" : "es");
    (void)fputs("</dd>\n", file);
}

static bool is_same(const struct yarn_profile_dump *one, const struct yarn_profile_dump *other)
{
    return one->has_process == other->has_process && one->has_end == other->has_end &&
           yarn_span_equal(one->process.exe, other->process.exe) &&
           yarn_span_equal(one->process.cmdline, other->process.cmdline);
}

/* Each command once, by its first process. */
static void put_dumps(const struct yarn_profile *profile, FILE *file)
{
    size_t nr_listed = 0, nr_left = 0;
    for (size_t i = 0; i < profile->nr_dumps; i++) {
        const struct yarn_profile_dump *dump = &profile->dumps[i];
        size_t first = 0, nr_same = 0;
        while (!is_same(&profile->dumps[first], dump))
            first++;
        if (first < i)
            continue;
        if (nr_listed++ >= DUMPS_LISTED) {
            nr_left++;
            continue;
        }
        for (size_t j = i + 1; j < profile->nr_dumps; j++)
            nr_same += is_same(&profile->dumps[j], dump);
        put_dump(dump, nr_same, file);
    }
    if (nr_left)
        (void)fprintf(file, "<dt></dt><dd>and %zu more commands</dd>\n", nr_left);
}

static struct yarn_trust trust_of(const struct yarn_profile *profile)
{
    struct yarn_trust trust = {.clean_end = true};
    for (size_t i = 0; i < profile->nr_dumps; i++)
        yarn_trust_add(&trust, &profile->dumps[i].trust);
    return trust;
}

/* "lost: 1,234,567" */
static void put_count(const char *what, uint64_t count, FILE *file)
{
    char digits[24];
    int size = snprintf(digits, sizeof digits, "%" PRIu64, count);
    (void)fputs(what, file);
    for (int i = 0; i < size; i++)
        (void)fprintf(file, "%s%c", i && (size - i) % 3 == 0 ? "," : "", digits[i]);
}

/* The reasons that are known. */
static void put_reasons(const struct yarn_profile *profile, FILE *file)
{
    struct yarn_unsampled parts = yarn_unsampled_of_all(profile);
    for (size_t i = 0, nr_listed = 0; i < YARN_UNSAMPLED_UNKNOWN; i++)
        if (parts.ns[i])
            (void)fprintf(file, "%s%.3f s %s", nr_listed++ ? ", " : ", of it ",
                          (double)parts.ns[i] / 1e9,
                          yarn_unsampled_word((enum yarn_unsampled_reason)i));
}

/* All of it, as `verify --trust` has it. */
static void put_completeness(const struct yarn_profile *profile, FILE *file)
{
    struct yarn_completeness completeness = yarn_completeness_of(profile);
    for (size_t i = 0; i < completeness.count; i++) {
        char text[YARN_COMPLETENESS_TEXT];
        yarn_completeness_describe(&completeness.rows[i], text);
        (void)fprintf(file, "%s%s", i ? "; " : "<dt>Missing</dt><dd>", text);
    }
    if (completeness.count)
        (void)fputs("</dd>\n", file);
}

static void put_trust(const struct yarn_page_side *side, FILE *file)
{
    const struct yarn_profile *profile = side->profile;
    struct yarn_trust trust = trust_of(profile);
    char unnamed[512]; /* made of our own words */
    struct yarn_text text = yarn_text_of(unnamed, sizeof unnamed);
    put_count("<dt>Samples</dt><dd>", trust.samples, file);
    put_count(", lost: ", trust.lost, file);
    (void)fprintf(file, "; CPU time that no sample stands for: %.3f s",
                  (double)trust.unsampled_ns / 1e9);
    if (!side->is_part)
        put_reasons(profile, file);
    (void)fputs("</dd>\n", file);
    if (trust.kernel_ns) {
        (void)fprintf(file, "<dt>[kernel]</dt><dd>%.3f s of CPU time in the kernel, not sampled",
                      (double)trust.kernel_ns / 1e9);
        if (yarn_kernel_is_refused(profile))
            (void)fprintf(file, ": %s", yarn_kernel_remedy());
        (void)fputs("</dd>\n", file);
    }
    put_count("<dt>Stacks</dt><dd>complete: ", trust.stacks_complete, file);
    put_count(", truncated: ", trust.stacks_truncated, file);
    put_count(", without unwind information: ", trust.stacks_no_unwind_info, file);
    put_count(", failed: ", trust.stacks_failed, file);
    put_count(", none: ", trust.stacks_none, file);
    (void)fputs("</dd>\n", file);
    if (!side->is_part)
        put_completeness(profile, file);
    if (yarn_unnamed_describe(profile, &text))
        (void)fprintf(file, "<dt>Names</dt><dd>%s</dd>\n", unnamed);
    if (profile->has_folded)
        (void)fputs(
            "<dt>Frames</dt><dd>Python's interpreter is part of the functions that it runs; "
            "--all-frames shows it</dd>\n",
            file);
}

/* Programs of which processes were too short for a sample. */
static void put_programs(const struct yarn_profile *profile, FILE *file)
{
    struct yarn_programs programs;
    size_t nr_listed = 0;
    if (yarn_programs_of(profile, &programs))
        return;
    for (size_t i = 0; i < programs.count; i++) {
        const struct yarn_program *program = &programs.programs[i];
        if (!program->silent && !program->unknown)
            continue;
        if (nr_listed++ == PROGRAMS_LISTED)
            break;
        (void)fputs(nr_listed == 1 ? "<dt>Processes without a sample</dt><dd>" : "; ", file);
        put_count("", program->silent, file);
        put_count(" of ", program->processes, file);
        (void)fputs(" of ", file);
        yarn_html_text(file, program->name);
        (void)fprintf(file, ", which used %.3f s of CPU time in all",
                      (double)program->cpu_ns / 1e9);
        if (program->unknown)
            put_count("; could not be followed: ", program->unknown, file);
    }
    (void)fputs(nr_listed ? "</dd>\n" : "", file);
    yarn_programs_fini(&programs);
}

/* The page's resolution in time and threads. */
static void put_detail(const struct yarn_page_graph *graph, size_t side, FILE *file)
{
    const struct yarn_slices *slices = graph->sides[side].slices;
    uint32_t nr_threads = 0, nr_lanes = 0;
    for (size_t i = 0; i < graph->nr_threads; i++) {
        nr_threads += graph->threads[i].side == side ? graph->threads[i].count : 0;
        nr_lanes += graph->threads[i].side == side;
    }
    (void)fprintf(file, "<dt>Detail</dt><dd>slices of %.2f ms, %u thread%s",
                  (double)(UINT64_C(1) << slices->shift) / 1e6, nr_threads,
                  nr_threads == 1 ? "" : "s");
    if (nr_lanes != nr_threads)
        (void)fprintf(file, " in %u lane%s: too many to be shown each", nr_lanes,
                      nr_lanes == 1 ? "" : "s");
    (void)fputs("</dd>\n", file);
}

static void put_judgement(const struct yarn_page_graph *graph, FILE *file)
{
    (void)fputs("<dt>Changes are judged by</dt><dd>", file);
    if (graph->is_by_runs)
        (void)fprintf(file,
                      "the spread of the runs (%zu before, of %zu processes; %zu after, of %zu)",
                      graph->clusters[0].nr_runs, graph->clusters[0].nr_processes,
                      graph->clusters[1].nr_runs, graph->clusters[1].nr_processes);
    else
        (void)fputs("the samples of one run", file);
    (void)fputs("</dd>\n", file);
}

void yarn_page_about_recording(const struct yarn_page_graph *graph, FILE *file)
{
    static const char *const sides[] = {"Before", "After"};
    if (graph->sides[0].profile)
        put_judgement(graph, file);
    for (size_t side = 0; side < 2; side++) {
        const struct yarn_profile *profile = graph->sides[side].profile;
        if (!profile)
            continue;
        if (graph->sides[0].profile)
            (void)fprintf(file, "<dt class=side>%s</dt><dd></dd>\n", sides[side]);
        put_trust(&graph->sides[side], file);
        put_detail(graph, side, file);
        put_dumps(profile, file);
        put_programs(profile, file);
    }
}

static double percent_of_stops(const struct yarn_profile *profile)
{
    struct yarn_coverage_sum sum = yarn_coverage_sum_of_all(profile);
    return sum.stopped_ns ? 100.0 * (double)sum.stopped_ns / (double)(sum.on_ns + sum.stopped_ns)
                          : 0;
}

static void put_phases(const struct yarn_profile *profile, const char *side, FILE *file)
{
    for (size_t i = 0; i < yarn_size_min(profile->nr_phases, PHASES_MOST); i++) {
        char *text = yarn_profile_phase_text(profile, &profile->phases[i]);
        (void)fprintf(file, "<span>%sin phase with the clock: ", side);
        yarn_html_text(file, text ? text : "?");
        (void)fputs("</span>\n", file);
        free(text);
    }
}

static void put_statuses(const struct yarn_profile *profile, const char *side, FILE *file)
{
    for (uint32_t i = 0; i < profile->nr_events; i++) {
        char bytes[1024];
        struct yarn_text text = yarn_text_of(bytes, sizeof bytes);
        struct yarn_profile_status status = yarn_profile_event_status(profile, i);
        if (!status.bits || !yarn_profile_event_was_asked(profile, i))
            continue;
        yarn_profile_status_describe(profile, i, &status, &text);
        (void)fprintf(file, "<span>%s", side);
        yarn_html_text(file, bytes);
        (void)fputs("</span>\n", file);
    }
}

static void put_missing(const struct yarn_profile *profile, const char *side, FILE *file)
{
    struct yarn_trust trust = trust_of(profile);
    struct yarn_trust_gaps gaps = yarn_trust_gaps(&trust);
    const struct {
        double percent;
        const char *what;
    } sentences[] = {
        {percent_of_stops(profile), "of the time recording was stopped"},
        {gaps.kernel, "of the CPU time was spent in the [kernel], which was not sampled"},
        {gaps.unsampled, "of the CPU time passed unsampled"},
        {gaps.lost, "of the samples were lost"},
        {gaps.truncated, "of the stacks are cut"},
        {gaps.no_unwind_info + gaps.failed, "of the stacks could not be followed to their end"},
        {gaps.none, "of the samples have no stack"},
    };
    for (size_t i = 0; i < YARN_COUNT_OF(sentences); i++) {
        if (sentences[i].percent > 0)
            (void)fprintf(file, "<span>%s%.1f %% %s</span>\n", side, sentences[i].percent,
                          sentences[i].what);
    }
    put_statuses(profile, side, file);
    if (!trust.clean_end)
        (void)fprintf(file, "<span>%sthe end is missing%s</span>\n", side,
                      trust.unwritten_ns ? ": see About" : "");
    put_phases(profile, side, file);
}

void yarn_page_about_missing(const struct yarn_page_graph *graph, FILE *file)
{
    const struct yarn_profile *before = graph->sides[0].profile;
    if (before)
        put_missing(before, "before: ", file);
    put_missing(graph->sides[1].profile, before ? "after: " : "", file);
}

void yarn_page_about_events(const struct yarn_page_graph *graph, FILE *file)
{
    for (size_t i = 0; i < graph->nr_events; i++) {
        (void)fputs("<option data-unit=\"", file);
        yarn_html_text(file, graph->events[i].unit);
        (void)fprintf(file, "\" value=%zu>", i);
        yarn_html_text(file, graph->events[i].name);
        (void)fputs("</option>\n", file);
    }
}

void yarn_page_about_threads(const struct yarn_page_graph *graph, FILE *file)
{
    for (size_t i = 0; i < graph->nr_threads; i++) {
        const struct yarn_page_thread *lane = &graph->threads[i];
        const struct yarn_profile *profile = graph->sides[lane->side].profile;
        const struct yarn_profile_thread *thread = &profile->threads[lane->number];
        const struct yarn_profile_dump *dump = &profile->dumps[thread->dump];
        bool is_named = graph->sides[lane->side].slices->lanes.kind != YARN_LANES_ALL;
        (void)fprintf(file,
                      "<li data-side=%u data-tid=%u data-pid=%u data-count=%u data-run=%u "
                      "data-image=%u data-process=\"",
                      lane->side, thread->tid, dump->process.pid, lane->count, lane->run,
                      thread->dump);
        yarn_html_text(file, yarn_profile_text(profile, dump->program));
        (void)fputs("\">", file);
        if (lane->count == 1 || is_named)
            yarn_html_text(file, yarn_profile_text(profile, thread->comm));
        (void)fputs("</li>\n", file);
    }
}

/* The words in which it differs from the others; where there is no memory the command as it is. */
static void put_name(struct yarn_commands *commands, const char *command, FILE *file)
{
    char room[4 * COMMAND_BYTES];
    struct yarn_text text = yarn_text_of(room, sizeof room);
    int err = commands ? yarn_commands_name(commands, command, NAME_COLUMNS, &text) : -ENOMEM;
    yarn_html_text(file, err || text.cut ? command : room);
}

/* Of a command line too long to be read, the begin and the end. */
static void put_short_command(const struct yarn_profile_dump *dump,
                              const struct yarn_profile *profile, FILE *file)
{
    const char *text = yarn_profile_text(profile, dump->command);
    size_t size = strlen(text);
    char part[COMMAND_BYTES + 1];
    if (size <= 2 * sizeof part) {
        yarn_html_text(file, text);
        return;
    }
    memcpy(part, text, COMMAND_BYTES);
    part[COMMAND_BYTES] = 0;
    yarn_html_text(file, part);
    (void)fputs("\u2026", file);
    yarn_html_text(file, text + size - COMMAND_BYTES);
}

void yarn_page_about_images(const struct yarn_page_graph *graph, FILE *file)
{
    for (uint32_t side = 0; side < 2; side++) {
        const struct yarn_profile *profile = graph->sides[side].profile;
        struct yarn_commands commands = {.nr_commands = 0};
        int err = profile ? yarn_commands_of(profile, &commands) : 0;
        uint32_t next = 0; /* lanes are in the order of their threads, these in that of dumps */
        for (size_t i = 0; profile && i < graph->nr_threads; i++) {
            uint32_t number = profile->threads[graph->threads[i].number].dump;
            if (graph->threads[i].side != side || number < next)
                continue;
            next = number + 1;
            const struct yarn_profile_dump *dump = &profile->dumps[number];
            (void)fprintf(file, "<li data-number=%u data-side=%u data-name=\"", number, side);
            put_name(err ? NULL : &commands, yarn_profile_text(profile, dump->command), file);
            (void)fputs("\">", file);
            put_short_command(dump, profile, file);
            (void)fputs("</li>\n", file);
        }
        yarn_commands_fini(&commands);
    }
}

void yarn_page_about_modules(const struct yarn_page_order *order, FILE *file)
{
    for (uint32_t i = 0; i < order->modules.count; i++) {
        (void)fputs("<li>", file);
        yarn_html_text(file, yarn_strings_text(&order->modules, i));
        (void)fputs("</li>\n", file);
    }
}

void yarn_page_about_functions(const struct yarn_page_graph *graph,
                               const struct yarn_page_order *order, FILE *file)
{
    for (size_t i = 0; i < order->nr_functions; i++) {
        if (i % ROWS_OF_GROUP == 0)
            (void)fputs(i ? "</div>\n<div class=g role=rowgroup>\n"
                          : "<div class=g role=rowgroup>\n",
                        file);
        (void)fputs("<div class=r role=row><span class=n role=cell>", file);
        yarn_html_text(file, graph->match.functions[order->functions[i]].name);
        (void)fputs("</span></div>\n", file);
    }
    (void)fputs(order->nr_functions ? "</div>\n" : "", file);
}
