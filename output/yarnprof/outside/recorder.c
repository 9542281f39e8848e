/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/outside/recorder.h"

#include <poll.h>

#include "output/yarnprof/io/status.h"

enum { LEADERS_MAX = 1024 };

int yarn_recorder_outside_open(struct yarn_recorder_outside *recorder, const struct yarn_job *job)
{
    recorder->job = job;
    int err = yarn_session_open(&recorder->session, &recorder->request);
    if (err) {
        const char *failure = recorder->session.report.failure;
        yarn_complain("record", "%s", failure ? failure : strerror(-err));
        return err;
    }
    err = yarn_process_tree_open(&recorder->tree, job, &recorder->session);
    if (err)
        yarn_complain("record", "no memory for the processes (%s)", strerror(-err));
    return err;
}

static void drain(struct yarn_recorder_outside *recorder, bool is_last)
{
    bool has_news;
    struct yarn_record_listener listener = yarn_process_tree_listener(&recorder->tree);
    yarn_session_drain(&recorder->session, is_last, &listener, &has_news);
    yarn_process_tree_store(&recorder->tree);
}

void yarn_recorder_outside_drain(struct yarn_recorder_outside *recorder)
{
    if (!recorder->is_over)
        drain(recorder, false);
}

void yarn_recorder_outside_wait(const struct yarn_recorder_outside *recorder, uint64_t most_ns)
{
    struct pollfd leaders[LEADERS_MAX];
    size_t count =
        recorder->is_over ? 0 : yarn_session_watched(&recorder->session, leaders, LEADERS_MAX);
    int ready = yarn_perf_poll(leaders, count, most_ns);
    (void)ready; /* it is looked at everything in any case */
}

void yarn_recorder_outside_stop(struct yarn_recorder_outside *recorder)
{
    if (recorder->is_over)
        return;
    yarn_session_disable(&recorder->session);
    drain(recorder, true);
    recorder->is_over = true;
}

size_t yarn_recorder_outside_end(struct yarn_recorder_outside *recorder, int status)
{
    struct yarn_process_tree *tree = &recorder->tree;
    yarn_process_tree_end(tree, status);
    if (tree->failure)
        yarn_complain("record", "%s (%s)", tree->failure, strerror(-tree->error));
    yarn_unfollowed_report(&tree->unfollowed);
    return tree->nr_dumps;
}

void yarn_recorder_outside_close(struct yarn_recorder_outside *recorder)
{
    yarn_process_tree_close(&recorder->tree);
    yarn_session_close(&recorder->session);
}
