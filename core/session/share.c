/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/share.h"

#include "core/session/attach.h"

static struct yarn_perf_count count(const struct yarn_session *session, uint32_t number)
{
    (void)session, (void)number;
    return (struct yarn_perf_count){.count = 0};
}

/* The rings are the tree's. */
static size_t ring_bytes(const struct yarn_session *session)
{
    (void)session;
    return 0;
}

static const struct yarn_attachment attachment = {
    .sampler = YARN_SAMPLER_PERF,
    .strategy = YARN_STRATEGY_PER_CORE,
    .count = count,
    .ring_bytes = ring_bytes,
};

void yarn_session_share_open(struct yarn_session_share *share, const struct yarn_session *tree,
                             const struct yarn_target *target)
{
    share->request = *tree->request;
    share->request.pid = target->pid;
    share->request.target = target;
    share->session = YARN_SESSION_CLOSED;
    share->session.request = &share->request;
    share->session.report = tree->report;
    share->session.report.attachment = &attachment;
    share->session.cpus = tree->cpus;
    share->session.nr_cpus = tree->nr_cpus;
    share->session.nr_threads = 1;
    share->session.statuses = tree->statuses;
    share->session.alternates = tree->alternates;
    share->session.switches.is_open = tree->switches.is_open;
    share->session.switches.reason = tree->switches.reason;
}
