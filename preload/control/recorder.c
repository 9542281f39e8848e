/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/control/recorder.h"

#include <sys/resource.h>

#include "core/sys/ancestors.h"
#include "core/sys/clock.h"
#include "core/sys/process.h"
#include "core/sys/signal.h"
#include "core/sys/timer.h"
#include "preload/control/deferred_start.h"
#include "preload/control/reader_thread.h"
#include "preload/process/restrictions.h"
#include "recording/account/thread_ends.h"

#define START_TIMEOUT_NS YARN_NS_PER_SECOND
/* Where each occurrence counts, and those before the start would be missing. */
#define START_OF_EACH_NS (5 * YARN_NS_PER_SECOND)
/* A reader whose CPU time stands still is given up after this many checks (1 s, longer on a busy
 * machine): it may wait for a core, for a disk or for the kernel's end of an event. One whose CPU
 * time moves after WORK_MOST_NS. */
#define CHECK_NS (5 * YARN_NS_PER_MS)
#define WORK_MOST_NS (5 * YARN_NS_PER_SECOND)
enum { CHECKS_IDLE_MOST = 200 };

/* After so many recordings in a row that were restarted less than this ago, with less than this of
 * CPU time since, no other follows: a handler of the host's that a timer calls, and that restarts
 * each, would leave it no time. */
#define SHORT_NS (100 * YARN_NS_PER_MS)
#define SHORT_CPU_NS (10 * YARN_NS_PER_MS)
enum { SHORT_MOST = 100 };
static const char too_short[] =
    "the host enters namespaces again and again; it is not recorded while it does";

/* For a slot in the queue of credentials; each try waits for a turn of the reader's. */
enum { PUT_TRIES = 10000 };

enum { FILES_FOR_LATE_START = 1024 }; /* what systems give: several for each of 200 cores */

enum { SPINS_AFTER = 1 << 22 }; /* without a clock: some milliseconds */

/* One in a process. Why part of the library: a fork copies no table of its own for it. */
static _Alignas(4096) struct yarn_recorder the_one;

/* Until it is known how it records, or that it does not. */
static void wait_for_start(struct yarn_recorder *recorder, uint64_t until_ns)
{
    while (yarn_state_wait(&recorder->state, YARN_PHASE_RUNNING, CHECK_NS) &&
           yarn_clock_ns(YARN_TIME_MONOTONIC) < until_ns)
        ;
}

/* What came before a start that was not waited for to its end is in no count: the reader says so.
 */
static void wait_for_begin(struct yarn_recorder *recorder)
{
    bool counts_each = recorder->job.counts_each && !recorder->starts_paused;
    uint64_t patience_ns = counts_each ? START_OF_EACH_NS : START_TIMEOUT_NS;
    wait_for_start(recorder, yarn_clock_ns(YARN_TIME_MONOTONIC) + patience_ns);
    if (counts_each && yarn_state_phase(&recorder->state) == YARN_PHASE_STARTING)
        atomic_store(&recorder->is_late, true);
}

/* The same, and what is deferred is not any longer. */
static void hurry(struct yarn_recorder *recorder, uint64_t until_ns)
{
    yarn_state_move(&recorder->state, YARN_PHASE_DEFERRED, YARN_PHASE_STARTING);
    wait_for_start(recorder, until_ns);
}

/* How long a host thread waits: as long as the reader's CPU time moves. */
struct patience {
    uint64_t until_ns;
    uint64_t cpu_ns; /* the reader's, at the last check */
    int nr_idle;
};

static struct patience patience_now(void)
{
    return (struct patience){.until_ns = yarn_clock_ns(YARN_TIME_MONOTONIC) + WORK_MOST_NS};
}

/* At each check; false where the reader is to be given up. */
static bool is_patient(const struct yarn_recorder *recorder, struct patience *patience)
{
    uint64_t cpu_ns = 0;
    pid_t tid = (pid_t)atomic_load(&recorder->thread.tid);
    if (!tid || yarn_timer_thread_cpu_ns(tid, &cpu_ns))
        return false;
    patience->nr_idle = cpu_ns == patience->cpu_ns ? patience->nr_idle + 1 : 0;
    patience->cpu_ns = cpu_ns;
    return patience->nr_idle < CHECKS_IDLE_MOST &&
           yarn_clock_ns(YARN_TIME_MONOTONIC) < patience->until_ns;
}

static void describe_failure(const struct yarn_recording *recording, const char *what,
                             struct yarn_text *line)
{
    const char *why = recording->failure.what;
    yarn_text_add_format(line, "%s%s", what, why ? why : "the reader did not start");
    yarn_messages_add_error(line, recording->failure.error);
}

static int run(struct yarn_recorder *recorder)
{
    int err = yarn_thread_start(&recorder->thread, yarn_reader_thread_run, recorder,
                                recorder->job.seccomp.is_apart);
    if (err) {
        yarn_failure_note(&recorder->recording.failure, "no thread could be made", err);
        yarn_state_become(&recorder->state, YARN_PHASE_FAILED, 0);
        return err;
    }
    wait_for_begin(recorder);
    if (yarn_state_phase(&recorder->state) != YARN_PHASE_FAILED)
        return 0;
    if (!yarn_thread_join(&recorder->thread, START_TIMEOUT_NS))
        yarn_thread_fini(&recorder->thread);
    return -ECANCELED;
}

/* Nothing happens before a call of the program's: no reader, no mapping, no event. */
static bool waits_for_call(const struct yarn_recorder *recorder)
{
    const struct yarn_options *options = &recorder->job.options;
    return recorder->starts_paused && !recorder->schedule.start_at_ns && !options->control[0] &&
           options->empty == YARN_EMPTY_DROP;
}

/* Until one period of CPU time has passed no sample can come, and most programs of a build end by
 * then: those that another recorded one executes. What somebody started by itself is recorded from
 * its main on. A low limit of open files can be raised only while the host waits. */
static bool may_start_late(const struct yarn_recorder *recorder)
{
    const struct yarn_options *options = &recorder->job.options;
    return recorder->job.samples_by_rate && !recorder->starts_paused && !options->control[0] &&
           options->empty == YARN_EMPTY_DROP &&
           yarn_process_limit(RLIMIT_NOFILE) >= FILES_FOR_LATE_START &&
           yarn_ancestor_was_given(recorder->job.facts.parent_pid, "libyarn_preload.so");
}

static int begin_late(struct yarn_recorder *recorder)
{
    atomic_store(&recorder->child_times, yarn_child_times_new());
    recorder->is_deferred = true;
    recorder->deferred_at_cpu_ns = yarn_clock_ns(YARN_TIME_PROCESS_CPU);
    yarn_state_reset(&recorder->state, YARN_PHASE_DEFERRED);
    int err = yarn_thread_start_in_child(&recorder->thread, yarn_reader_thread_run, recorder,
                                         recorder->job.seccomp.is_apart);
    if (err) {
        yarn_failure_note(&recorder->recording.failure, "no thread could be made", err);
        yarn_state_become(&recorder->state, YARN_PHASE_FAILED, 0);
    }
    return err;
}

/* Whoever comes first starts it, others wait until it has. */
void yarn_recorder_rouse(struct yarn_recorder *recorder)
{
    uint64_t mask = yarn_signal_set_mask(~UINT64_C(0));
    if (yarn_state_move(&recorder->state, YARN_PHASE_WAITING, YARN_PHASE_STARTING)) {
        yarn_deferred_start_claim(recorder);
        yarn_thread_ends_after_fork();
        yarn_clock_enter_namespace();
        recorder->recording.failure.is_unstored = run(recorder) != 0;
    } else if (yarn_state_phase(&recorder->state) == YARN_PHASE_STARTING) {
        wait_for_start(recorder, yarn_clock_ns(YARN_TIME_MONOTONIC) + START_TIMEOUT_NS);
    }
    yarn_signal_set_mask(mask);
}

void yarn_recorder_log(struct yarn_recorder *recorder)
{
    yarn_messages_write(&recorder->messages, recorder->job.options.log_file,
                        &recorder->nr_messages_logged);
}

int yarn_recorder_start(struct yarn_recorder **ret_recorder, int argc, char *const argv[],
                        char *const envp[], struct yarn_text *line)
{
    struct yarn_recorder *recorder = &the_one;
    yarn_state_reset(&recorder->state, YARN_PHASE_STARTING);
    int err = yarn_restrictions_probe(&recorder->job.seccomp, envp, line);
    if (!err)
        err = yarn_job_init(&recorder->job, argc, argv, envp, line);
    if (!err)
        err = yarn_restrictions_check(&recorder->job, line);
    if (!err) {
        yarn_probe_sites_open(&recorder->job.probe_sites, &recorder->job.events,
                              &recorder->job.arena, YARN_TRACEFS, true);
        recorder->messages.most_detailed = (int)recorder->job.options.log - 1;
        recorder->starts_paused = yarn_schedule_begin(&recorder->schedule, &recorder->job.options,
                                                      recorder->job.facts.start_ns);
        yarn_facts_note_leader(&recorder->job.facts, &recorder->job.seccomp);
        recorder->job.host_waits = true;
        if (waits_for_call(recorder)) {
            yarn_state_become(&recorder->state, YARN_PHASE_WAITING, 0);
        } else if (may_start_late(recorder)) {
            err = begin_late(recorder);
        } else {
            yarn_deferred_start_claim(recorder);
            err = run(recorder);
        }
        recorder->job.host_waits = false;
        if (err)
            describe_failure(&recorder->recording, "yarn: nothing is recorded: ", line);
    }
    if (err) {
        yarn_job_fini(&recorder->job);
        return err;
    }
    yarn_recorder_log(recorder);
    *ret_recorder = recorder;
    return 0;
}

/* Everything but the job, which is the same, and what is above. What seldom differs is not written
 * for nothing. */
static void reset(struct yarn_recorder *recorder, enum yarn_phase phase)
{
    recorder->thread = (struct yarn_thread){.memory = NULL};
    atomic_store(&recorder->is_asleep, false);
    if (recorder->recording.failure.what) {
        recorder->recording.failure.what = NULL;
        recorder->recording.failure.is_of_start = false;
        recorder->recording.failure.is_unstored = false;
    }
    if (recorder->control.is_open)
        recorder->control.is_open = false;
    recorder->has_unsaved = false;
    yarn_marks_init(&recorder->marks);
    if (atomic_load(&recorder->messages.count))
        atomic_store(&recorder->messages.count, 0);
    recorder->nr_messages_logged = 0;
    recorder->stop_reason = NULL;
    recorder->added_to_parent_ns = 0;
    atomic_store(&recorder->is_late, false);
    yarn_requests_after_fork(&recorder->requests);
    yarn_slots_clear(recorder->ids.state, YARN_IDS_QUEUE_MAX);
    atomic_store(&recorder->rules, 0);
    recorder->expects_filter = false;
    recorder->host_signal = 0;
    yarn_state_reset(&recorder->state, phase);
}

static void defer_start(struct yarn_recorder *recorder)
{
    reset(recorder, YARN_PHASE_DEFERRED);
    recorder->is_deferred = true;
    recorder->deferred_at_cpu_ns = 0;
    if (yarn_thread_start_in_child(&recorder->thread, yarn_reader_thread_run, recorder,
                                   recorder->job.seccomp.is_apart))
        yarn_state_become(&recorder->state, YARN_PHASE_FAILED, 0);
}

/* Where each occurrence counts, none of the child's is to come before the recording. */
static void start_at_once(struct yarn_recorder *recorder)
{
    reset(recorder, YARN_PHASE_STARTING);
    recorder->is_deferred = false;
    recorder->job.host_waits = true;
    yarn_deferred_start_claim(recorder);
    if (yarn_thread_start_in_child(&recorder->thread, yarn_reader_thread_run, recorder,
                                   recorder->job.seccomp.is_apart))
        yarn_state_become(&recorder->state, YARN_PHASE_FAILED, 0);
    else
        wait_for_begin(recorder);
    recorder->job.host_waits = false;
}

void yarn_recorder_inherit(struct yarn_recorder *recorder)
{
    struct yarn_child_times *child_times = atomic_load(&recorder->child_times);
    /* A child follows its own YARN_START, YARN_DELAY and YARN_DURATION, but a stop by command holds
     * for it, too. */
    uint32_t by = yarn_state_cause(&recorder->state);
    bool is_pause_requested = yarn_state_phase(&recorder->state) == YARN_PHASE_PAUSED &&
                              (by == YARN_DUMP_COVERAGE_PROGRAM || by == YARN_DUMP_COVERAGE_SOCKET);
    if (child_times) {
        yarn_child_times_free(atomic_exchange(&recorder->above, child_times));
        atomic_store(&recorder->child_times, NULL);
    }
    yarn_state_set(&recorder->state, YARN_STATE_LEFT, false);
    yarn_thread_ends_after_fork();
    yarn_facts_inherit(&recorder->job.facts); /* now it is this process's */
    yarn_facts_note_leader(&recorder->job.facts, &recorder->job.seccomp);
    yarn_probe_sites_inherit(&recorder->job.probe_sites);
    recorder->starts_paused = yarn_schedule_begin(&recorder->schedule, &recorder->job.options,
                                                  recorder->job.facts.start_ns) ||
                              is_pause_requested;
    if (waits_for_call(recorder))
        reset(recorder, YARN_PHASE_WAITING);
    else if (recorder->job.counts_each && !recorder->starts_paused)
        start_at_once(recorder);
    else
        defer_start(recorder);
}

/* However long that takes: `tid` is the reader's; 0 where it has gone already. */
static void wait_until_gone(struct yarn_recorder *recorder, uint32_t tid)
{
    _Atomic uint32_t never = 0;
    while (tid && atomic_load(&recorder->thread.tid) == tid)
        yarn_futex_wait_shared(&recorder->thread.tid, tid, CHECK_NS);
    /* The kernel counts the thread for a moment longer than it runs. */
    while (tid && yarn_process_has_thread(recorder->job.facts.pid, (pid_t)tid))
        yarn_futex_wait(&never, 0, YARN_NS_PER_MS / 20);
}

static void wait_for_end(struct yarn_recorder *recorder)
{
    struct patience patience = patience_now();
    int err;
    while ((err = yarn_state_wait(&recorder->state, YARN_PHASE_ENDED, CHECK_NS)))
        if (err == -ETIMEDOUT && !is_patient(recorder, &patience))
            return;
}

/* A deferred start that ends before its time, of a process that lives on: nothing to charge yet. */
static bool end_deferral(struct yarn_recorder *recorder)
{
    if (!recorder->is_deferred || !yarn_deferred_start_leave(recorder, true))
        return false;
    yarn_deferred_start_subtract_from_parent(recorder);
    return true;
}

/* Another thread ends the reader, and may have begun the next one, which stays. */
static void wait_for_other(struct yarn_recorder *recorder, uint32_t tid)
{
    while (tid && atomic_load(&recorder->thread.tid) == tid &&
           yarn_state_has(&recorder->state, YARN_STATE_LEFT))
        yarn_futex_wait_shared(&recorder->thread.tid, tid, CHECK_NS);
}

static bool stop(struct yarn_recorder *recorder, enum yarn_dump_end_reason reason, const char *why)
{
    bool is_first = !yarn_state_set(&recorder->state, YARN_STATE_LEFT, true);
    uint32_t tid =
        atomic_load(&recorder->thread.tid); /* after the state: never that of a replaced reader */
    if (!is_first) {
        wait_for_other(recorder, tid);
        return false;
    }
    bool is_short =
        yarn_clock_ns(YARN_TIME_MONOTONIC) - recorder->restarted_ns < SHORT_NS &&
        yarn_clock_ns(YARN_TIME_PROCESS_CPU) - recorder->restarted_cpu_ns < SHORT_CPU_NS;
    recorder->nr_short = is_short ? recorder->nr_short + 1 : 0;
    if (recorder->nr_short > SHORT_MOST && reason == YARN_DUMP_END_STOPPED)
        why = too_short;
    if (!end_deferral(recorder)) {
        recorder->starts_paused = yarn_state_phase(&recorder->state) == YARN_PHASE_PAUSED;
        recorder->stop_reason = why;
        yarn_recorder_end(recorder, reason, -1);
    }
    wait_until_gone(recorder, tid);
    yarn_thread_fini(&recorder->thread);
    return yarn_state_phase(&recorder->state) == YARN_PHASE_ENDED;
}

/* Why without signals: a handler of the host's that needs another reader, too, would wait for the
 * thread that it has interrupted. */
bool yarn_recorder_stop(struct yarn_recorder *recorder, enum yarn_dump_end_reason reason,
                        const char *why)
{
    uint64_t mask = yarn_signal_set_mask(~UINT64_C(0));
    bool has_ended =
        yarn_state_phase(&recorder->state) != YARN_PHASE_WAITING && stop(recorder, reason, why);
    yarn_recorder_log(recorder);
    yarn_signal_set_mask(mask);
    return has_ended;
}

void yarn_recorder_restart(struct yarn_recorder *recorder)
{
    uint64_t mask = yarn_signal_set_mask(~UINT64_C(0));
    if (recorder->nr_short > SHORT_MOST) {
        yarn_failure_note(&recorder->recording.failure, too_short, 0);
        recorder->recording.failure.is_unstored = true; /* so short a recording leaves no dump */
    } else if (recorder->is_deferred && recorder->job.facts.lineage.forked_by) {
        defer_start(recorder);          /* nor has it any memory that a recording needs */
    } else if (recorder->is_deferred) { /* again and again, it would never begin */
        recorder->is_deferred = false;
        reset(recorder, YARN_PHASE_STARTING);
        yarn_deferred_start_claim(recorder);
        run(recorder);
    } else {
        yarn_child_times_free(atomic_exchange(&recorder->child_times, NULL));
        reset(recorder, YARN_PHASE_STARTING);
        yarn_facts_renew(&recorder->job.facts);
        run(recorder);
    }
    recorder->restarted_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    recorder->restarted_cpu_ns = yarn_clock_ns(YARN_TIME_PROCESS_CPU);
    yarn_state_set(&recorder->state, YARN_STATE_LEFT, false);
    yarn_signal_set_mask(mask);
}

static void hand_over(struct yarn_recorder *recorder)
{
    yarn_state_move(&recorder->state, YARN_PHASE_DEFERRED, YARN_PHASE_STARTING);
    yarn_futex_wake(&recorder->requests.wanted);
    if (yarn_state_has(&recorder->state, YARN_STATE_POLLING) &&
        yarn_thread_wake(&recorder->thread, recorder->job.facts.pid))
        return; /* it has gone, or no signal can be queued: it looks at the word by itself */
}

/* Start and stop are two words for one thing: the last counts. */
static struct yarn_request put(struct yarn_recorder *recorder, enum yarn_recorder_command command)
{
    const uint32_t either = 1U << YARN_RECORDER_PAUSE | 1U << YARN_RECORDER_RESUME;
    uint32_t bit = 1U << command;
    return yarn_requests_put(&recorder->requests, bit, bit & either ? either : 0);
}

/* Its result is for those who need not wait until the reader has gone. */
static int wait_for_round(struct yarn_recorder *recorder, enum yarn_recorder_command command)
{
    struct yarn_requests *requests = &recorder->requests;
    struct yarn_request request = put(recorder, command);
    bool is_patience_limited = command > YARN_RECORDER_CHECK_SIGNALS;
    struct patience patience = patience_now();
    hand_over(recorder);
    while (yarn_state_is_recording(&recorder->state)) {
        uint32_t done = atomic_load(&requests->done);
        if (yarn_requests_has_done(requests, &request))
            return 0;
        if (yarn_futex_wait(&requests->done, done, CHECK_NS) == -ETIMEDOUT && is_patience_limited &&
            !is_patient(recorder, &patience))
            return -ETIMEDOUT;
    }
    return -ESRCH;
}

int yarn_recorder_command(struct yarn_recorder *recorder, enum yarn_recorder_command command)
{
    if (yarn_state_phase(&recorder->state) == YARN_PHASE_WAITING)
        return 0; /* there is nothing to stop, to write or to give up */
    uint32_t tid = atomic_load(&recorder->thread.tid);
    int err =
        yarn_state_is_recording(&recorder->state) ? wait_for_round(recorder, command) : -ESRCH;
    if (err && command <= YARN_RECORDER_CHECK_SIGNALS)
        wait_until_gone(recorder, tid);
    return err;
}

bool yarn_recorder_begin_filter(struct yarn_recorder *recorder, bool is_for_all_threads)
{
    /* A reader that has not started will open what it needs behind the filter as well as before,
     * but only then it is known which sampler there is. */
    hurry(recorder, UINT64_MAX);
    if (!yarn_state_is_recording(&recorder->state))
        return false;
    const char *why = NULL;
    if (is_for_all_threads)
        why = "the host sets a seccomp filter for all of its threads";
    else if (yarn_session_sends_signals(&recorder->recording.session))
        why = "the host sets a seccomp filter; the timer sampler makes system calls on its threads";
    /* Behind it the host can wait for the reader only by running, which such a thread does before
     * the reader for ever. */
    else if (!recorder->job.seccomp.deadly[YARN_SECCOMP_LATENCY] && yarn_process_is_real_time())
        why = "a real-time thread of the host sets a seccomp filter";
    if (why)
        return yarn_recorder_stop(recorder, YARN_DUMP_END_SECCOMP, why);
    yarn_recorder_command(recorder, YARN_RECORDER_EXPECT_FILTER);
    return false;
}

static void put_end(struct yarn_recorder *recorder, enum yarn_dump_end_reason reason, int status)
{
    atomic_store(&recorder->end, (uint64_t)(uint32_t)status << 32 | reason);
    put(recorder, YARN_RECORDER_END);
}

void yarn_recorder_leave(struct yarn_recorder *recorder, enum yarn_dump_end_reason reason,
                         const char *why)
{
    if (yarn_state_is_recording(&recorder->state)) {
        recorder->stop_reason = why;
        put_end(recorder, reason, -1);
    }
    while (yarn_thread_is_running(&recorder->thread))
        ;
    /* The kernel counts the thread for a moment longer. */
    for (uint32_t i = 0; i < SPINS_AFTER; i++)
        atomic_load(&recorder->thread.tid);
}

/* Where there is no place, as many threads change theirs at once, the reader makes some. */
static int put_ids(struct yarn_recorder *recorder)
{
    int err = yarn_ids_queue_put(&recorder->ids, false);
    for (int i = 0; i < PUT_TRIES && err == -EAGAIN; i++) {
        if (yarn_recorder_command(recorder, YARN_RECORDER_FOLLOW_IDS))
            return 0; /* it has gone, with all that it had */
        err = yarn_ids_queue_put(&recorder->ids, false);
    }
    return err;
}

void yarn_recorder_follow_ids(struct yarn_recorder *recorder, bool can_wait)
{
    bool is_deadly = recorder->job.seccomp.deadly[YARN_SECCOMP_RIGHTS];
    bool is_recording = yarn_state_is_recording(&recorder->state);
    if (is_recording && can_wait && !is_deadly && !yarn_ids_queue_put(&recorder->ids, true))
        return;
    if (is_recording && (is_deadly || put_ids(recorder))) {
        recorder->stop_reason = is_deadly ? "the host changed its rights, and its seccomp filter "
                                            "would end the reader for changing its own"
                                          : "the host changed its rights, and the reader could not "
                                            "learn which";
        yarn_recorder_end(recorder, is_deadly ? YARN_DUMP_END_SECCOMP : YARN_DUMP_END_FAILED, -1);
    }
    yarn_recorder_command(recorder, YARN_RECORDER_FOLLOW_IDS);
}

void yarn_recorder_follow_rules(struct yarn_recorder *recorder, int ruleset)
{
    const char *const *deadly = recorder->job.seccomp.deadly;
    uint64_t rules = (uint64_t)yarn_process_tid() << 32 | (uint32_t)ruleset, none = 0;
    bool is_recording = yarn_state_is_recording(&recorder->state);
    if (is_recording && (deadly[YARN_SECCOMP_LANDLOCK] || deadly[YARN_SECCOMP_RIGHTS])) {
        recorder->stop_reason = "the host took rules of Landlock, and its seccomp filter would end "
                                "the reader for taking them";
        yarn_recorder_end(recorder, YARN_DUMP_END_SECCOMP, -1);
    } else if (is_recording) {
        /* Where another thread's lie there, the reader takes those first. */
        while (!atomic_compare_exchange_strong(&recorder->rules, &none, rules) &&
               !yarn_recorder_command(recorder, YARN_RECORDER_FOLLOW_IDS))
            none = 0;
    }
    yarn_recorder_command(recorder, YARN_RECORDER_FOLLOW_IDS);
}

void yarn_recorder_expect_threads(struct yarn_recorder *recorder)
{
    if (yarn_state_phase(&recorder->state) == YARN_PHASE_DEFERRED &&
        !recorder->job.facts.lineage.forked_by)
        hurry(recorder, yarn_clock_ns(YARN_TIME_MONOTONIC) + START_TIMEOUT_NS);
}

bool yarn_recorder_watches_others(struct yarn_recorder *recorder)
{
    if (!yarn_job_may_watch_others(&recorder->job))
        return false;
    hurry(recorder, UINT64_MAX);
    return yarn_session_watches_others(&recorder->recording.session);
}

int yarn_recorder_mark(struct yarn_recorder *recorder, const char *text)
{
    yarn_recorder_rouse(recorder);
    int err =
        yarn_state_is_recording(&recorder->state) ? yarn_marks_put(&recorder->marks, text) : -ESRCH;
    if (!err && (atomic_load(&recorder->is_asleep) ||
                 yarn_state_phase(&recorder->state) == YARN_PHASE_DEFERRED))
        hand_over(recorder);
    return err;
}

bool yarn_recorder_report_failure(struct yarn_recorder *recorder, struct yarn_text *line)
{
    if (yarn_state_is_recording(&recorder->state) || !recorder->recording.failure.is_unstored)
        return false;
    recorder->recording.failure.is_unstored = false;
    /* A filter that the program was started behind lets it make no files: nobody's fault. */
    if (recorder->recording.failure.error == -ENOSYS)
        return false;
    describe_failure(&recorder->recording,
                     recorder->recording.failure.is_of_start ? "yarn: nothing is recorded: "
                                                             : "yarn: the recording ended early: ",
                     line);
    return true;
}

void yarn_recorder_end(struct yarn_recorder *recorder, enum yarn_dump_end_reason reason, int status)
{
    if (yarn_deferred_start_leave(recorder, true)) {
        yarn_deferred_start_remove_names(recorder);
        return;
    }
    if (!yarn_state_is_recording(&recorder->state))
        return;
    put_end(recorder, reason, status);
    hand_over(recorder);
    wait_for_end(recorder);
    if (yarn_state_phase(&recorder->state) == YARN_PHASE_STARTING && !recorder->starts_paused)
        yarn_deferred_start_charge(recorder);
}
