/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/outside/followed.h"

#include <stdlib.h>

#include "core/base/pages.h"
#include "core/config/pattern.h"
#include "core/sys/clock.h"
#include "recording/dump/preamble.h"

/* The job's texts are the tree's: they are not freed here. */
static void init(struct yarn_followed *followed, const struct yarn_job *tree_job,
                 const struct yarn_session *session, const struct yarn_target *target,
                 size_t nr_threads)
{
    followed->job = *tree_job;
    followed->job.facts.pid = target->pid;
    yarn_session_share_open(&followed->share, session, target, nr_threads);
    yarn_account_init(&followed->account, &followed->share.session);
    followed->times.session = &followed->share.session;
    followed->messages.most_detailed = (int)tree_job->options.log - 1;
    followed->dump = (struct yarn_process_dump){
        .job = &followed->job,
        .session = &followed->share.session,
        .messages = &followed->messages,
        .account = &followed->account,
        .failure = &followed->failure,
        .file.fd = -1,
    };
}

int yarn_followed_new(struct yarn_followed **ret_followed, const struct yarn_job *tree_job,
                      const struct yarn_session *session, const struct yarn_target *target,
                      size_t nr_threads, struct yarn_pipeline_shared *shared)
{
    struct yarn_followed *followed = yarn_pages_map(sizeof *followed);
    if (!followed)
        return -ENOMEM;
    init(followed, tree_job, session, target, nr_threads);
    struct yarn_pipeline *pipeline = &followed->pipeline;
    followed->job.machine = &shared->machine;
    followed->dump.spares = &shared->writers;
    int err = yarn_pipeline_open(pipeline, &followed->dump, shared);
    if (!err)
        err = yarn_off_cpu_open(&pipeline->off_cpu, &followed->dump, pipeline->unwinder,
                                &pipeline->stacks, NULL);
    if (err) {
        yarn_pipeline_close(pipeline);
        yarn_pages_unmap(followed, sizeof *followed);
        return err;
    }
    yarn_coverage_begin(&followed->account.coverage);
    *ret_followed = followed;
    return 0;
}

int yarn_followed_begin(struct yarn_followed *followed, const struct yarn_facts *facts,
                        char **environment)
{
    struct yarn_job *job = &followed->job;
    job->facts = *facts;
    followed->environment = environment;
    followed->flushed_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    if (environment) {
        job->envp = environment;
        job->rank = yarn_pattern_rank(environment);
    }
    int err = yarn_dump_file_prepare(&followed->dump.file, job->options.output, facts, job->envp);
    if (err)
        return yarn_failure_note(&followed->failure, "the dump's folder cannot be written to", err);
    return yarn_process_dump_begin(&followed->dump) ? 0 : followed->failure.error;
}

void yarn_followed_change(struct yarn_followed *followed, const struct yarn_session *session)
{
    yarn_session_share_update(&followed->share, session);
    if (followed->dump.writer)
        yarn_preamble_write_alternates(followed->dump.writer, &followed->share.session);
}

void yarn_followed_record(struct yarn_followed *followed, const struct yarn_typed_record *record)
{
    struct yarn_record_listener listener = yarn_pipeline_listener(&followed->pipeline);
    followed->read_ns = record->perf.time;
    followed->has_switched |= record->type == YARN_RECORD_SWITCH;
    followed->share.session.nr_births +=
        record->type == YARN_RECORD_FORK && record->task.pid == followed->pipeline.pid;
    listener.record(listener.self, record);
}

static void write_switches(struct yarn_followed *followed, bool is_last)
{
    struct yarn_switch_runs *runs = followed->pipeline.runs;
    struct yarn_dump_writer *writer = followed->dump.writer;
    if (!runs)
        return;
    if (!is_last)
        yarn_switch_runs_divide(runs, followed->read_ns);
    yarn_switch_runs_write(runs, writer);
    /* Why not once more at the end: who has ended has none any more. */
    yarn_thread_times_write(&followed->times, writer, false);
}

static void flush(struct yarn_followed *followed, bool is_last)
{
    struct yarn_process_dump *dump = &followed->dump;
    if (!yarn_process_dump_is_begun(dump))
        return;
    yarn_pipeline_flush(&followed->pipeline, is_last);
    yarn_coverage_write(&followed->account.coverage, dump->writer);
    write_switches(followed, is_last);
    yarn_frame_names_write_late(&followed->pipeline.names, dump->writer,
                                yarn_target_cpu_ns(followed->share.request.target), is_last);
    if (is_last)
        yarn_stacks_write_modules(&followed->pipeline.stacks, dump->writer);
    yarn_process_dump_flush(dump);
}

bool yarn_followed_read_times(struct yarn_followed *followed, uint64_t now_ns)
{
    if (!followed->has_switched || !followed->pipeline.runs ||
        !yarn_process_dump_is_begun(&followed->dump))
        return false;
    followed->has_switched = false;
    yarn_thread_times_read_due(&followed->times, now_ns);
    return true;
}

void yarn_followed_store(struct yarn_followed *followed, uint64_t now_ns)
{
    if (!yarn_process_dump_is_begun(&followed->dump) ||
        now_ns < followed->flushed_ns + followed->job.options.interval_ns)
        return;
    followed->flushed_ns = now_ns;
    flush(followed, false);
}

void yarn_followed_flush(struct yarn_followed *followed)
{
    flush(followed, false);
}

static struct yarn_own_dump dump_of(const struct yarn_followed *followed)
{
    const uint64_t *totals = followed->account.totals.value;
    bool has_messages = atomic_load(&followed->messages.count);
    uint64_t samples = totals[YARN_DUMP_TOTAL_SAMPLES];
    if (!yarn_process_dump_is_begun(&followed->dump))
        return (struct yarn_own_dump){.path = NULL};
    return (struct yarn_own_dump){
        .path = strdup(followed->dump.file.path),
        .samples = samples,
        .lost = totals[YARN_DUMP_TOTAL_LOST],
        .cpu_ns = totals[YARN_DUMP_TOTAL_CPU_NS] + totals[YARN_DUMP_TOTAL_OFF_CPU_NS] +
                  totals[YARN_DUMP_TOTAL_DRAIN_CPU_NS],
        .says_more = followed->failure.what || (!samples && has_messages),
        .lacks_names = totals[YARN_DUMP_TOTAL_FRAMES_UNNAMED],
    };
}

void yarn_followed_end(struct yarn_followed *followed, enum yarn_dump_end_reason reason, int status,
                       struct yarn_own_dump *ret_dump)
{
    yarn_coverage_end(&followed->account.coverage);
    flush(followed, true);
    yarn_process_dump_end(&followed->dump, reason, status);
    *ret_dump = dump_of(followed);
    yarn_process_dump_close(&followed->dump);
    yarn_pipeline_close(&followed->pipeline);
    free(followed->environment);
    yarn_pages_unmap(followed, sizeof *followed);
}
