/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/process/job.h"

#include "core/base/glob.h"
#include "core/base/text.h"
#include "core/config/pattern.h"
#include "core/event/encoded.h"
#include "core/event/events.h"

enum { ARENA_BYTES = YARN_OPTIONS_ARENA_BYTES + 256 * 1024 };

/* Why part of the library: a fork copies no table of its own for it. */
static uint8_t arena_room[ARENA_BYTES];

static int parse_list(struct yarn_job *job, enum yarn_option option, const char *text,
                      struct yarn_event_list *list, struct yarn_text *fault)
{
    struct yarn_parse_error error;
    int err = yarn_event_list_parse(text, strlen(text), &job->arena, list, &error);
    if (err == -EINVAL) {
        struct yarn_option_fault at = yarn_option_fault_in(&job->options, option, &error);
        yarn_option_fault_describe(&at, fault);
    }
    return err;
}

static int parse_counters(struct yarn_job *job, struct yarn_text *fault)
{
    const char *text = job->options.counters;
    if (!text[0])
        return 0;
    struct yarn_event_list *list = YARN_ARENA_NEW(&job->arena, struct yarn_event_list, 1);
    if (!list)
        return -ENOMEM;
    int err = parse_list(job, YARN_OPTION_COUNTERS, text, list, fault);
    if (err || !yarn_event_list_add_counted(&job->events, list))
        return err;
    yarn_text_add(fault, "YARN_COUNTERS: too many events: 32, and a clock for each counted one, "
                         "would be right");
    return -EINVAL;
}

/* Not asked for from the kernel; what is counted is refused by the session. */
static bool is_off_cpu(const struct yarn_event_spec *spec)
{
    return spec->kind == YARN_EVENT_OFF_CPU && !spec->is_counted;
}

/* Something has to report threads and mappings: where nothing else is asked for, a dummy. */
static int add_dummy(struct yarn_job *job, struct yarn_text *fault)
{
    struct yarn_event_list *list = YARN_ARENA_NEW(&job->arena, struct yarn_event_list, 1);
    int err = list ? parse_list(job, YARN_OPTION_EVENTS, "dummy:u", list, fault) : -ENOMEM;
    if (err)
        return err;
    memmove(&job->events.specs[1], &job->events.specs[0],
            job->events.count++ * sizeof job->events.specs[0]);
    job->events.specs[0] = list->specs[0];
    return 0;
}

/* Of each thread of the process, whatever else is. */
static bool has_own_event(const struct yarn_event_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (!is_off_cpu(&list->specs[i]) && !list->specs[i].is_scheduling)
            return true;
    return false;
}

/* What the kernel is not asked for goes to the end. */
static int split_off_cpu(struct yarn_job *job, struct yarn_text *fault)
{
    struct yarn_event_list *list = &job->events;
    size_t kept = 0;
    struct yarn_event_spec off_cpu = {.asked = NULL};
    int err = has_own_event(list) ? 0 : add_dummy(job, fault);
    if (err)
        return err;
    for (size_t i = 0; i < list->count; i++) {
        if (is_off_cpu(&list->specs[i]))
            off_cpu = list->specs[i];
        else
            list->specs[kept++] = list->specs[i];
    }
    job->nr_perf_events = kept;
    if (kept < list->count)
        list->specs[kept] = off_cpu;
    return 0;
}

/* What cannot be added is what this machine does not have, or one more than there may be. */
static int add_scheduling(struct yarn_job *job)
{
    enum yarn_sched_kind kind = job->options.sched.kind;
    if (kind < YARN_SCHED_TRACEPOINTS)
        return 0;
    return yarn_event_list_add_scheduling(&job->events, &job->arena, kind != YARN_SCHED_TRACEPOINTS,
                                          kind == YARN_SCHED_AUTO);
}

/* What the dump says was asked for. */
static int decode_events(struct yarn_job *job)
{
    const char *events = job->options.events;
    size_t room = strlen(events) + 1;
    char *asked = YARN_ARENA_NEW(&job->arena, char, room);
    if (!asked)
        return -ENOMEM;
    struct yarn_text text = yarn_text_of(asked, room);
    yarn_event_list_decode(&job->events, events, &text);
    job->options.texts[YARN_OPTION_EVENTS] = asked;
    return 0;
}

static bool counts_each(const struct yarn_event_spec *spec)
{
    return spec->is_counted || (spec->period == 1 && !spec->is_scheduling);
}

/* Of which the first sample comes when a period is over. */
static bool is_by_rate(const struct yarn_event_spec *spec)
{
    return !spec->is_counted && !spec->is_scheduling && !spec->has_own_rate && spec->period != 1 &&
           spec->kind != YARN_EVENT_OFF_CPU;
}

static int parse_events(struct yarn_job *job, struct yarn_text *fault)
{
    int err = parse_list(job, YARN_OPTION_EVENTS, job->options.events, &job->events, fault);
    if (!err)
        err = decode_events(job);
    if (!err)
        err = parse_counters(job, fault);
    if (!err)
        err = add_scheduling(job);
    if (!err)
        err = split_off_cpu(job, fault);
    job->samples_by_rate = job->options.strategy != YARN_STRATEGY_CORES;
    for (size_t i = 0; !err && i < job->events.count; i++) {
        yarn_event_spec_apply_rate(&job->events.specs[i], job->options.frequency_hz);
        job->counts_each |= counts_each(&job->events.specs[i]);
        job->samples_by_rate &= is_by_rate(&job->events.specs[i]);
    }
    return err;
}

/* What the patterns and the dump's rank read of the environment. */
static int keep_environment(struct yarn_job *job)
{
    char patterns[2 * YARN_OPTION_TEXT_MAX + sizeof "%r"];
    struct yarn_text text = yarn_text_of(patterns, sizeof patterns);
    yarn_text_add(&text, job->options.output);
    yarn_text_add(&text, job->options.control);
    yarn_text_add(&text, "%r");
    job->envp = yarn_pattern_environment(patterns, job->envp, &job->arena);
    job->rank = job->envp ? yarn_pattern_rank(job->envp) : NULL;
    return job->envp ? 0 : -ENOMEM;
}

bool yarn_job_is_for(const struct yarn_options *options, const char *path)
{
    return yarn_glob_list_matches(options->comm, yarn_path_base(path));
}

static int read_job(struct yarn_job *job, int argc, char *const argv[], struct yarn_text *fault)
{
    struct yarn_option_fault at;
    int err = yarn_options_from_env(&job->options, &job->arena, job->envp, &at);
    if (err == -EINVAL)
        yarn_option_fault_describe(&at, fault);
    if (!err)
        err = parse_events(job, fault);
    if (!err)
        err = keep_environment(job);
    if (!err)
        err = yarn_facts_take(&job->facts, &job->arena, argc, argv);
    return err;
}

int yarn_job_init_for_tree(struct yarn_job *job, int argc, char *const argv[], char *const envp[],
                           struct yarn_text *fault)
{
    job->envp = envp;
    yarn_arena_open_over(&job->arena, arena_room, sizeof arena_room);
    int err = read_job(job, argc, argv, fault);
    if (err)
        yarn_job_fini(job);
    return err;
}

int yarn_job_init(struct yarn_job *job, int argc, char *const argv[], char *const envp[],
                  struct yarn_text *fault)
{
    int err = yarn_job_init_for_tree(job, argc, argv, envp, fault);
    if (err || yarn_job_is_for(&job->options, job->facts.exe) ||
        yarn_job_is_for(&job->options, job->facts.name))
        return err;
    yarn_job_fini(job);
    return -ECANCELED;
}

void yarn_job_leave_others(struct yarn_job *job, const char *why)
{
    if (job->options.strategy == YARN_STRATEGY_CORES)
        job->options.strategy = YARN_STRATEGY_AUTO;
    job->machine_refusal = why;
}

bool yarn_job_is_wanted_early(char *const envp[], const char *path)
{
    struct yarn_arena arena;
    struct yarn_options options;
    struct yarn_option_fault fault;
    if (!path)
        return true;
    yarn_arena_open(&arena, ARENA_BYTES);
    bool is_wanted = yarn_options_from_env(&options, &arena, envp, &fault) != 0 ||
                     yarn_job_is_for(&options, path);
    yarn_arena_close(&arena);
    return is_wanted;
}

void yarn_job_fini(struct yarn_job *job)
{
    yarn_probe_sites_close(&job->probe_sites);
    yarn_arena_close(&job->arena);
}
