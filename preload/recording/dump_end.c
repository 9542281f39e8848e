/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/recording/dump_end.h"

#include "core/sys/clock.h"
#include "preload/dump/preamble.h"
#include "preload/recording/totals.h"

const char *yarn_dump_end_failure(int err)
{
    switch (err) {
    case -EFBIG:
        return "the dump would exceed the limit of file size (ulimit -f)";
    case -ENOSPC:
    case -EDQUOT:
        return "no space is left where the dump lies";
    default:
        return "the dump could not be written";
    }
}

/* The end of a dump that ran out of room. */
static void write_last_words(struct yarn_recording *recording)
{
    struct yarn_dump_end end = {
        .time_ns = yarn_clock_ns(YARN_TIME_MONOTONIC),
        .reason = YARN_DUMP_END_FAILED,
        .status = -1,
    };
    int err = yarn_dump_writer_error(recording->writer);
    yarn_recording_fail(recording, yarn_dump_end_failure(err), err);
    if (!recording->has_reported_failure) {
        recording->has_reported_failure = true;
        yarn_messages_add(recording->messages, YARN_MESSAGE_ERROR, "the recording ended early",
                          recording->failure);
    }
    recording->is_failure_unreported = true;
    if (yarn_dump_writer_recover(recording->writer)) {
        recording->nr_messages_written = recording->nr_messages_kept;
        if (yarn_dump_writer_is_empty(recording->writer))
            yarn_preamble_write(recording->writer, recording->job, &recording->lineage,
                                &recording->session);
        yarn_totals_write_final(recording);
        yarn_dump_write_end(recording->writer, &end);
        recording->is_failure_unreported = yarn_dump_writer_error(recording->writer) != 0;
    }
    if (recording->is_failure_unreported && yarn_dump_writer_is_empty(recording->writer))
        yarn_dump_file_remove(&recording->file);
}

void yarn_dump_end_write(struct yarn_recording *recording, enum yarn_dump_end_reason reason,
                         int status)
{
    if (!recording->writer || recording->is_early) {
        recording->is_failure_unreported = recording->failure;
        return;
    }
    struct yarn_dump_end end = {
        .time_ns = yarn_clock_ns(YARN_TIME_MONOTONIC),
        .reason = reason,
        .status = status,
    };
    yarn_stacks_write_modules(&recording->stacks);
    yarn_totals_write_final(recording);
    yarn_dump_write_end(recording->writer, &end);
    if (yarn_dump_writer_error(recording->writer))
        write_last_words(recording);
}
