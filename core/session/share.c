/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/share.h"

#include "core/session/attach.h"

/* The rings are the tree's, and the kernel counts for it as a whole. */
static const struct yarn_attachment attachment = {
    .sampler = YARN_SAMPLER_PERF,
    .strategy = YARN_STRATEGY_PER_CORE,
};

void yarn_session_share_open(struct yarn_session_share *share, const struct yarn_session *tree,
                             const struct yarn_target *target, size_t nr_threads)
{
    share->request = *tree->request;
    share->request.pid = target->pid;
    share->request.target = target;
    share->session = YARN_SESSION_CLOSED;
    share->session.request = &share->request;
    share->session.cpus = tree->cpus;
    share->session.nr_cpus = tree->nr_cpus;
    share->session.nr_threads = 1 + yarn_size_max(nr_threads, 1); /* with one of ours */
    share->session.statuses = tree->statuses;
    yarn_session_share_update(share, tree);
}

void yarn_session_share_update(struct yarn_session_share *share, const struct yarn_session *tree)
{
    share->session.report = tree->report;
    share->session.switches = (struct yarn_switches){
        .is_open = tree->request->times_tree,
        .reason = tree->switches.are_cut ? "they were too many and given up before" : NULL,
    };
    share->session.report.attachment = &attachment;
    share->session.alternates = tree->alternates;
    share->session.turns = tree->turns;
    share->session.nr_changes = tree->nr_changes;
}
