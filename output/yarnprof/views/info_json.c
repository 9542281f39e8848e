/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "core/event/status.h"
#include "output/analysis/profile/event_status.h"
#include "output/analysis/time/coverage.h"
#include "output/analysis/time/kernel_time.h"
#include "output/analysis/value/clock.h"
#include "output/dump/words.h"
#include "output/text/json.h"
#include "output/text/legible.h"
#include "output/yarnprof/options/command_line.h"
#include "output/yarnprof/views/info.h"
#include "output/yarnprof/views/report.h"

/* The process that is shown. */
struct subject {
    const struct yarn_profile *profile;
    const struct yarn_profile_dump *dump;
    size_t first_thread; /* of its own among those of the profile */
};

/* Writes what the n-th object of a list says. */
typedef void put_fields_fn(struct yarn_json *json, const struct subject *subject, size_t n);

static void put_list(struct yarn_json *json, const struct subject *subject, const char *key,
                     size_t count, put_fields_fn *put_fields)
{
    yarn_json_begin_array(json, key);
    for (size_t i = 0; i < count; i++) {
        yarn_json_begin_object(json, NULL);
        put_fields(json, subject, i);
        yarn_json_end_object(json);
    }
    yarn_json_end_array(json);
}

static void put_argv(struct yarn_json *json, struct yarn_span arguments)
{
    yarn_json_begin_array(json, "argv");
    /* The copy in the profile has a NUL behind it. */
    for (size_t at = 0; at < arguments.size; at += strlen((const char *)arguments.data + at) + 1)
        yarn_json_text(json, NULL, (const char *)arguments.data + at);
    yarn_json_end_array(json);
}

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
    yarn_json_text(json, "cmdline", line ? line : "");
    put_argv(json, process->cmdline);
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
    yarn_json_u64(json, "stack_asked_bytes", sampler->stack_asked_bytes);
    yarn_json_u64(json, "stack_got_bytes", sampler->stack_got_bytes);
    yarn_json_end_object(json);
}

/* A tracepoint's, which alone is kept byte for byte. */
static void put_format(struct yarn_json *json, struct yarn_span format)
{
    char *owned;
    yarn_json_span(json, "format", yarn_legible_span(format, &owned));
    free(owned);
}

static void put_status(struct yarn_json *json, const struct yarn_profile_dump *dump, size_t n)
{
    char bytes[128];
    struct yarn_text words = yarn_text_of(bytes, sizeof bytes);
    yarn_event_status_describe(yarn_dump_event_status(dump, n).bits, &words);
    yarn_json_text(json, "status", bytes);
}

static void put_event(struct yarn_json *json, const struct subject *subject, size_t n)
{
    const struct yarn_profile_dump_event *event = &subject->dump->events[n];
    const struct yarn_dump_event *record = &event->record;
    yarn_json_span(json, "name", record->name);
    yarn_json_span(json, "asked", record->asked);
    yarn_json_span(json, "got", record->got);
    put_status(json, subject->dump, n);
    yarn_json_u64(json, "errno", record->error);
    yarn_json_u64(json, "count", event->count.count);
    yarn_json_u64(json, "time_enabled", event->count.time_enabled_ns);
    yarn_json_u64(json, "time_running", event->count.time_running_ns);
    yarn_json_u64(json, "lost", event->count.lost);
    yarn_json_bool(json, "in_error", event->count.is_in_error);
    yarn_json_u64(json, "samples", event->samples);
    yarn_json_span(json, "unit", record->unit);
    yarn_json_span(json, "reason", record->reason);
    yarn_json_u64(json, "period", record->period);
    yarn_json_u64_if(json, "alternate_period", event->alternate_period, event->alternate_period);
    yarn_json_u64(json, "frequency", record->frequency);
    yarn_json_u64(json, "group", record->group);
    put_format(json, record->format);
    yarn_json_span(json, "filter", record->filter);
    yarn_json_bool(json, "excludes_kernel", record->flags & YARN_DUMP_EVENT_EXCLUDES_KERNEL);
    yarn_json_bool(json, "kernel_refused", record->flags & YARN_DUMP_EVENT_KERNEL_REFUSED);
}

static void put_thread(struct yarn_json *json, const struct subject *subject, size_t n)
{
    const struct yarn_profile_thread *thread =
        &subject->profile->threads[subject->first_thread + n];
    const struct yarn_dump_process *process = &subject->dump->process;
    yarn_json_u64(json, "tid", thread->tid);
    yarn_json_u64(json, "parent_tid", thread->parent_tid);
    yarn_json_text(json, "comm", yarn_profile_text(subject->profile, thread->comm));
    yarn_json_u64(json, "start_ns", yarn_clock_shown_ns(process, thread->start_ns));
    yarn_json_u64_if(json, "end_ns", thread->has_ended,
                     yarn_clock_shown_ns(process, thread->end_ns));
    yarn_json_u64(json, "cpu_ns", thread->cpu_ns);
    yarn_json_u64(json, "samples", thread->samples);
}

static void put_module(struct yarn_json *json, const struct subject *subject, size_t n)
{
    const struct yarn_dump_module *module = &subject->dump->modules[n];
    char build_id[72];
    yarn_json_span(json, "path", module->path);
    yarn_json_text_or_null(json, "build_id",
                           yarn_hex_text(module->build_id, build_id, sizeof build_id));
    yarn_json_u64(json, "start", module->start);
    yarn_json_u64(json, "end", module->end);
    yarn_json_u64(json, "file_offset", module->file_offset);
    yarn_json_u64(json, "bias", module->bias);
    yarn_json_u64(json, "time_ns", yarn_clock_shown_ns(&subject->dump->process, module->time_ns));
    yarn_json_text(json, "kind", yarn_dump_word_of_module_kind(module->kind));
    yarn_json_text(json, "state", yarn_dump_word_of_module_state(module->state));
    yarn_json_u64(json, "file_bytes", module->file_bytes);
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

static void put_message(struct yarn_json *json, const struct subject *subject, size_t n)
{
    const struct yarn_dump_message *message = &subject->dump->messages[n];
    yarn_json_u64(json, "time_ns", yarn_clock_shown_ns(&subject->dump->process, message->time_ns));
    yarn_json_text(json, "kind", yarn_dump_word_of_message_kind(message->kind));
    yarn_json_u64(json, "tid", message->tid);
    yarn_json_span(json, "text", message->text);
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

static void put_tree_process(struct yarn_json *json, const struct subject *subject, size_t n)
{
    const struct yarn_dump_process *holder = &subject->dump->process;
    const struct yarn_dump_tree_process *process = &subject->dump->tree_processes[n];
    yarn_json_u64(json, "pid", process->pid);
    yarn_json_u64(json, "ppid", process->parent_pid);
    yarn_json_span(json, "exe", process->program);
    yarn_json_u64(json, "start_ns", yarn_clock_shown_ns(holder, process->start_ns));
    yarn_json_u64(json, "end_ns", yarn_clock_shown_ns(holder, process->end_ns));
    yarn_json_text(json, "exit", yarn_dump_word_of_end_reason(process->reason));
    yarn_json_u64_if(json, "exit_status", process->status >= 0, (uint64_t)process->status);
    yarn_json_u64(json, "cpu_ns", process->cpu_ns);
    yarn_json_u64(json, "sampled_ns", process->sampled_ns);
    yarn_json_bool(json, "has_dump", process->flags & YARN_DUMP_TREE_HAS_DUMP);
    yarn_json_bool(json, "is_estimated", process->flags & YARN_DUMP_TREE_IS_ESTIMATED);
    yarn_json_bool(json, "is_unknown", process->flags & YARN_DUMP_TREE_IS_UNKNOWN);
}

static void put_tree_program(struct yarn_json *json, const struct subject *subject, size_t n)
{
    const struct yarn_dump_tree_program *program = &subject->dump->tree_programs[n];
    yarn_json_span(json, "exe", program->program);
    yarn_json_u64(json, "processes", program->processes);
    yarn_json_u64(json, "silent", program->silent);
    yarn_json_u64(json, "unknown", program->unknown);
    yarn_json_u64(json, "cpu_ns", program->cpu_ns);
    yarn_json_u64(json, "sampled_ns", program->sampled_ns);
}

/* Of a recording from outside. */
static void put_tree(struct yarn_json *json, const struct subject *subject)
{
    const struct yarn_dump_tree *tree = &subject->dump->tree;
    if (!subject->dump->has_tree && !subject->dump->nr_tree_programs)
        return;
    yarn_json_begin_object(json, "tree");
    yarn_json_u64(json, "processes", tree->processes);
    yarn_json_u64(json, "cpu_ns", tree->cpu_ns);
    yarn_json_u64(json, "counted_ns", tree->counted_ns);
    yarn_json_u64(json, "stray", tree->stray);
    put_list(json, subject, "programs", subject->dump->nr_tree_programs, put_tree_program);
    put_list(json, subject, "list", subject->dump->nr_tree_processes, put_tree_process);
    yarn_json_end_object(json);
}

static void put_damage(struct yarn_json *json, const struct subject *subject, size_t n)
{
    const struct yarn_dump_damage *damage = &subject->dump->summary.damages[n];
    yarn_json_u64(json, "offset", damage->offset);
    yarn_json_u64(json, "bytes", damage->size);
    yarn_json_text(json, "why", damage->why);
}

static void put_phases(struct yarn_json *json, const struct yarn_profile *profile, size_t number)
{
    yarn_json_begin_array(json, "in_phase");
    for (size_t i = 0; i < profile->nr_phases; i++)
        if (profile->phases[i].dump == number)
            yarn_report_put_phase(profile, &profile->phases[i], json);
    yarn_json_end_array(json);
}

static void put_from(struct yarn_json *json, const struct subject *subject, size_t n)
{
    const struct yarn_dump_from *from = &subject->dump->froms[n];
    yarn_json_span(json, "path", from->path);
    yarn_json_u64(json, "bytes", from->file_bytes);
    yarn_json_u64(json, "damages", from->nr_damages);
    yarn_json_u64(json, "damaged_bytes", from->damaged_bytes);
    yarn_json_u64(json, "damage_offset", from->damage_at);
    yarn_json_span(json, "damage", from->damage);
    yarn_json_bool(json, "is_cut", from->is_cut);
    yarn_json_u64(json, "cut_offset", from->cut_at);
}

static void put_dump(struct yarn_json *json, const struct yarn_profile *profile, size_t number)
{
    const struct yarn_profile_dump *dump = &profile->dumps[number];
    const struct yarn_dump_summary *summary = &dump->summary;
    struct yarn_info_threads threads = yarn_info_threads_of(profile, number);
    struct subject subject = {profile, dump, threads.begin};
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
    put_list(json, &subject, "events", dump->nr_events, put_event);
    put_list(json, &subject, "threads", threads.end - threads.begin, put_thread);
    put_list(json, &subject, "modules", dump->nr_modules, put_module);
    put_trust(json, dump);
    put_phases(json, profile, number);
    put_options(json, dump);
    put_list(json, &subject, "messages", dump->nr_messages, put_message);
    put_stopped(json, dump);
    put_tree(json, &subject);
    put_list(json, &subject, "damage",
             yarn_size_min(summary->nr_damages, YARN_COUNT_OF(summary->damages)), put_damage);
    put_list(json, &subject, "merged_from", dump->nr_froms, put_from);
    yarn_json_end_object(json);
}

void yarn_info_json(const struct yarn_profile *profile, const struct yarn_out *out)
{
    yarn_json_begin_array(out->json, "dumps");
    for (size_t i = 0; i < profile->nr_dumps; i++)
        put_dump(out->json, profile, i);
    yarn_json_end_array(out->json);
    yarn_report_put_completeness(profile, out->json);
}
