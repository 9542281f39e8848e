/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/control/deferred_start.h"

#include "core/base/pages.h"
#include "core/base/text.h"
#include "core/sys/clock.h"
#include "core/sys/file.h"
#include "core/sys/futex.h"

/* Of a forked child, by the clock. */
#define CHILD_NS (5 * YARN_NS_PER_MS)
/* Of a program, one period of its CPU time, at most PROGRAM_CPU_NS; where it waits, PROGRAM_NS. It
 * is looked at so often that no thread works for longer than a child does. */
#define PROGRAM_CPU_NS (1 * YARN_NS_PER_MS)
#define PROGRAM_NS (100 * YARN_NS_PER_MS)
#define LOOK_NS (5 * YARN_NS_PER_MS)
/* An exec is waited for a second: a signal handler may have led its thread elsewhere. */
enum { LOOKS_AT_EXEC = 200 };

void yarn_deferred_start_claim(struct yarn_recorder *recorder)
{
    yarn_pages_after_fork();
    yarn_pages_hide_from_children();
    yarn_pages_count(sizeof *recorder + recorder->job.arena.touched);
}

/* How long it may still sleep; 0: the start is due. */
static uint64_t left_ns(const struct yarn_recorder *recorder, uint64_t begun_ns)
{
    uint64_t waited_ns = yarn_clock_ns(YARN_TIME_MONOTONIC) - begun_ns;
    if (recorder->job.facts.lineage.forked_by)
        return yarn_u64_minus(CHILD_NS, waited_ns);
    uint64_t used_ns =
        yarn_u64_minus(yarn_clock_ns(YARN_TIME_PROCESS_CPU), recorder->deferred_at_cpu_ns);
    uint64_t period_ns = YARN_NS_PER_SECOND / recorder->job.options.frequency_hz;
    uint64_t cpu_ns = yarn_u64_minus(yarn_u64_min(period_ns, PROGRAM_CPU_NS), used_ns);
    if (!cpu_ns || waited_ns >= PROGRAM_NS)
        return 0;
    return yarn_u64_min(yarn_u64_max(cpu_ns, waited_ns), LOOK_NS);
}

static void sleep_until_due(struct yarn_recorder *recorder)
{
    uint64_t begun_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    uint64_t sleep_ns;
    uint32_t word;
    while (word = atomic_load(&recorder->state.word),
           yarn_phase_of(word) == YARN_PHASE_DEFERRED && (sleep_ns = left_ns(recorder, begun_ns)))
        yarn_futex_wait(&recorder->state.word, word, sleep_ns);
}

bool yarn_deferred_start_wait(struct yarn_recorder *recorder)
{
    if (!recorder->is_deferred)
        return true;
    sleep_until_due(recorder);
    for (int i = 0;; i++) {
        uint32_t word = atomic_load(&recorder->state.word);
        if (yarn_phase_of(word) == YARN_PHASE_STARTING ||
            yarn_state_move(&recorder->state, YARN_PHASE_DEFERRED, YARN_PHASE_STARTING))
            break;
        if (yarn_phase_of(word) > YARN_PHASE_LEAVING)
            return false;
        if (yarn_futex_wait(&recorder->state.word, word, CHILD_NS) == -ETIMEDOUT &&
            i >= LOOKS_AT_EXEC)
            yarn_deferred_start_return(recorder);
    }
    recorder->is_deferred = false;
    yarn_deferred_start_claim(recorder);
    yarn_thread_count_memory(&recorder->thread);
    return true;
}

bool yarn_deferred_start_counts_for_parent(struct yarn_recorder *recorder)
{
    return atomic_load(&recorder->above) && !recorder->job.facts.lineage.predecessor;
}

void yarn_deferred_start_end(struct yarn_recorder *recorder)
{
    if (!atomic_load(&recorder->child_times))
        atomic_store(&recorder->child_times, yarn_child_times_new());
    recorder->recording.account.child_times = atomic_load(&recorder->child_times);
    recorder->recording.account.reaped_before_ns = recorder->job.facts.reaped_ns;
    if (!recorder->starts_paused && yarn_deferred_start_counts_for_parent(recorder))
        recorder->recording.account.missed_ns = yarn_clock_cpu_ns_of_others();
    else if (recorder->deferred_at_cpu_ns)
        recorder->recording.account.missed_ns =
            yarn_u64_minus(yarn_clock_cpu_ns_of_others(), recorder->deferred_at_cpu_ns);
    recorder->deferred_at_cpu_ns = 0;
}

void yarn_deferred_start_add_to_parent(struct yarn_recorder *recorder)
{
    const struct yarn_child_times *child_times = recorder->recording.account.child_times;
    const struct yarn_coverage *coverage = &recorder->recording.account.coverage;
    recorder->added_to_parent_ns = 0;
    if (yarn_process_dump_is_begun(&recorder->recording.dump) ||
        !yarn_deferred_start_counts_for_parent(recorder))
        return;
    recorder->added_to_parent_ns = coverage->before_cpu_ns + yarn_coverage_cpu_ns(coverage) +
                                   (child_times ? atomic_load(&child_times->cpu_ns) : 0);
    if (recorder->added_to_parent_ns)
        yarn_child_times_add(atomic_load(&recorder->above), 1, recorder->added_to_parent_ns);
}

void yarn_deferred_start_subtract_from_parent(struct yarn_recorder *recorder)
{
    if (recorder->added_to_parent_ns)
        yarn_child_times_add(atomic_load(&recorder->above), -1, recorder->added_to_parent_ns);
    recorder->added_to_parent_ns = 0;
}

void yarn_deferred_start_charge(struct yarn_recorder *recorder)
{
    recorder->added_to_parent_ns = yarn_clock_ns(YARN_TIME_PROCESS_CPU);
    yarn_child_times_add(atomic_load(&recorder->above), 1, recorder->added_to_parent_ns);
}

static bool leaves_from(struct yarn_recorder *recorder, enum yarn_phase phase, bool for_good)
{
    return for_good ? yarn_state_move(&recorder->state, phase, YARN_PHASE_ENDED)
                    : yarn_state_phase(&recorder->state) == phase;
}

/* Something that a dump has to say, though nothing was sampled. */
static bool has_news(struct yarn_recorder *recorder)
{
    const struct yarn_child_times *child_times = atomic_load(&recorder->child_times);
    return yarn_marks_next(&recorder->marks) ||
           (child_times && atomic_load(&child_times->cpu_ns) >=
                               YARN_NS_PER_SECOND / recorder->job.options.frequency_hz);
}

bool yarn_deferred_start_leave(struct yarn_recorder *recorder, bool for_good)
{
    if (yarn_state_phase(&recorder->state) == YARN_PHASE_DEFERRED && has_news(recorder))
        return false;
    uint32_t to = for_good ? YARN_PHASE_ENDED : YARN_PHASE_LEAVING;
    if (!yarn_state_move(&recorder->state, YARN_PHASE_DEFERRED, to) &&
        !leaves_from(recorder, YARN_PHASE_FAILED, for_good))
        /* Charged already, by a thread that is in exec. */
        return leaves_from(recorder, YARN_PHASE_LEAVING, for_good);
    /* A process that would not be recorded is not charged: nobody asked for its time. */
    if (recorder->starts_paused)
        return true;
    yarn_deferred_start_charge(recorder);
    return true;
}

void yarn_deferred_start_remove_names(const struct yarn_recorder *recorder)
{
    char bytes[sizeof "/tmp/perf-2147483647.map"];
    struct yarn_text path = yarn_text_of(bytes, sizeof bytes);
    if (!recorder->job.options.jit[0])
        return;
    yarn_text_add_format(&path, "/tmp/perf-%d.map", (int)recorder->job.facts.pid);
    (void)!yarn_file_remove(YARN_FILE_CWD, bytes);
}

void yarn_deferred_start_return(struct yarn_recorder *recorder)
{
    uint32_t state = yarn_state_phase(&recorder->state);
    if (state != YARN_PHASE_LEAVING && state != YARN_PHASE_FAILED)
        return;
    yarn_deferred_start_subtract_from_parent(recorder);
    yarn_state_move(&recorder->state, YARN_PHASE_LEAVING, YARN_PHASE_DEFERRED);
}
