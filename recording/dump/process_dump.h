/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The dump of one followed process: begun with the first thing that is worth one, so that a process
 * that does nothing leaves no file; ended with what is known at the end and the reason, and where
 * the disk or the file was full before, with at least the reason. Knows what stands at a dump's
 * beginning and end; does not know samples or what made it end.
 *
 * Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/base/spares.h"
#include "recording/account/account.h"
#include "recording/dump/dump_file.h"
#include "recording/dump/failure.h"
#include "recording/dump/messages.h"
#include "recording/process/job.h"

struct yarn_process_dump {
    const struct yarn_job *job; /* borrowed, as are the next five */
    const struct yarn_session *session;
    const struct yarn_event_status *off_cpu_event; /* NULL: not asked for */
    struct yarn_messages *messages;
    struct yarn_account *account;
    struct yarn_failure *failure;
    struct yarn_spares *spares;      /* borrowed: writers of other dumps; NULL: none are kept */
    struct yarn_dump_writer *writer; /* owned; NULL until the dump is begun */
    size_t nr_messages_written, nr_messages_kept; /* given to the writer; in the file */
    bool has_tried;                               /* to begin it; there is no second try */
    bool is_early;     /* its file is there, though there is nothing to store */
    uint64_t ended_ns; /* when the process did; 0: as the dump does */
    struct yarn_dump_file file;
};

/* Its file and preamble, where it has none yet. False where none can be had: then nothing is
 * recorded any more. */
bool yarn_process_dump_begin(struct yarn_process_dump *dump);

/* Creates its file, because that could not be done later: stays empty, and is removed again where
 * that is still allowed, unless something comes. False where it was done before, or cannot be. */
bool yarn_process_dump_reserve(struct yarn_process_dump *dump);

/* There is something in it, or will be. */
static inline bool yarn_process_dump_is_begun(const struct yarn_process_dump *dump)
{
    return dump->writer && !dump->is_early;
}

/* A message waits that is worth a dump. */
bool yarn_process_dump_has_warning(const struct yarn_process_dump *dump);

/* Messages and totals up to now; then everything is in the file, or the recording has failed. */
void yarn_process_dump_flush(struct yarn_process_dump *dump);

/* The process may be another program's at once: one that is empty is removed, and can be created
 * again as long as removing it is allowed. */
void yarn_process_dump_release(struct yarn_process_dump *dump);

/* Closes it with an END, which later records take back; nothing where none was begun. */
void yarn_process_dump_end(struct yarn_process_dump *dump, enum yarn_dump_end_reason reason,
                           int status);

/* Without a word in it; one that has stayed empty is removed. Idempotent. */
void yarn_process_dump_close(struct yarn_process_dump *dump);
