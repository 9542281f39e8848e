/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/control/lifecycle.h"

#include <sched.h>
#include <stdatomic.h>
#include <sys/auxv.h>

#include "core/base/base.h"
#include "core/sys/file.h"
#include "core/sys/futex.h"
#include "core/sys/line.h"
#include "core/sys/owner.h"
#include "core/sys/signal.h"
#include "preload/control/deferred_start.h"
#include "preload/control/recorder.h"
#include "preload/process/ld_preload.h"

enum { LINE_BYTES = 1024, STDERR = 2, GONE_TRIES = 20 };

/* Of the calling thread itself, whether all at once or alone. */
enum {
    NAMESPACES = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNET,
};

#define GONE_PAUSE_NS (YARN_NS_PER_MS / 20)

/* The one pointer: set by the constructor; a child after fork that is not followed clears it. */
static YARN_IN_DATA struct yarn_recorder *the_recorder;
/* Behind a system call filter of the host: not even its process id may be asked for. */
static YARN_IN_DATA _Atomic bool is_filtered;
/* The host dispatches system calls itself: there is no recorder any more, nor will be. */
static YARN_IN_DATA bool is_over;

struct yarn_recorder *yarn_lifecycle_recorder(void)
{
    struct yarn_recorder *recorder = the_recorder;
    if (!recorder || atomic_load_explicit(&is_filtered, memory_order_relaxed))
        return NULL;
    return yarn_owner_is_caller() ? recorder : NULL;
}

bool yarn_lifecycle_notes_threads(void)
{
    return the_recorder && yarn_owner_has_memory() &&
           !atomic_load_explicit(&is_filtered, memory_order_relaxed);
}

void yarn_lifecycle_expect_thread(void)
{
    if (yarn_lifecycle_notes_threads())
        yarn_recorder_expect_threads(the_recorder);
}

void yarn_lifecycle_note_thread(void)
{
    /* Where no clock wakes a reader that sleeps. */
    if (yarn_lifecycle_notes_threads() && atomic_load(&the_recorder->is_asleep) &&
        !yarn_state_has(&the_recorder->state, YARN_STATE_POLLING))
        yarn_futex_wake(&the_recorder->requests.wanted);
}

/* The recorder that goes on behind a filter of one thread; NULL. It is reached by memory alone. */
static struct yarn_recorder *recorder_behind_filter(void)
{
    bool is_behind = atomic_load_explicit(&is_filtered, memory_order_relaxed);
    return is_behind && yarn_owner_has_memory() ? the_recorder : NULL;
}

/* The line has room for one byte more. */
static void print_line(struct yarn_text *line)
{
    line->data[line->size] = '\n';
    int err = yarn_line_write(STDERR, yarn_span_of(line->data, line->size + 1));
    if (err)
        return; /* a host without standard error, or without room in it */
}

void yarn_lifecycle_refuse(const char *why)
{
    char bytes[LINE_BYTES];
    struct yarn_text line = yarn_text_of(bytes, sizeof bytes - 1);
    yarn_text_add_format(&line, "yarn: nothing is recorded: %s", why);
    print_line(&line);
}

static YARN_IN_DATA struct yarn_file_info stderr_at_start;

void yarn_lifecycle_begin(int argc, char *const argv[], char *envp[])
{
    char bytes[LINE_BYTES];
    struct yarn_text line = yarn_text_of(bytes, sizeof bytes - 1);
    if (is_over || getauxval(AT_SECURE))
        return;
    int err = yarn_recorder_start(&the_recorder, argc, argv, envp, &line);
    if (!err && !(the_recorder->job.options.follow & YARN_FOLLOW_EXEC))
        yarn_ld_preload_remove(envp);
    if (err == -ENOMEM && !line.size)
        yarn_text_add(&line, "yarn: nothing is recorded: there is no memory");
    if (err && line.size)
        print_line(&line);
    else if (!err && yarn_file_stat(STDERR, &stderr_at_start))
        stderr_at_start = (struct yarn_file_info){.inode = 0};
}

/* Why not on the stack: a handler of a crash may have little of it. Of several threads that end
 * the process at once one reports it. */
static __attribute__((noinline)) void report_failure(struct yarn_recorder *recorder)
{
    static char bytes[LINE_BYTES];
    static _Atomic bool is_taken;
    struct yarn_file_info now;
    struct yarn_text line = yarn_text_of(bytes, sizeof bytes - 1);
    if (!recorder->recording.failure.is_unstored || atomic_exchange(&is_taken, true))
        return;
    /* A host may have given the number to something else, which is not ours to write to. */
    if (yarn_recorder_report_failure(recorder, &line) && !yarn_file_stat(STDERR, &now) &&
        yarn_file_is_same(&now, &stderr_at_start))
        print_line(&line);
    atomic_store(&is_taken, false);
}

void yarn_lifecycle_end(int status)
{
    struct yarn_recorder *recorder = yarn_lifecycle_recorder();
    if (!recorder)
        return;
    yarn_recorder_end(recorder, YARN_DUMP_END_EXIT, status);
    yarn_recorder_log(recorder);
    report_failure(recorder);
}

void yarn_lifecycle_follow_fork(void)
{
    struct yarn_recorder *recorder = the_recorder;
    if (!recorder)
        return;
    if (atomic_load(&is_filtered)) { /* the child has the filter, too */
        the_recorder = NULL;
        return;
    }
    if (!yarn_owner_inherit())
        return;
    yarn_signal_leave_behind();
    yarn_line_leave_behind();
    if (recorder->job.options.follow & YARN_FOLLOW_FORK)
        yarn_recorder_inherit(recorder);
    else
        the_recorder = NULL;
}

struct yarn_recorder *yarn_lifecycle_begin_exec(const char *path)
{
    struct yarn_recorder *recorder = yarn_lifecycle_recorder();
    if (!recorder || (path && yarn_file_can_execute(YARN_FILE_CWD, path)))
        return NULL;
    yarn_state_enter_exec(&recorder->state);
    if (!yarn_deferred_start_leave(recorder, false))
        yarn_recorder_command(recorder, YARN_RECORDER_EXEC);
    return recorder;
}

void yarn_lifecycle_fail_exec(struct yarn_recorder *recorder)
{
    if (recorder && !yarn_state_leave_exec(&recorder->state)) /* of several at once, the last */
        yarn_deferred_start_return(recorder);
}

void yarn_lifecycle_check_signals(void)
{
    struct yarn_recorder *recorder = yarn_lifecycle_recorder();
    if (recorder)
        yarn_recorder_command(recorder, YARN_RECORDER_CHECK_SIGNALS);
}

void yarn_lifecycle_drop_bounds(void)
{
    struct yarn_recorder *recorder = yarn_lifecycle_recorder();
    /* Once, for the reader drops all; a child's that has not started looks by itself. */
    if (recorder && !yarn_state_set(&recorder->state, YARN_STATE_DROPS_BOUNDS, true) &&
        (yarn_state_phase(&recorder->state) != YARN_PHASE_DEFERRED ||
         !recorder->job.facts.lineage.forked_by))
        yarn_recorder_command(recorder, YARN_RECORDER_CHECK_SIGNALS);
}

/* A thread that has just ended is counted for a moment longer. */
static bool has_other_threads(struct yarn_recorder *recorder)
{
    int ours = yarn_thread_is_running(&recorder->thread) ? 2 : 1;
    _Atomic uint32_t never = 0;
    for (int i = 0; i < GONE_TRIES && yarn_process_nr_threads() > ours; i++)
        yarn_futex_wait(&never, 0, GONE_PAUSE_NS);
    return yarn_process_nr_threads() > ours;
}

enum yarn_lifecycle_change_kind yarn_lifecycle_kind_of_unshare(int flags)
{
    const int alone = CLONE_NEWUSER | CLONE_THREAD | CLONE_SIGHAND | CLONE_VM;
    struct yarn_recorder *recorder = yarn_lifecycle_recorder();
    bool shares_files = recorder && yarn_state_phase(&recorder->state) <= YARN_PHASE_STARTING;
    if (!(flags & (alone | NAMESPACES | CLONE_FS | (shares_files ? CLONE_FILES : 0))))
        return YARN_CHANGE_NONE;
    /* Where the host has other threads it fails whatever we do. */
    bool may_succeed =
        !recorder || (!recorder->job.seccomp.is_unshare_refused && !has_other_threads(recorder));
    return flags & alone && may_succeed ? YARN_CHANGE_ALONE : YARN_CHANGE_NAMESPACE;
}

enum yarn_lifecycle_change_kind yarn_lifecycle_kind_of_setns(int fd, int kind)
{
    struct yarn_recorder *recorder = yarn_lifecycle_recorder();
    if (recorder && !recorder->job.seccomp.deadly[YARN_SECCOMP_RIGHTS]) {
        int found = yarn_process_namespace_kind(fd);
        if (found == -EBADF || (found > 0 && kind && kind != found))
            return YARN_CHANGE_NONE;
        if (found > 0)
            kind = found;
    }
    if (kind == CLONE_NEWPID) /* of later children */
        return YARN_CHANGE_NONE;
    if (kind && !(kind & (CLONE_NEWNS | ~(NAMESPACES | CLONE_NEWPID))))
        return YARN_CHANGE_NAMESPACE;
    /* A mount namespace wants a root that is no other task's; it may be the calling thread's. */
    bool may_succeed = !recorder || kind & CLONE_NEWNS || !has_other_threads(recorder);
    return may_succeed ? YARN_CHANGE_ALONE : YARN_CHANGE_NAMESPACE;
}

static const char namespace_entered[] = "the host entered a namespace; another recording follows";

/* Behind a filter: the reader goes, and nothing follows. */
static void leave_for(enum yarn_lifecycle_change_kind kind)
{
    const char *why = "the host entered a namespace behind a seccomp filter";
    if (kind <= YARN_CHANGE_LANDLOCK)
        why = "the host changed its rights behind a seccomp filter";
    else if (kind == YARN_CHANGE_FILTER_OF_ALL)
        why = "the host sets a seccomp filter for all of its threads";
    yarn_recorder_leave(recorder_behind_filter(), YARN_DUMP_END_SECCOMP, why);
}

/* A child on this memory may share our root, too, and change it for us (CLONE_VM with CLONE_FS);
 * and no call may tell whether it is one where the host is about to forbid that. */
static struct yarn_recorder *recorder_of_memory(void)
{
    return yarn_lifecycle_notes_threads() ? the_recorder : NULL;
}

/* What follows can be kept, and begins while it still may; not in a child on this memory, whose
 * thread it would be. */
static void leave_others(struct yarn_recorder *recorder)
{
    if (!yarn_recorder_watches_others(recorder) ||
        !yarn_recorder_stop(recorder, YARN_DUMP_END_STOPPED,
                            "events of whole cores are not kept when the host changes its rights, "
                            "its root or a namespace; another recording follows"))
        return;
    yarn_job_leave_others(&recorder->job,
                          "the host has changed its rights, its root or a namespace");
    if (yarn_lifecycle_recorder())
        yarn_recorder_restart(recorder);
}

static const char dispatched[] =
    "the host lets only its own code make system calls (Syscall User Dispatch)";

/* From here on not one call is made for us: every function of ours looks for the recorder first. */
static void end_for_dispatch(struct yarn_lifecycle_change *change)
{
    change->recorder = recorder_of_memory();
    if (change->recorder)
        change->has_ended = yarn_recorder_stop(change->recorder, YARN_DUMP_END_SECCOMP, dispatched);
    is_over = true;
    the_recorder = NULL;
}

/* It was refused. A child on this memory makes no reader, whose thread it would be. */
static void return_from_dispatch(const struct yarn_lifecycle_change *change)
{
    is_over = false;
    the_recorder = change->recorder;
    if (change->has_ended && yarn_lifecycle_recorder())
        yarn_recorder_restart(change->recorder);
}

static bool must_leave_behind_filter(enum yarn_lifecycle_change_kind kind)
{
    const struct yarn_recorder *behind = recorder_behind_filter();
    if (!behind || kind == YARN_CHANGE_FILTER)
        return false;
    return kind >= YARN_CHANGE_ALONE || yarn_session_watches_others(&behind->recording.session);
}

static __attribute__((noinline)) void begin_change(struct yarn_lifecycle_change *change)
{
    const enum yarn_lifecycle_change_kind kind = change->kind;
    if (kind == YARN_CHANGE_DISPATCH && !atomic_load(&is_filtered))
        end_for_dispatch(change);
    if (kind == YARN_CHANGE_NONE || kind == YARN_CHANGE_DISPATCH)
        return;
    change->recorder = kind == YARN_CHANGE_ROOT ? recorder_of_memory() : yarn_lifecycle_recorder();
    if (!change->recorder) {
        if (must_leave_behind_filter(kind))
            leave_for(kind);
        return;
    }
    bool is_filter = kind >= YARN_CHANGE_FILTER;
    if (!is_filter)
        leave_others(change->recorder);
    if (kind == YARN_CHANGE_IDS || kind == YARN_CHANGE_GROUPS)
        yarn_ids_hold_read(&change->before);
    if (is_filter)
        change->has_ended =
            yarn_recorder_begin_filter(change->recorder, kind == YARN_CHANGE_FILTER_OF_ALL);
    else if (kind == YARN_CHANGE_ALONE)
        change->has_ended =
            yarn_recorder_stop(change->recorder, YARN_DUMP_END_STOPPED, namespace_entered);
    else if (kind == YARN_CHANGE_ROOT ||
             kind == YARN_CHANGE_LANDLOCK) /* the reader opens what will be out of reach */
        yarn_recorder_command(change->recorder, YARN_RECORDER_LEAVE_ROOT);
}

void yarn_lifecycle_begin_change(enum yarn_lifecycle_change_kind kind,
                                 struct yarn_lifecycle_change *ret_change)
{
    bool is_followed = kind != YARN_CHANGE_NONE && kind <= YARN_CHANGE_ROOT;
    struct yarn_recorder *recorder = is_followed ? yarn_lifecycle_recorder() : NULL;
    *ret_change = (struct yarn_lifecycle_change){.kind = kind};
    if (recorder)
        yarn_recorder_rouse(recorder);
    begin_change(ret_change);
}

/* What was done is followed before the host's call returns. */
static void follow(const struct yarn_lifecycle_change *change)
{
    bool has_reader_behind_filter = !change->recorder && recorder_behind_filter();
    switch (change->kind) {
    case YARN_CHANGE_NONE:
    case YARN_CHANGE_ALONE:
    case YARN_CHANGE_DISPATCH:
        return;
    case YARN_CHANGE_ROOT: /* which is the reader's, too: nothing else is open that leads out */
        if (change->recorder)
            yarn_recorder_command(change->recorder, YARN_RECORDER_LEAVE_ROOT);
        return;
    case YARN_CHANGE_IDS:
    case YARN_CHANGE_GROUPS:
    case YARN_CHANGE_RIGHTS:
        if (change->recorder)
            yarn_recorder_follow_ids(
                change->recorder,
                change->kind != YARN_CHANGE_RIGHTS &&
                    yarn_ids_can_regain(&change->before, change->kind == YARN_CHANGE_GROUPS));
        break;
    case YARN_CHANGE_LANDLOCK:
        if (change->recorder && change->ruleset >= 0)
            yarn_recorder_follow_rules(change->recorder, change->ruleset);
        break;
    case YARN_CHANGE_NAMESPACE:
        if (change->recorder &&
            yarn_recorder_stop(change->recorder, YARN_DUMP_END_STOPPED, namespace_entered))
            yarn_recorder_restart(change->recorder);
        break;
    case YARN_CHANGE_FILTER:
    case YARN_CHANGE_FILTER_OF_ALL:
        if (change->recorder) {
            atomic_store(&is_filtered, true);
            yarn_state_set(&change->recorder->state, YARN_STATE_BEHIND_FILTER, true);
        }
        return;
    }
    if (has_reader_behind_filter)
        leave_for(change->kind);
}

int yarn_lifecycle_end_change(const struct yarn_lifecycle_change *change, int result)
{
    if (change->kind == YARN_CHANGE_DISPATCH && result && !atomic_load(&is_filtered))
        return_from_dispatch(change);
    else if (change->has_ended && (result || change->kind < YARN_CHANGE_FILTER))
        yarn_recorder_restart(change->recorder);
    else if (result == 0)
        follow(change);
    return result;
}
