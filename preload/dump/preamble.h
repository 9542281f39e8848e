/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What stands at the beginning of a dump: process, options, sampler, events as asked and as got.
 * Knows how a job and a session's report read as dump records. Reader thread only.
 */
#pragma once

#include "core/session/session.h"
#include "output/dump/writer.h"
#include "preload/process/job.h"

void yarn_preamble_write(struct yarn_dump_writer *writer, const struct yarn_job *job,
                         const struct yarn_lineage *lineage, const struct yarn_session *session);

/* Again, where it has changed: the last one counts. */
void yarn_preamble_write_sampler(struct yarn_dump_writer *writer, const struct yarn_job *job,
                                 const struct yarn_session *session);
