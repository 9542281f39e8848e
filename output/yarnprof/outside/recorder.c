/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/outside/recorder.h"

#include <inttypes.h>

#include "core/sys/clock.h"
#include "output/yarnprof/io/status.h"

int yarn_recorder_outside_open(struct yarn_recorder_outside *recorder, const struct yarn_job *job)
{
    recorder->job = job;
    recorder->stopped_ns = UINT64_MAX;
    int err = yarn_session_open(&recorder->session, &recorder->request);
    if (err) {
        const char *failure = recorder->session.report.failure;
        yarn_complain("record", "%s", failure ? failure : strerror(-err));
        return err;
    }
    err = yarn_process_tree_open(&recorder->tree, job, &recorder->session);
    if (!err)
        err = yarn_drain_open(&recorder->drain, &recorder->session);
    if (err)
        yarn_complain("record", "no memory for the processes (%s)", strerror(-err));
    return err;
}

/* What is older than `until_ns`. */
static void drain(struct yarn_recorder_outside *recorder, uint64_t until_ns)
{
    bool has_news;
    struct yarn_record_listener listener = yarn_process_tree_listener(&recorder->tree);
    yarn_session_drain_until(&recorder->session, until_ns, &listener, &has_news);
    yarn_process_tree_store(&recorder->tree, yarn_u64_min(until_ns, recorder->stopped_ns));
}

void yarn_recorder_outside_drain(struct yarn_recorder_outside *recorder)
{
    if (!recorder->is_over)
        drain(recorder, yarn_drain_copied_ns(&recorder->drain));
}

void yarn_recorder_outside_wait(const struct yarn_recorder_outside *recorder, uint64_t most_ns)
{
    yarn_drain_wait(&recorder->drain, most_ns);
}

void yarn_recorder_outside_stop(struct yarn_recorder_outside *recorder)
{
    if (recorder->is_over)
        return;
    recorder->stopped_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    yarn_session_disable(&recorder->session);
    yarn_drain_stop(&recorder->drain);
    while (yarn_drain_copy_rest(&recorder->drain))
        drain(recorder, yarn_drain_copied_ns(&recorder->drain));
    drain(recorder, UINT64_MAX);
    recorder->is_over = true;
}

/* As the kernel counted them: records say so only where a later one found room. */
static uint64_t count_lost(const struct yarn_session *session)
{
    uint64_t lost = 0;
    for (uint32_t i = 0; i < session->request->nr_events; i++)
        if (!session->statuses[i].error)
            lost += yarn_session_count(session, i).lost;
    return lost;
}

size_t yarn_recorder_outside_end(struct yarn_recorder_outside *recorder, int status)
{
    struct yarn_process_tree *tree = &recorder->tree;
    uint64_t lost = count_lost(&recorder->session);
    yarn_process_tree_add_lost(tree, yarn_u64_minus(lost, tree->nr_lost));
    yarn_process_tree_end(tree, status);
    if (tree->failure)
        yarn_complain("record", "%s (%s)", tree->failure, strerror(-tree->error));
    if (tree->nr_lost_unsaid)
        yarn_complain("record", "%" PRIu64 " samples were lost: the rings were full",
                      tree->nr_lost_unsaid);
    if (tree->nr_stray)
        yarn_complain("record", "%" PRIu64 " samples are of processes whose birth was lost",
                      tree->nr_stray);
    uint64_t nr_broken = atomic_load(&recorder->drain.nr_broken);
    if (nr_broken)
        yarn_complain("record",
                      "%" PRIu64 " times a ring of the kernel was not of records: what was in it "
                      "is missing",
                      nr_broken);
    if (tree->nr_malformed)
        yarn_complain("record", "%" PRIu64 " records of the kernel could not be read",
                      tree->nr_malformed);
    yarn_unfollowed_report(&tree->unfollowed);
    return tree->nr_dumps;
}

void yarn_recorder_outside_close(struct yarn_recorder_outside *recorder)
{
    yarn_process_tree_close(&recorder->tree);
    yarn_drain_close(&recorder->drain);
    yarn_session_close(&recorder->session);
}
