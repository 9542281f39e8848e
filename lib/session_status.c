/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/session_status.h"

#include "core/event/status.h"
#include "core/session/probe.h"

uint32_t yarn_session_status_of(const struct yarn_event_status *status, const char **ret_reason)
{
    *ret_reason = status->reason;
    if (status->error)
        return status->error == EEXIST ? YARN_EVENT_MERGED : YARN_EVENT_REFUSED;
    if (!status->is_kernel_refused)
        return 0;
    if (!status->reason)
        *ret_reason = yarn_event_status_user_only();
    return YARN_EVENT_USER_ONLY;
}

const char *yarn_session_reason(const struct yarn_session *session, bool lacks_poll)
{
    const char *reason = NULL;
    const struct yarn_session_report *got = &session->report;
    if (got->failure)
        return got->failure;
    if (got->nr_refused_threads)
        return yarn_probe_thread_reason(got->thread_refusal);
    if (!got->is_stable)
        return "threads were still being made when the list had been read max_rounds times";
    for (size_t i = 0; i < session->request->nr_events && !reason; i++)
        (void)yarn_session_status_of(&session->statuses[i], &reason);
    if (reason)
        return reason;
    if (got->got.ring_bytes < session->request->ring_bytes)
        return "the rings are smaller than asked for: the limit of locked memory is too low";
    return lacks_poll ? "there is nothing to poll: the rings are read by time" : NULL;
}
