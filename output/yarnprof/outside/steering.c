/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/outside/steering.h"

#include "core/sys/clock.h"
#include "output/yarnprof/io/status.h"
#include "output/yarnprof/outside/waits.h"

static int open_socket(struct yarn_steering *steering, const char *exe)
{
    const struct yarn_job *job = steering->recorder->job;
    struct yarn_facts facts = job->facts;
    facts.pid = steering->pid;
    facts.exe = exe;
    if (!*job->options.control)
        return 0;
    int err = yarn_control_socket_open(&steering->control, job->options.control, &facts, job->envp);
    if (err)
        yarn_complain("record", "--control: %s: %s", steering->control.path,
                      err == -ENAMETOOLONG
                          ? "a socket's path has at most 107 bytes, this one has more"
                          : strerror(-err));
    return err;
}

int yarn_steering_open(struct yarn_steering *steering, struct yarn_recorder_outside *recorder,
                       pid_t pid, const char *exe)
{
    *steering = (struct yarn_steering){.recorder = recorder, .pid = pid};
    bool is_paused = yarn_schedule_begin(&steering->schedule, &recorder->job->options,
                                         yarn_clock_ns(YARN_TIME_MONOTONIC));
    (void)is_paused; /* as the request has it */
    return open_socket(steering, exe);
}

void yarn_steering_wait(const struct yarn_steering *steering, uint64_t most_ns)
{
    struct pollfd visitors[YARN_CONTROL_FDS_MAX];
    size_t count = yarn_control_socket_watch(&steering->control, visitors);
    uint64_t now_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    uint64_t due_ns = yarn_tree_waits_due_ns(&steering->recorder->tree);
    most_ns = yarn_u64_min(most_ns, yarn_u64_minus(due_ns, now_ns));
    yarn_recorder_outside_wait(steering->recorder, visitors, count,
                               yarn_schedule_wait_ns(&steering->schedule, now_ns, most_ns));
}

static void start(struct yarn_steering *steering, enum yarn_dump_coverage_cause cause)
{
    yarn_recorder_outside_resume(steering->recorder, cause);
    yarn_schedule_started(&steering->schedule, yarn_clock_ns(YARN_TIME_MONOTONIC));
}

static void stop(struct yarn_steering *steering, enum yarn_dump_coverage_cause cause)
{
    yarn_recorder_outside_pause(steering->recorder, cause);
    yarn_schedule_stopped(&steering->schedule);
}

static void keep_schedule(struct yarn_steering *steering)
{
    const struct yarn_schedule *schedule = &steering->schedule;
    uint64_t now_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    if (yarn_schedule_wait_ns(schedule, now_ns, UINT64_MAX))
        return;
    if (schedule->start_at_ns)
        start(steering, YARN_DUMP_COVERAGE_DELAY);
    else if (steering->control.is_open && !steering->ends_when_due)
        stop(steering, YARN_DUMP_COVERAGE_DURATION);
    else
        yarn_recorder_outside_stop(steering->recorder);
}

/* ---- commands ---- */

/* In words of one line, as the preload's. */
static void add_status(const struct yarn_steering *steering, struct yarn_text *text)
{
    const struct yarn_process_tree *tree = &steering->recorder->tree;
    yarn_text_add_format(text, "state=%s pid=%d samples=%lu lost=%lu dump=%s",
                         tree->pause.is_off ? "stopped" : "recording", steering->pid,
                         yarn_process_tree_samples(tree),
                         yarn_recorder_outside_lost(steering->recorder),
                         tree->holder ? tree->holder->dump.file.path : "none");
}

static int mark(const struct yarn_steering *steering, struct yarn_span words,
                struct yarn_text *reply)
{
    char line[YARN_CONTROL_MARK_MAX + 1];
    struct yarn_text text = yarn_text_of(line, sizeof line);
    yarn_control_add_line(&text, words);
    int err = yarn_process_tree_mark(&steering->recorder->tree, line);
    yarn_text_add(reply, err ? "no process has a dump to hold it" : "marked");
    return err;
}

static int answer(void *self, const struct yarn_control_command *command, struct yarn_text *reply)
{
    struct yarn_steering *steering = self;
    const struct yarn_process_tree *tree = &steering->recorder->tree;
    switch (command->verb) {
    case YARN_CONTROL_START:
        start(steering, YARN_DUMP_COVERAGE_SOCKET);
        yarn_text_add(reply, "recording");
        break;
    case YARN_CONTROL_STOP:
        stop(steering, YARN_DUMP_COVERAGE_SOCKET);
        yarn_text_add(reply, "stopped");
        break;
    case YARN_CONTROL_MARK:
        return mark(steering, command->text, reply);
    case YARN_CONTROL_FLUSH:
        yarn_recorder_outside_flush(steering->recorder);
        yarn_text_add(reply, "flushed");
        break;
    case YARN_CONTROL_STATUS:
        add_status(steering, reply);
        break;
    case YARN_CONTROL_VERB_COUNT:
        return -EINVAL;
    }
    if (!tree->failure)
        return 0;
    *reply = yarn_text_of(reply->data, reply->capacity);
    yarn_text_add_format(reply, "%s (%s)", tree->failure, strerror(-tree->error));
    return -EIO;
}

void yarn_steering_serve(struct yarn_steering *steering)
{
    if (!steering->recorder->is_over)
        keep_schedule(steering);
    yarn_control_socket_serve(&steering->control, answer, steering);
}

void yarn_steering_close(struct yarn_steering *steering)
{
    yarn_control_socket_close(&steering->control);
}
