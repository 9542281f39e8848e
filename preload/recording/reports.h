/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Messages about a session's report and the user's options, each once. Reader thread only.
 */
#pragma once

#include "core/session/session.h"
#include "preload/dump/failure.h"
#include "preload/dump/messages.h"
#include "preload/process/job.h"

struct yarn_reports {
    const struct yarn_session *session; /* borrowed */
    struct yarn_messages *messages;     /* borrowed */
    uint32_t reported_holds;            /* of the session's */
    bool has_reported_refused_threads;
};

/* What had to be reduced at the opening. */
void yarn_reports_add_opening(struct yarn_reports *reports, const struct yarn_job *job);

/* What went wrong since the last call. */
void yarn_reports_add_failures(struct yarn_reports *reports, struct yarn_failure *failure);

/* Stacks are copied deeper than was asked for and than `before`. */
void yarn_reports_add_deeper(struct yarn_reports *reports, uint32_t before);

/* At the end: how many threads had no ring, or a smaller one. */
void yarn_reports_add_final(struct yarn_reports *reports);
