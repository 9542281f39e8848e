/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The first records of a dump: process, options, sampler, events as requested and as opened. Maps a
 * job and a session's report to dump records. Reader thread only.
 */
#pragma once

#include "core/session/session.h"
#include "output/dump/writer.h"
#include "recording/process/job.h"

void yarn_preamble_write(struct yarn_dump_writer *writer, const struct yarn_job *job,
                         const struct yarn_session *session);

/* `off_cpu`: the event off-cpu, which is none of the session's; NULL: not asked for. */
void yarn_preamble_write_off_cpu(struct yarn_dump_writer *writer, const struct yarn_job *job,
                                 const struct yarn_event_status *off_cpu);

/* Of those that have samples (alternates.h); anew after a change. */
void yarn_preamble_write_alternates(struct yarn_dump_writer *writer,
                                    const struct yarn_session *session);

/* Stores it again after a change: the last one counts. */
void yarn_preamble_write_sampler(struct yarn_dump_writer *writer, const struct yarn_job *job,
                                 const struct yarn_session *session);
