/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/outside/outside.h"

#include <poll.h>

#include "core/sys/clock.h"
#include "core/sys/process.h"
#include "output/yarnprof/command/spawn.h"
#include "output/yarnprof/io/status.h"
#include "output/yarnprof/outside/tree.h"
#include "output/yarnprof/outside/wanted.h"

enum { LEADERS_MAX = 1024 };
#define PAUSE_NS (5 * YARN_NS_PER_MS)

struct recording {
    struct yarn_job job;
    struct yarn_target target; /* the command's first process */
    struct yarn_session_request request;
    struct yarn_session session;
    struct yarn_process_tree tree;
};

static int complain(const char *what, int err)
{
    yarn_complain("record", "%s (%s)", what, strerror(-err));
    return YARN_STATUS_FAILED;
}

static int open_recording(struct recording *recording, pid_t pid)
{
    recording->target = yarn_target_of(pid);
    recording->request = yarn_wanted_request(&recording->job, &recording->target);
    int err = yarn_session_open(&recording->session, &recording->request);
    if (err) {
        const char *failure = recording->session.report.failure;
        yarn_complain("record", "%s", failure ? failure : strerror(-err));
        return err;
    }
    err = yarn_process_tree_open(&recording->tree, &recording->job, &recording->session);
    if (!err)
        err =
            yarn_process_tree_add_first(&recording->tree, pid, yarn_clock_ns(YARN_TIME_MONOTONIC));
    if (err)
        (void)complain("no memory for the processes", err);
    return err;
}

/* ---- while it runs ---- */

static void drain(struct recording *recording, bool is_last)
{
    bool has_news;
    struct yarn_record_listener listener = yarn_process_tree_listener(&recording->tree);
    yarn_session_drain(&recording->session, is_last, &listener, &has_news);
    yarn_process_tree_store(&recording->tree);
}

/* The least pause between two passes comes first: a ring wakes its reader with each thread that
 * ends. */
static void wait_for_records(const struct recording *recording, struct yarn_spawn *spawn)
{
    struct pollfd leaders[LEADERS_MAX];
    if (yarn_spawn_wait(spawn, PAUSE_NS))
        return;
    size_t count = yarn_session_watched(&recording->session, leaders, LEADERS_MAX);
    uint64_t timeout_ns = count ? recording->request.interval_ns : 0;
    int ready = yarn_perf_poll(leaders, count, timeout_ns);
    (void)ready;
}

static void follow(struct recording *recording, struct yarn_spawn *spawn)
{
    while (!spawn->is_over) {
        wait_for_records(recording, spawn);
        drain(recording, false);
    }
    yarn_session_disable(&recording->session);
    drain(recording, true);
}

static uint64_t count_lost(const struct yarn_session *session)
{
    uint64_t lost = 0;
    for (uint32_t i = 0; i < session->request->nr_events; i++)
        if (!session->statuses[i].error)
            lost += yarn_session_count(session, i).lost;
    return lost;
}

static uint64_t ns_of(struct timeval time)
{
    return (uint64_t)time.tv_sec * YARN_NS_PER_SECOND + (uint64_t)time.tv_usec * 1000;
}

static int finish(struct yarn_outside *outside, struct recording *recording,
                  struct yarn_spawn *spawn)
{
    int status = YARN_STATUS_FAILED;
    int err = yarn_spawn_finish(spawn, &status);
    if (err) {
        yarn_complain("record", "%s: %s", outside->argv[0], strerror(-err));
        status = err == -ENOENT ? YARN_STATUS_NO_COMMAND : YARN_STATUS_CANNOT_RUN;
    }
    outside->nr_lost = count_lost(&recording->session);
    outside->nr_dumps = recording->tree.nr_dumps;
    yarn_process_tree_end(&recording->tree, status);
    if (recording->tree.failure)
        (void)complain(recording->tree.failure, recording->tree.error);
    if (err)
        return status;
    outside->cpu_ns = ns_of(spawn->usage.ru_utime) + ns_of(spawn->usage.ru_stime);
    outside->life_ns = spawn->end_ns - spawn->begin_ns;
    return status;
}

static int run(struct yarn_outside *outside, struct recording *recording)
{
    struct yarn_spawn spawn;
    int err = yarn_spawn_start(&spawn, outside->argv, NULL, NULL);
    if (err)
        return complain(outside->argv[0], err);
    err = open_recording(recording, spawn.pid);
    if (err) {
        yarn_spawn_cancel(&spawn);
        return YARN_STATUS_FAILED;
    }
    yarn_spawn_release(&spawn);
    follow(recording, &spawn);
    return finish(outside, recording, &spawn);
}

int yarn_outside_run(struct yarn_outside *outside)
{
    static struct recording recording;
    recording = (struct recording){.session = YARN_SESSION_CLOSED};
    int status = yarn_wanted_read(&recording.job, outside->argv);
    if (status)
        return status;
    status = run(outside, &recording);
    yarn_process_tree_close(&recording.tree);
    yarn_session_close(&recording.session);
    yarn_job_fini(&recording.job);
    return status;
}
