/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/dump/process_dump.h"

#include "core/sys/clock.h"
#include "core/sys/file.h"
#include "recording/dump/preamble.h"

static const char *failure_of(int err)
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

static bool has_file(struct yarn_process_dump *dump)
{
    if (dump->has_tried)
        return dump->file.fd >= 0;
    dump->has_tried = true;
    int fd = yarn_dump_file_create(&dump->file, !dump->job->seccomp.deadly[YARN_SECCOMP_CONTROL]);
    return fd >= 0 || !yarn_failure_note(dump->failure, "the dump could not be created", fd);
}

static void write_preamble(struct yarn_process_dump *dump)
{
    yarn_preamble_write(dump->writer, dump->job, dump->session);
    yarn_preamble_write_off_cpu(dump->writer, dump->job, dump->off_cpu_event);
}

/* Makes the file as late as it can: a process that is killed leaves an empty one only if that
 * happens between this and the header's write, the next call but one. */
static bool open_file(struct yarn_process_dump *dump, struct yarn_dump_writer *writer)
{
    if (!has_file(dump))
        return false;
    int fd = dump->file.fd;
    dump->file.fd = -1;
    int err = yarn_dump_writer_open(writer, fd);
    if (err) {
        yarn_file_close(fd);
        yarn_file_remove_same(YARN_FILE_CWD, dump->file.path, &dump->file.made);
        yarn_failure_note(dump->failure, failure_of(err), err);
    }
    return !err;
}

static int have_writer(struct yarn_process_dump *dump, struct yarn_dump_writer **ret_writer)
{
    struct yarn_dump_writer *spare = yarn_spares_take(dump->spares);
    if (spare)
        *ret_writer = spare;
    return spare ? 0 : yarn_dump_writer_new(ret_writer, NULL);
}

static void leave_writer(struct yarn_process_dump *dump)
{
    struct yarn_dump_writer *writer = dump->writer;
    bool is_ready = writer && dump->spares && !yarn_dump_writer_renew(writer);
    if (!is_ready || !yarn_spares_keep(dump->spares, writer))
        yarn_dump_writer_free(writer);
    dump->writer = NULL;
}

bool yarn_process_dump_begin(struct yarn_process_dump *dump)
{
    if (dump->writer)
        return true;
    if (dump->has_tried && dump->file.fd < 0)
        return false;
    struct yarn_dump_writer *writer;
    int err = have_writer(dump, &writer);
    if (err) {
        yarn_failure_note(dump->failure, "no memory for the dump's tables", err);
        dump->has_tried = true;
        return false;
    }
    if (!open_file(dump, writer)) {
        yarn_dump_writer_free(writer);
        return false;
    }
    dump->writer = writer;
    write_preamble(dump);
    yarn_thread_snapshot_begin(&dump->account->threads, dump->writer, dump->job->facts.start_ns);
    yarn_coverage_write(&dump->account->coverage, dump->writer);
    return true;
}

bool yarn_process_dump_reserve(struct yarn_process_dump *dump)
{
    if (dump->has_tried || !has_file(dump))
        return false;
    dump->is_early = true;
    return true;
}

void yarn_process_dump_release(struct yarn_process_dump *dump)
{
    bool leads_there_later = dump->file.path[0] == '/';
    if (!dump->is_early || dump->writer || !leads_there_later ||
        !yarn_file_remove_same(YARN_FILE_CWD, dump->file.path, &dump->file.made))
        return;
    yarn_file_close(dump->file.fd);
    dump->file.fd = -1;
    dump->is_early = dump->has_tried = false;
}

bool yarn_process_dump_has_warning(const struct yarn_process_dump *dump)
{
    const struct yarn_message *message = dump->messages->message;
    uint32_t count = atomic_load(&dump->messages->count);
    for (uint32_t i = 0; i < count && !yarn_process_dump_is_begun(dump); i++)
        if (message[i].level <= YARN_DUMP_MESSAGE_WARNING && !message[i].is_aside)
            return true;
    return false;
}

static void write_messages(struct yarn_process_dump *dump)
{
    uint32_t count = atomic_load(&dump->messages->count);
    for (; dump->nr_messages_written < count; dump->nr_messages_written++) {
        const struct yarn_message *message = &dump->messages->message[dump->nr_messages_written];
        struct yarn_dump_message record = {
            .time_ns = message->time_ns,
            .kind = message->level,
            .text = message->text,
        };
        yarn_dump_write_message(dump->writer, &record);
    }
    dump->account->totals.value[YARN_DUMP_TOTAL_MESSAGES_LOST] = dump->messages->nr_dropped;
}

void yarn_process_dump_flush(struct yarn_process_dump *dump)
{
    write_messages(dump);
    yarn_account_write(dump->account, dump->writer);
    yarn_dump_writer_flush(dump->writer);
    int err = yarn_dump_writer_error(dump->writer);
    if (err)
        yarn_failure_note(dump->failure, failure_of(err), err);
    else
        dump->nr_messages_kept = dump->nr_messages_written;
}

static void write_end(struct yarn_process_dump *dump, enum yarn_dump_end_reason reason, int status)
{
    struct yarn_dump_end end = {
        .time_ns = dump->ended_ns ? dump->ended_ns : yarn_clock_ns(YARN_TIME_MONOTONIC),
        .reason = reason,
        .status = status,
    };
    write_messages(dump);
    yarn_account_write_final(dump->account, dump->writer);
    yarn_dump_write_end(dump->writer, &end);
}

/* The end of a dump that ran out of room. */
static void write_failed_end(struct yarn_process_dump *dump)
{
    struct yarn_failure *failure = dump->failure;
    int err = yarn_dump_writer_error(dump->writer);
    yarn_failure_note(failure, failure_of(err), err);
    if (!failure->is_reported) {
        failure->is_reported = true;
        yarn_messages_add(dump->messages, YARN_DUMP_MESSAGE_ERROR, false,
                          "the recording ended early: %s", failure->what);
    }
    failure->is_unstored = true;
    if (yarn_dump_writer_recover(dump->writer)) {
        dump->nr_messages_written = dump->nr_messages_kept;
        if (yarn_dump_writer_is_empty(dump->writer))
            write_preamble(dump);
        write_end(dump, YARN_DUMP_END_FAILED, -1);
        failure->is_unstored = yarn_dump_writer_error(dump->writer) != 0;
    }
    if (failure->is_unstored && yarn_dump_writer_is_empty(dump->writer))
        yarn_file_remove_same(YARN_FILE_CWD, dump->file.path, &dump->file.made);
}

void yarn_process_dump_end(struct yarn_process_dump *dump, enum yarn_dump_end_reason reason,
                           int status)
{
    if (!yarn_process_dump_is_begun(dump)) {
        dump->failure->is_unstored = dump->failure->what;
        return;
    }
    write_end(dump, reason, status);
    if (yarn_dump_writer_error(dump->writer))
        write_failed_end(dump);
}

void yarn_process_dump_close(struct yarn_process_dump *dump)
{
    if (dump->is_early)
        yarn_file_remove_same(YARN_FILE_CWD, dump->file.path, &dump->file.made);
    dump->is_early = false;
    yarn_file_close(dump->file.fd);
    dump->file.fd = -1;
    leave_writer(dump);
}
