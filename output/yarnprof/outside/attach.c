/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/outside/attach.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/sys/clock.h"
#include "output/base/array.h"
#include "output/yarnprof/io/numbers.h"
#include "output/yarnprof/io/status.h"
#include "output/yarnprof/outside/steering.h"
#include "output/yarnprof/outside/tasks.h"
#include "output/yarnprof/outside/wanted.h"

/* Why more than one list without news: the kernel's leaves out threads while others end. */
enum { ROUNDS_MAX = 200, QUIET_ROUNDS = 3, THREADS_MORE = 1024, LATER_LOOKS = 5 };

/* That events leave: for lists, dumps and the files whose functions are named. */
enum { FILES_SPARE = 16 };

/* After the rounds, since the first: a thread that was born of none that was attached to. */
static const uint64_t later_looks_ns[LATER_LOOKS] = {20 * YARN_NS_PER_MS, 60 * YARN_NS_PER_MS,
                                                     200 * YARN_NS_PER_MS, 600 * YARN_NS_PER_MS,
                                                     2 * YARN_NS_PER_SECOND};

struct thread {
    pid_t pid, tid;
};

struct attaching {
    struct yarn_recorder_outside recorder;
    struct yarn_steering steering;
    struct yarn_job job;
    struct yarn_tasks tasks;
    pid_t *tids; /* owned: of one process */
    size_t max_tids;
    pid_t *refused; /* owned: threads that are not tried again */
    size_t nr_refused, max_refused;
    int refusal;  /* the negative errno of one of them */
    pid_t *ended; /* owned: in this look, that may still be in the list */
    size_t nr_ended, max_ended;
    struct thread *uncovered; /* owned: that live, and may not have all events */
    size_t nr_uncovered, max_uncovered;
};

static volatile sig_atomic_t is_interrupted;

static void interrupt(int number)
{
    (void)number;
    is_interrupted = 1;
}

static void watch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < YARN_COUNT_OF(numbers); i++) {
        struct sigaction action = {.sa_handler = interrupt};
        (void)sigaction(numbers[i], &action, NULL);
    }
}

/* ---- rounds ---- */

static int list_threads(struct attaching *attaching, pid_t pid)
{
    const struct yarn_target target = yarn_target_of(pid);
    int count = yarn_target_threads(&target, pid, attaching->tids, attaching->max_tids);
    if (count <= (int)attaching->max_tids)
        return count;
    if (YARN_ARRAY_RESERVE(&attaching->tids, &attaching->max_tids, (size_t)count * 2))
        return -ENOMEM;
    count = yarn_target_threads(&target, pid, attaching->tids, attaching->max_tids);
    return count > (int)attaching->max_tids ? (int)attaching->max_tids : count;
}

static bool has(const pid_t *tids, size_t count, pid_t tid)
{
    for (size_t i = 0; i < count; i++)
        if (tids[i] == tid)
            return true;
    return false;
}

static bool is_refused(const struct attaching *attaching, pid_t tid)
{
    return has(attaching->refused, attaching->nr_refused, tid);
}

static bool is_covered(const struct attaching *attaching, pid_t pid, pid_t tid)
{
    return yarn_process_tree_has_thread(&attaching->recorder.tree, pid, tid) ||
           is_refused(attaching, tid) || has(attaching->ended, attaching->nr_ended, tid);
}

static void refuse(struct attaching *attaching, pid_t tid, int err)
{
    attaching->refusal = err;
    /* Why no word of it: without memory it is asked again. */
    if (YARN_ARRAY_PUT(&attaching->refused, &attaching->nr_refused, &attaching->max_refused, &tid))
        return;
}

static int attach_events(struct yarn_recorder_outside *recorder, pid_t tid)
{
    /* An alternate of each at most, and the switches, on each core. */
    size_t nr_files = recorder->session.nr_cpus * (2 * recorder->request.nr_events + 1);
    return yarn_process_has_spare_files(FILES_SPARE + nr_files)
               ? yarn_session_attach_thread(&recorder->session, tid)
               : -EMFILE;
}

static void attach_thread(struct attaching *attaching, pid_t pid, pid_t tid)
{
    struct yarn_recorder_outside *recorder = &attaching->recorder;
    if (is_covered(attaching, pid, tid))
        return;
    int err = recorder->request.of_cores ? 0 : attach_events(recorder, tid);
    if (!err)
        err = yarn_process_tree_add_running(&recorder->tree, pid);
    if (!err)
        err = yarn_process_tree_add_thread(&recorder->tree, pid, tid);
    if (err == -ESRCH || err == -ENOENT)
        err = YARN_ARRAY_PUT(&attaching->ended, &attaching->nr_ended, &attaching->max_ended, &tid);
    if (err)
        refuse(attaching, tid, err);
}

typedef void each_fn(struct attaching *attaching, pid_t pid, pid_t tid);

/* Of the threads that the kernel lists now. */
static int visit(struct attaching *attaching, each_fn *each)
{
    int err = yarn_tasks_list(&attaching->tasks);
    for (size_t i = 0; !err && i < attaching->tasks.count; i++) {
        int count = list_threads(attaching, attaching->tasks.pids[i]);
        for (int k = 0; k < count; k++)
            each(attaching, attaching->tasks.pids[i], attaching->tids[k]);
    }
    return err;
}

static void note_uncovered(struct attaching *attaching, pid_t pid, pid_t tid)
{
    const struct thread thread = {pid, tid};
    if (!is_covered(attaching, pid, tid) &&
        YARN_ARRAY_PUT(&attaching->uncovered, &attaching->nr_uncovered, &attaching->max_uncovered,
                       &thread))
        refuse(attaching, tid, -ENOMEM);
}

/* Why the births that lie in the rings are read first: who is given events that it has inherited
 * has two of each, and so has all that it makes. */
static int find_uncovered(struct attaching *attaching)
{
    size_t kept = 0;
    attaching->nr_uncovered = 0;
    int err = visit(attaching, note_uncovered);
    if (err || !attaching->nr_uncovered)
        return err;
    yarn_recorder_outside_catch_up(&attaching->recorder);
    for (size_t i = 0; i < attaching->nr_uncovered; i++)
        if (!is_covered(attaching, attaching->uncovered[i].pid, attaching->uncovered[i].tid))
            attaching->uncovered[kept++] = attaching->uncovered[i];
    attaching->nr_uncovered = kept;
    return 0;
}

/* Why at once, from the list: who hands on its work lives for a moment. A later look may find what
 * this one has not. */
static int attach_all(struct attaching *attaching)
{
    size_t nr_quiet = 0;
    attaching->nr_ended = 0;
    int err = find_uncovered(attaching);
    for (size_t i = 0; !err && i < ROUNDS_MAX && nr_quiet < QUIET_ROUNDS && !is_interrupted; i++) {
        if (attaching->nr_uncovered)
            err = visit(attaching, attach_thread);
        yarn_recorder_outside_drain(&attaching->recorder);
        if (!err)
            err = find_uncovered(attaching);
        nr_quiet = attaching->nr_uncovered ? 0 : nr_quiet + 1;
    }
    if (is_interrupted) /* before it was known */
        attaching->nr_uncovered = 0;
    if (err)
        yarn_complain("record", "the list of processes could not be read (%s)", strerror(-err));
    return err;
}

/* ---- the recording ---- */

static size_t count_threads(struct attaching *attaching)
{
    size_t nr_threads = 0;
    for (size_t i = 0; i < attaching->tasks.count; i++) {
        int count = list_threads(attaching, attaching->tasks.pids[i]);
        nr_threads += count > 0 ? (size_t)count : 0;
    }
    return nr_threads;
}

/* As many descriptors as there may be: each thread takes some for each core. */
static int open_recorder(struct attaching *attaching)
{
    struct yarn_file_limit before;
    struct yarn_recorder_outside *recorder = &attaching->recorder;
    int err = yarn_tasks_list(&attaching->tasks);
    if (!err && !attaching->tasks.count)
        err = -ESRCH;
    if (err) {
        yarn_complain("record", "%s", err == -ESRCH ? "the processes have ended" : strerror(-err));
        return err;
    }
    bool is_raised = yarn_process_raise_files(&before);
    (void)is_raised;
    recorder->target = yarn_target_of(attaching->tasks.pids[0]);
    recorder->request = yarn_wanted_request(&attaching->job, &recorder->target);
    recorder->request.attaches_later = !recorder->request.of_cores;
    recorder->request.max_threads = 2 * count_threads(attaching) + THREADS_MORE;
    err = yarn_recorder_outside_open(recorder, &attaching->job);
    recorder->tree.has_all = attaching->tasks.has_all;
    if (!err)
        yarn_recorder_outside_begin(recorder);
    return err;
}

static bool is_to_end(const struct attaching *attaching)
{
    const struct yarn_process_tree *tree = &attaching->recorder.tree;
    bool lives = attaching->tasks.has_all    ? true
                 : attaching->tasks.has_tree ? tree->processes.count > 0
                                             : yarn_tasks_are_alive(&attaching->tasks);
    return is_interrupted || attaching->recorder.is_over || !lives;
}

/* A round of the loop, each few ms. */
static void pass(struct attaching *attaching, uint64_t most_ns)
{
    struct timespec pause = {.tv_nsec = (long)yarn_recorder_outside_pause_ns(&attaching->recorder)};
    (void)nanosleep(&pause, NULL);
    yarn_steering_wait(&attaching->steering, most_ns);
    yarn_recorder_outside_drain(&attaching->recorder);
    yarn_steering_serve(&attaching->steering);
}

static void follow(struct attaching *attaching)
{
    const struct yarn_options *options = &attaching->job.options;
    uint64_t begin_ns = yarn_clock_ns(YARN_TIME_MONOTONIC), now_ns = begin_ns;
    size_t nr_looks = 0;
    int err = 0;
    while (!err && !is_to_end(attaching)) {
        uint64_t next_ns =
            nr_looks < LATER_LOOKS ? begin_ns + later_looks_ns[nr_looks] : UINT64_MAX;
        pass(attaching, yarn_u64_min(yarn_u64_minus(next_ns, now_ns), options->interval_ns));
        now_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
        if (nr_looks < LATER_LOOKS && now_ns >= begin_ns + later_looks_ns[nr_looks]) {
            nr_looks++;
            err = attach_all(attaching);
            if (yarn_process_tree_find_gone(&attaching->recorder.tree)) {
                yarn_recorder_outside_catch_up(&attaching->recorder);
                yarn_process_tree_end_gone(&attaching->recorder.tree);
            }
        }
    }
    yarn_steering_close(&attaching->steering);
    yarn_recorder_outside_stop(&attaching->recorder);
}

static int open_steering(struct attaching *attaching)
{
    const struct yarn_process_tree *tree = &attaching->recorder.tree;
    const struct yarn_tree_process *first =
        yarn_processes_find(&tree->processes, (uint32_t)attaching->tasks.pids[0]);
    if (!first)
        first = yarn_processes_next(&tree->processes, NULL);
    int err = yarn_steering_open(&attaching->steering, &attaching->recorder, first->target.pid,
                                 first->facts.exe);
    attaching->steering.ends_when_due = true;
    return err;
}

static void complain_of_missing(const struct attaching *attaching)
{
    size_t nr_uncovered = attaching->nr_uncovered, nr_refused = attaching->nr_refused;
    if (nr_uncovered)
        yarn_complain("record", "%s %s not recorded: others were made faster than they were found",
                      yarn_number_of_things(nr_uncovered, "thread").text,
                      nr_uncovered == 1 ? "was" : "were");
    if (nr_refused)
        yarn_complain("record", "%s %s not recorded (%s)",
                      yarn_number_of_things(nr_refused, "thread").text,
                      nr_refused == 1 ? "was" : "were", strerror(-attaching->refusal));
}

static int run(struct yarn_attach *attach, struct attaching *attaching)
{
    if (open_recorder(attaching) || attach_all(attaching))
        return YARN_STATUS_FAILED;
    if (!attaching->recorder.tree.processes.count) {
        yarn_complain("record", "no thread could be attached to (%s)",
                      strerror(attaching->refusal ? -attaching->refusal : ESRCH));
        return YARN_STATUS_FAILED;
    }
    if (open_steering(attaching))
        return YARN_STATUS_FAILED;
    attach->has_recorded = true;
    follow(attaching);
    yarn_recorder_outside_end(&attaching->recorder, -1, &attach->dumps);
    attach->has_failed = attaching->recorder.tree.failure;
    complain_of_missing(attaching);
    return attach->has_failed && !attach->dumps.count ? YARN_STATUS_FAILED : YARN_STATUS_OK;
}

static const char *why_not(int err)
{
    switch (-err) {
    case ESRCH:
        return "there is no such process";
    case ENOENT:
        return "that is a thread's number: its process's would be right";
    case ENODATA:
        return "its first thread has ended, and the kernel does not show the program of the others";
    case ENOEXEC:
        return "that is a thread of the kernel, and runs no program";
    case EACCES:
        return "it is another user's, or forbids to be looked at: root may record it, or who has "
               "CAP_SYS_PTRACE";
    default:
        return strerror(-err);
    }
}

static int open_tasks(struct attaching *attaching, const struct yarn_attach *attach)
{
    pid_t pid = 0;
    int err = yarn_tasks_open(&attaching->tasks, attach->pids, attach->has_tree, &pid);
    if (err == -EINVAL)
        yarn_complain("record",
                      "-p %s: numbers of processes, with commas between them, would be right",
                      attach->pids);
    else if (err)
        yarn_complain("record", "-p %d: %s", pid, why_not(err));
    return err == -EINVAL ? YARN_STATUS_USAGE : err ? YARN_STATUS_FAILED : 0;
}

int yarn_attach_run(struct yarn_attach *attach)
{
    static char name[] = "yarnprof";
    static char *const argv[] = {name, NULL};
    static struct attaching attaching;
    int status = yarn_wanted_read(&attaching.job, argv);
    if (status)
        return status;
    status = open_tasks(&attaching, attach);
    watch_signals();
    if (!status)
        status = run(attach, &attaching);
    yarn_recorder_outside_close(&attaching.recorder);
    yarn_tasks_close(&attaching.tasks);
    free(attaching.tids);
    free(attaching.refused);
    free(attaching.ended);
    free(attaching.uncovered);
    yarn_job_fini(&attaching.job);
    return status;
}
