/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/outside/outside.h"

#include <signal.h>

#include "core/sys/clock.h"
#include "output/yarnprof/command/spawn.h"
#include "output/yarnprof/io/status.h"
#include "output/yarnprof/outside/steering.h"
#include "output/yarnprof/outside/wanted.h"

static volatile sig_atomic_t is_interrupted;

static int open_recorder(struct yarn_recorder_outside *recorder, const struct yarn_job *job,
                         pid_t pid)
{
    recorder->target = yarn_target_of(pid);
    recorder->request = yarn_wanted_request(job, &recorder->target);
    recorder->request.starts_at_exec = !recorder->request.of_cores;
    int err = yarn_recorder_outside_open(recorder, job);
    if (err)
        return err;
    err = yarn_process_tree_add_first(&recorder->tree, pid, yarn_clock_ns(YARN_TIME_MONOTONIC));
    if (err)
        yarn_complain("record", "no memory for the processes (%s)", strerror(-err));
    else
        yarn_recorder_outside_begin(recorder);
    return err;
}

static void pass(struct yarn_steering *steering, uint64_t most_ns)
{
    yarn_steering_wait(steering, most_ns);
    yarn_recorder_outside_drain(steering->recorder);
    yarn_steering_serve(steering);
}

/* Until the command has ended. */
static void follow(struct yarn_steering *steering, struct yarn_spawn *spawn)
{
    const struct yarn_recorder_outside *recorder = steering->recorder;
    while (!yarn_spawn_wait(spawn, recorder->is_over ? UINT64_MAX
                                                     : yarn_recorder_outside_pause_ns(recorder)))
        pass(steering, recorder->job->options.interval_ns);
}

static void interrupt(int number)
{
    (void)number;
    is_interrupted = 1;
}

/* Signals end the recording alone, now that there is no command for them. */
static void follow_rest(struct yarn_steering *steering)
{
    const struct yarn_recorder_outside *recorder = steering->recorder;
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < YARN_COUNT_OF(numbers); i++) {
        struct sigaction action = {.sa_handler = interrupt};
        (void)sigaction(numbers[i], &action, NULL);
    }
    /* The record of the command's end may be lost. */
    const uint64_t late_ns = yarn_clock_ns(YARN_TIME_MONOTONIC) + YARN_NS_PER_SECOND;
    while (!recorder->is_over && !is_interrupted) {
        pass(steering, yarn_recorder_outside_pause_ns(recorder));
        bool is_known = yarn_process_tree_has_seen_end(&recorder->tree) ||
                        yarn_clock_ns(YARN_TIME_MONOTONIC) >= late_ns;
        if (is_known && !yarn_process_tree_has_descendants(&recorder->tree))
            break;
    }
}

static uint64_t ns_of(struct timeval time)
{
    return (uint64_t)time.tv_sec * YARN_NS_PER_SECOND + (uint64_t)time.tv_usec * 1000;
}

static int finish(struct yarn_outside *outside, struct yarn_recorder_outside *recorder,
                  struct yarn_spawn *spawn)
{
    int status = YARN_STATUS_FAILED;
    int err = yarn_spawn_finish(spawn, &status);
    if (err) {
        yarn_complain("record", "%s: %s", outside->argv[0], strerror(-err));
        status = err == -ENOENT ? YARN_STATUS_NO_COMMAND : YARN_STATUS_CANNOT_RUN;
    }
    yarn_recorder_outside_end(recorder, status, &outside->dumps);
    outside->has_failed = recorder->tree.failure;
    if (err)
        return status;
    outside->cpu_ns = ns_of(spawn->usage.ru_utime) + ns_of(spawn->usage.ru_stime);
    outside->life_ns = spawn->end_ns - spawn->begin_ns;
    return status;
}

static int run(struct yarn_outside *outside, struct yarn_recorder_outside *recorder,
               const struct yarn_job *job)
{
    static struct yarn_steering steering;
    struct yarn_spawn spawn;
    int err = yarn_spawn_start(&spawn, outside->argv, NULL, NULL);
    if (err) {
        yarn_complain("record", "%s: %s", outside->argv[0], strerror(-err));
        return YARN_STATUS_FAILED;
    }
    if (open_recorder(recorder, job, spawn.pid) ||
        yarn_steering_open(&steering, recorder, spawn.pid, outside->argv[0])) {
        yarn_spawn_cancel(&spawn);
        return YARN_STATUS_FAILED;
    }
    yarn_spawn_release(&spawn);
    follow(&steering, &spawn);
    if (outside->waits_for_tree)
        follow_rest(&steering);
    yarn_steering_close(&steering);
    yarn_recorder_outside_stop(recorder);
    return finish(outside, recorder, &spawn);
}

int yarn_outside_run(struct yarn_outside *outside)
{
    static struct yarn_job job;
    static struct yarn_recorder_outside recorder;
    int status = yarn_wanted_read(&job, outside->argv);
    if (status)
        return status;
    status = run(outside, &recorder, &job);
    yarn_recorder_outside_close(&recorder);
    yarn_job_fini(&job);
    return status;
}
