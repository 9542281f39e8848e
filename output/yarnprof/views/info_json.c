/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/time/coverage.h"
#include "output/analysis/time/kernel_time.h"
#include "output/analysis/value/clock.h"
#include "output/dump/words.h"
#include "output/text/json.h"
#include "output/yarnprof/options/command_line.h"
#include "output/yarnprof/views/info.h"
#include "output/yarnprof/views/report.h"

static void put_relative(struct yarn_json *json, const char *key, uint32_t pid, uint64_t start_ns)
{
    if (!pid) {
        yarn_json_null(json, key);
        return;
    }
    yarn_json_begin_object(json, key);
    yarn_json_u64(json, "pid", pid);
    yarn_json_u64(json, "start_ns", start_ns);
    yarn_json_end_object(json);
}

static void put_end(struct yarn_json *json, const struct yarn_profile_dump *dump)
{
    uint64_t end_ns = dump->has_end ? dump->end.time_ns : dump->last_ns;
    yarn_json_u64(json, "end_ns", yarn_clock_shown_ns(&dump->process, end_ns));
    yarn_json_text_or_null(json, "exit",
                           dump->has_end ? yarn_dump_word_of_end_reason(dump->end.reason) : "");
    yarn_json_u64_if(json, "exit_status", dump->has_end && dump->end.status >= 0,
                     (uint64_t)dump->end.status);
}

static void put_process(struct yarn_json *json, const struct yarn_profile_dump *dump)
{
    const struct yarn_dump_process *process = &dump->process;
    char *line = yarn_command_line(process->cmdline);
    yarn_json_begin_object(json, "process");
    yarn_json_u64(json, "pid", process->pid);
    yarn_json_u64(json, "ppid", process->ppid);
    yarn_json_span(json, "exe", process->exe);
    yarn_json_span(json, "name", process->name);
    yarn_json_text(json, "cmdline", line ? line : "");
    yarn_json_words(json, "argv", process->cmdline); /* the copy has a NUL behind it */
    yarn_json_u64(json, "start_ns", yarn_clock_shown_ns(process, process->start_ns));
    yarn_json_u64(json, "start_realtime_ns", process->start_realtime_ns);
    put_end(json, dump);
    put_relative(json, "predecessor", process->predecessor_pid,
                 yarn_clock_shown_ns(process, process->predecessor_start_ns));
    put_relative(json, "parent", process->parent_pid,
                 yarn_clock_shown_ns(process, process->parent_start_ns));
    if (process->root_pid)
        yarn_json_u64(json, "root_pid", process->root_pid);
    yarn_json_text(json, "clock", yarn_dump_word_of_clock(process->clock));
    yarn_json_span(json, "host", process->host);
    yarn_json_span(json, "rank", process->rank);
    yarn_json_span(json, "kernel", process->kernel);
    yarn_json_span(json, "arch", process->arch);
    yarn_json_u64(json, "cpus_online", process->cpus_online);
    yarn_json_u64(json, "cpus_present", process->cpus_present);
    yarn_json_end_object(json);
    yarn_command_line_free(line);
}

static void put_sched(struct yarn_json *json, const struct yarn_profile_dump *dump)
{
    if (!dump->has_sched) {
        yarn_json_null(json, "sched");
        return;
    }
    yarn_json_begin_object(json, "sched");
    yarn_json_span(json, "asked", dump->sched.asked);
    yarn_json_span(json, "got", dump->sched.got);
    yarn_json_span(json, "reason", dump->sched.reason);
    yarn_json_u64(json, "cut_ns", yarn_profile_dump_cut_ns(dump));
    yarn_json_end_object(json);
}

static void put_sampler(struct yarn_json *json, const struct yarn_profile_dump *dump)
{
    const struct yarn_dump_sampler *sampler = &dump->sampler;
    yarn_json_begin_object(json, "sampler");
    yarn_json_span(json, "asked", sampler->asked);
    yarn_json_span(json, "got", sampler->got);
    yarn_json_span(json, "reason", sampler->reason);
    yarn_json_span(json, "strategy", sampler->strategy);
    yarn_json_span(json, "reader", sampler->reader);
    yarn_json_text(json, "samples_of", yarn_kernel_word(dump));
    yarn_json_u64(json, "ring_asked_bytes", sampler->ring_asked_bytes);
    yarn_json_u64(json, "ring_got_bytes", sampler->ring_got_bytes);
    yarn_json_u64(json, "rings", sampler->nr_rings);
    yarn_json_u64(json, "own_tid", sampler->own_tid);
    yarn_json_u64(json, "stack_asked_bytes", sampler->stack_asked_bytes);
    yarn_json_u64(json, "stack_got_bytes", sampler->stack_got_bytes);
    yarn_json_end_object(json);
}

static void put_stored(struct yarn_json *json, const struct yarn_trust *trust)
{
    if (!trust->disagrees)
        return;
    yarn_json_begin_object(json, "recorder_counted");
#define YARN_TOTAL(number, NAME, name, prose)                                                      \
    yarn_json_u64(json, #name, trust->stored.value[YARN_DUMP_TOTAL_##NAME]);
#include "output/dump/format.def"
    yarn_json_end_object(json);
}

static void put_trust(struct yarn_json *json, const struct yarn_profile_dump *dump)
{
    struct yarn_trust trust = dump->trust;
    trust.cpu_ns = yarn_info_cpu_ns(dump);
    yarn_json_begin_object(json, "trust");
#define YARN_TOTAL(number, NAME, name, prose) yarn_json_u64(json, #name, trust.name);
#include "output/dump/format.def"
    yarn_json_u64(json, "stacks_unasked", trust.stacks_unasked);
    yarn_json_u64(json, "leaves_unknown", trust.leaves_unknown);
    yarn_json_bool(json, "clean_end", trust.clean_end);
    put_stored(json, &trust);
    yarn_json_end_object(json);
}

static void put_gap(struct yarn_json *json, const struct yarn_dump_process *process,
                    const struct yarn_coverage_gap *gap)
{
    yarn_json_begin_object(json, NULL);
    yarn_json_u64(json, "from_ns", yarn_clock_shown_ns(process, gap->from_ns));
    yarn_json_u64(json, "to_ns", yarn_clock_shown_ns(process, gap->to_ns));
    yarn_json_u64(json, "cpu_ns", gap->cpu_ns);
    yarn_json_text(json, "stopped_by", yarn_dump_word_of_coverage_cause(gap->stopped_by));
    yarn_json_text_or_null(json, "started_by",
                           gap->has_end ? yarn_dump_word_of_coverage_cause(gap->started_by) : NULL);
    yarn_json_end_object(json);
}

/* Between a record that says stopped and the next: not every record of the list is one. */
static void put_stopped(struct yarn_json *json, const struct yarn_profile_dump *dump)
{
    struct yarn_coverage_gap gap;
    yarn_json_begin_array(json, "stopped");
    for (size_t i = 0; i < dump->nr_coverage; i++)
        if (yarn_coverage_gap_at(dump, i, &gap))
            put_gap(json, &dump->process, &gap);
    yarn_json_end_array(json);
}

static void put_options(struct yarn_json *json, const struct yarn_profile_dump *dump)
{
    yarn_json_begin_object(json, "options");
    for (size_t i = 0; i < dump->nr_options; i++)
        yarn_json_span(json, (const char *)dump->options[i].name.data, dump->options[i].value);
    yarn_json_end_object(json);
}

/* Of a recording from outside. */
static void put_tree(struct yarn_json *json, const struct yarn_info *info)
{
    const struct yarn_dump_tree *tree = &info->dump->tree;
    if (!info->dump->has_tree && !info->dump->nr_tree_programs)
        return;
    yarn_json_begin_object(json, "tree");
    yarn_json_u64(json, "processes", tree->processes);
    yarn_json_u64(json, "cpu_ns", tree->cpu_ns);
    yarn_json_u64(json, "counted_ns", tree->counted_ns);
    yarn_json_u64(json, "stray", tree->stray);
    YARN_INFO_SHOW(info, tree_programs, "programs", info->dump->tree_programs,
                   info->dump->nr_tree_programs);
    YARN_INFO_SHOW(info, tree_processes, "list", info->dump->tree_processes,
                   info->dump->nr_tree_processes);
    yarn_json_end_object(json);
}

static void put_phases(struct yarn_json *json, const struct yarn_profile *profile, size_t number)
{
    yarn_json_begin_array(json, "in_phase");
    for (size_t i = 0; i < profile->nr_phases; i++)
        if (profile->phases[i].dump == number)
            yarn_report_put_phase(profile, &profile->phases[i], json);
    yarn_json_end_array(json);
}

void yarn_info_json(const struct yarn_info *info)
{
    const struct yarn_profile_dump *dump = info->dump;
    const struct yarn_dump_summary *summary = &dump->summary;
    struct yarn_json *json = info->out->json;
    char version[16];
    (void)snprintf(version, sizeof version, "%u.%u", summary->version_major,
                   summary->version_minor);
    yarn_json_begin_object(json, NULL);
    yarn_json_text(json, "path", dump->path);
    yarn_json_text(json, "version", version);
    yarn_json_u64(json, "bytes", summary->file_bytes);
    put_process(json, dump);
    put_sampler(json, dump);
    put_sched(json, dump);
    YARN_INFO_SHOW(info, events, "events", dump->events, dump->nr_events);
    YARN_INFO_SHOW(info, threads, "threads", info->threads, info->nr_threads);
    YARN_INFO_SHOW(info, modules, "modules", dump->modules, dump->nr_modules);
    put_trust(json, dump);
    put_phases(json, info->profile, info->number);
    put_options(json, dump);
    YARN_INFO_SHOW(info, messages, "messages", dump->messages, dump->nr_messages);
    put_stopped(json, dump);
    put_tree(json, info);
    YARN_INFO_SHOW(info, damages, "damage", summary->damages,
                   yarn_size_min(summary->nr_damages, YARN_COUNT_OF(summary->damages)));
    yarn_info_show_lists(info);
    yarn_json_end_object(json);
}
