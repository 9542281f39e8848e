/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/outside/recorder.h"

#include <inttypes.h>
#include <time.h>

#include "core/base/kept_pages.h"
#include "core/sys/clock.h"
#include "output/yarnprof/io/status.h"
#include "output/yarnprof/outside/waits.h"

enum { REPEATS = 4, REPEAT_FACTOR = 8 };

#define REPEAT_FIRST_NS (2 * YARN_NS_PER_MS)

/* Between two passes: a ring wakes its reader with each thread that ends. */
#define PAUSE_NS (5 * YARN_NS_PER_MS)

int yarn_recorder_outside_open(struct yarn_recorder_outside *recorder, const struct yarn_job *job)
{
    recorder->job = job;
    recorder->stopped_ns = UINT64_MAX;
    yarn_pages_keep_released();
    int err = yarn_session_open(&recorder->session, &recorder->request);
    if (err) {
        const char *failure =
            err == -ESRCH ? "the process has ended" : recorder->session.report.failure;
        bool is_offered = (err == -EPERM || err == -EACCES) && recorder->request.starts_at_exec;
        yarn_complain("record", "%s%s", failure ? failure : strerror(-err),
                      is_offered ? "; --inside --sampler=timer records by timers in the program"
                                 : "");
        return err;
    }
    err = yarn_process_tree_open(&recorder->tree, job, &recorder->session);
    if (!err && recorder->request.starts_paused)
        yarn_process_tree_pause(&recorder->tree, yarn_clock_ns(YARN_TIME_MONOTONIC),
                                YARN_DUMP_COVERAGE_OPTION);
    if (!err)
        err = yarn_drain_open(&recorder->drain, &recorder->session);
    if (err)
        yarn_complain("record", "no memory for the processes (%s)", strerror(-err));
    return err;
}

void yarn_recorder_outside_begin(struct yarn_recorder_outside *recorder)
{
    if (!recorder->request.of_cores)
        return;
    yarn_session_enable(&recorder->session);
    if (recorder->tree.pause.is_off)
        yarn_session_pause(&recorder->session);
}

/* Drains the records that are older than `until_ns`. */
static void drain(struct yarn_recorder_outside *recorder, uint64_t until_ns)
{
    bool has_news;
    struct yarn_record_listener listener = yarn_process_tree_listener(&recorder->tree);
    yarn_session_drain_until(&recorder->session, until_ns, &listener, &has_news);
    yarn_process_tree_store(&recorder->tree, yarn_u64_min(until_ns, recorder->stopped_ns));
}

/* The kernel lets an event that a thread inherits at the moment of a start or stop miss it. */
static void repeat(struct yarn_recorder_outside *recorder)
{
    uint64_t now_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    if (!recorder->nr_repeats || now_ns < recorder->repeat_at_ns)
        return;
    recorder->nr_repeats--;
    recorder->repeat_step_ns *= REPEAT_FACTOR;
    recorder->repeat_at_ns = now_ns + recorder->repeat_step_ns;
    if (recorder->tree.pause.is_off)
        yarn_session_pause(&recorder->session);
    else
        yarn_session_enable(&recorder->session);
}

static void repeat_later(struct yarn_recorder_outside *recorder)
{
    recorder->nr_repeats = REPEATS;
    recorder->repeat_step_ns = REPEAT_FIRST_NS;
    recorder->repeat_at_ns = yarn_clock_ns(YARN_TIME_MONOTONIC) + REPEAT_FIRST_NS;
}

void yarn_recorder_outside_drain(struct yarn_recorder_outside *recorder)
{
    if (recorder->is_over)
        return;
    uint64_t due_ns = yarn_tree_waits_due_ns(&recorder->tree);
    bool is_due = yarn_clock_ns(YARN_TIME_MONOTONIC) >= due_ns;
    if (is_due) /* what is mapped where is to be known */
        yarn_drain_copy(&recorder->drain);
    uint64_t until_ns = yarn_drain_copied_ns(&recorder->drain);
    drain(recorder, until_ns);
    yarn_tree_waits_look(&recorder->tree, until_ns);
    repeat(recorder);
}

uint64_t yarn_recorder_outside_pause_ns(const struct yarn_recorder_outside *recorder)
{
    uint64_t now_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    uint64_t due_ns = yarn_tree_waits_due_ns(&recorder->tree);
    return yarn_u64_min(yarn_u64_minus(due_ns, now_ns), PAUSE_NS);
}

void yarn_recorder_outside_wait(const struct yarn_recorder_outside *recorder,
                                const struct pollfd *others, size_t nr_others, uint64_t most_ns)
{
    yarn_drain_wait(&recorder->drain, others, nr_others, most_ns);
}

void yarn_recorder_outside_catch_up(struct yarn_recorder_outside *recorder)
{
    uint64_t until_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    const struct timespec margin = {.tv_nsec = YARN_MERGE_MARGIN_NS};
    do {
        (void)nanosleep(&margin, NULL);
        yarn_drain_copy(&recorder->drain);
        yarn_recorder_outside_drain(recorder);
    } while (yarn_drain_copied_ns(&recorder->drain) < until_ns);
}

void yarn_recorder_outside_flush(struct yarn_recorder_outside *recorder)
{
    if (recorder->is_over)
        return;
    yarn_recorder_outside_catch_up(recorder);
    yarn_process_tree_flush(&recorder->tree);
}

void yarn_recorder_outside_pause(struct yarn_recorder_outside *recorder,
                                 enum yarn_dump_coverage_cause cause)
{
    if (recorder->is_over || recorder->tree.pause.is_off)
        return;
    yarn_session_pause(&recorder->session);
    uint64_t now_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    yarn_recorder_outside_catch_up(recorder);
    yarn_process_tree_pause(&recorder->tree, now_ns, cause);
    yarn_process_tree_flush(&recorder->tree);
    repeat_later(recorder);
}

void yarn_recorder_outside_resume(struct yarn_recorder_outside *recorder,
                                  enum yarn_dump_coverage_cause cause)
{
    if (recorder->is_over || !recorder->tree.pause.is_off)
        return;
    yarn_recorder_outside_catch_up(recorder);
    yarn_process_tree_resume(&recorder->tree, yarn_clock_ns(YARN_TIME_MONOTONIC), cause);
    yarn_session_enable(&recorder->session);
    repeat_later(recorder);
}

void yarn_recorder_outside_stop(struct yarn_recorder_outside *recorder)
{
    if (recorder->is_over)
        return;
    recorder->stopped_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    yarn_session_disable(&recorder->session);
    yarn_drain_stop(&recorder->drain);
    while (yarn_drain_copy_rest(&recorder->drain))
        drain(recorder, yarn_drain_copied_ns(&recorder->drain));
    drain(recorder, UINT64_MAX);
    recorder->tree.ended_ns = recorder->stopped_ns;
    recorder->is_over = true;
}

/* As the kernel counted them: records say so only where a later one found room. */
uint64_t yarn_recorder_outside_lost(const struct yarn_recorder_outside *recorder)
{
    const struct yarn_session *session = &recorder->session;
    uint64_t lost = 0;
    for (uint32_t i = 0; i < session->request->nr_events; i++)
        if (!session->statuses[i].error)
            lost += yarn_session_count(session, i).lost;
    return lost;
}

void yarn_recorder_outside_end(struct yarn_recorder_outside *recorder, int status,
                               struct yarn_own_dumps *ret_dumps)
{
    struct yarn_process_tree *tree = &recorder->tree;
    uint64_t lost = yarn_recorder_outside_lost(recorder);
    yarn_process_tree_end(tree, status);
    lost = yarn_u64_minus(lost, tree->nr_lost);
    if (tree->failure)
        yarn_complain("record", "%s (%s)", tree->failure, strerror(-tree->error));
    if (lost)
        yarn_complain("record", "%" PRIu64 " samples were lost: the rings were full", lost);
    if (tree->nr_stray)
        yarn_complain("record", "%" PRIu64 " samples are of processes whose birth was lost",
                      tree->nr_stray);
    uint64_t nr_broken = atomic_load(&recorder->drain.nr_broken);
    if (nr_broken)
        yarn_complain("record",
                      "%" PRIu64 " times a ring of the kernel was not of records: what was in it "
                      "is missing",
                      nr_broken);
    if (tree->nr_malformed)
        yarn_complain("record", "%" PRIu64 " records of the kernel could not be read",
                      tree->nr_malformed);
    yarn_unfollowed_report(&tree->unfollowed);
    *ret_dumps = tree->ended;
    tree->ended = (struct yarn_own_dumps){.count = 0};
}

void yarn_recorder_outside_close(struct yarn_recorder_outside *recorder)
{
    yarn_process_tree_close(&recorder->tree);
    yarn_drain_close(&recorder->drain);
    yarn_session_close(&recorder->session);
}
