/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/outside/wanted.h"

#include "output/yarnprof/io/status.h"

enum { FAULT_BYTES = 1024 };

/* The options that mean the same from outside; others may only have their default. */
static bool is_known(enum yarn_option option)
{
    static const enum yarn_option known[] = {
        YARN_OPTION_EVENTS, YARN_OPTION_FREQUENCY, YARN_OPTION_CALLGRAPH, YARN_OPTION_UNWINDER,
        YARN_OPTION_OUTPUT, YARN_OPTION_READER,    YARN_OPTION_RING,      YARN_OPTION_INTERVAL,
        YARN_OPTION_CLOCK,  YARN_OPTION_FOLLOW,    YARN_OPTION_COMM,      YARN_OPTION_LOG,
        YARN_OPTION_RUN,    YARN_OPTION_DURATION,  YARN_OPTION_JIT,       YARN_OPTION_START,
        YARN_OPTION_DELAY,  YARN_OPTION_CONTROL,
    };
    for (size_t i = 0; i < YARN_COUNT_OF(known); i++)
        if (known[i] == option)
            return true;
    return false;
}

static bool is_possible(const struct yarn_options *options, enum yarn_option option)
{
    if (option == YARN_OPTION_SAMPLER)
        return options->sampler != YARN_SAMPLER_TIMER;
    if (option == YARN_OPTION_STRATEGY)
        return options->strategy != YARN_STRATEGY_PER_THREAD;
    if (option == YARN_OPTION_SCHED)
        return options->sched.kind <= YARN_SCHED_SWITCH;
    return is_known(option);
}

static int refuse_options(const struct yarn_options *options)
{
    for (enum yarn_option i = yarn_options_next_changed(options, 0); i < YARN_OPTION_COUNT;
         i = yarn_options_next_changed(options, i + 1)) {
        if (is_possible(options, i))
            continue;
        yarn_complain("record", "--outside does not have --%s=%s: leave it out, or record --inside",
                      yarn_option_row(i)->name, options->texts[i]);
        return YARN_STATUS_USAGE;
    }
    return 0;
}

static int refuse_events(const struct yarn_event_list *events)
{
    for (size_t i = 0; i < events->count; i++) {
        const struct yarn_event_spec *event = &events->specs[i];
        if (event->kind != YARN_EVENT_PROBE)
            continue;
        yarn_complain(
            "record",
            "--outside does not have probes, such as %s: leave it out, or record --inside",
            event->asked);
        return YARN_STATUS_USAGE;
    }
    return 0;
}

static int refuse_waits(const struct yarn_job *job)
{
    if (job->nr_perf_events == job->events.count || job->options.sched.kind != YARN_SCHED_OFF)
        return 0;
    yarn_complain("record", "off-cpu needs the switch records that --sched=off leaves out");
    return YARN_STATUS_USAGE;
}

/* The kernel does not exchange the events of two threads then, but takes off and puts on each. */
static void warn_of_groups(const struct yarn_event_list *events)
{
    for (size_t i = 0; i < events->count; i++)
        if (events->specs[i].reads_group) {
            yarn_complain("record",
                          "a group that is read with each sample (:S) makes each switch between "
                          "two threads or processes of the tree cost more");
            return;
        }
}

int yarn_wanted_read(struct yarn_job *job, char *const argv[])
{
    extern char **environ;
    char bytes[FAULT_BYTES];
    struct yarn_text fault = yarn_text_of(bytes, sizeof bytes);
    int argc = 0;
    while (argv[argc])
        argc++;
    int err = yarn_job_init_for_tree(job, argc, argv, environ, &fault);
    if (err) {
        yarn_complain("record", "%s", fault.size ? bytes : strerror(-err));
        return fault.size ? YARN_STATUS_USAGE : YARN_STATUS_FAILED;
    }
    int status = refuse_options(&job->options);
    if (!status)
        status = refuse_events(&job->events);
    if (!status)
        status = refuse_waits(job);
    if (!status)
        warn_of_groups(&job->events);
    if (status)
        yarn_job_fini(job);
    return status;
}

/* Why not always: switch records that are too many are not given up then. */
static bool can_pause(const struct yarn_options *options)
{
    return options->control[0] || options->start == YARN_START_OFF || options->delay_ns;
}

struct yarn_session_request yarn_wanted_request(const struct yarn_job *job,
                                                const struct yarn_target *target)
{
    const struct yarn_options *options = &job->options;
    struct yarn_session_request request = {
        .events = job->events.specs,
        .nr_events = job->nr_perf_events,
        .next_number = (uint32_t)job->events.count,
        .frequency_hz = options->frequency_hz,
        .sampler = YARN_SAMPLER_PERF,
        .strategy = YARN_STRATEGY_PER_CORE,
        .stack = yarn_session_stack_kind(&options->callgraph),
        .stack_bytes = options->callgraph.stack_bytes,
        .may_deepen = options->callgraph.kind == YARN_CALLGRAPH_AUTO,
        .ring_bytes = options->ring_bytes,
        .interval_ns = options->interval_ns,
        .reader = YARN_READER_POLL,
        .pid = target->pid,
        .target = target,
        .follows_tree = true,
        .of_cores = options->strategy == YARN_STRATEGY_CORES,
        .times_tree = options->sched.kind != YARN_SCHED_OFF,
        .can_pause = can_pause(options),
        .starts_paused = options->start == YARN_START_OFF || options->delay_ns,
        .records_switches = true, /* by the event that follows the tree */
        .switch_rate_max_hz = options->sched.rate_max_hz,
        .includes_reader = true,
        .machine_refusal = "events of the whole machine are not recorded from outside",
    };
    if (!request.stack_bytes)
        request.stack_bytes = YARN_STACK_BYTES_DEFAULT;
    return request;
}
