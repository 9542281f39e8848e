/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The host's life: its start, forks, execs and end drive the recorder. A process that shares the
 * memory without owning it (a child of vfork; core/sys/owner.h) changes nothing.
 *
 *     return, exit ──> our exit handler, after all of the host's ───────> end(EXIT)
 *     _exit, _Exit ──> interposed ─────────────────────────────────────> end(EXIT)
 *     quick_exit ────> our handler, after all of the host's ────────────> end(EXIT)
 *     the last thread leaves by pthread_exit ──> the C library's exit(0), as above
 *     the last thread leaves by raw SYS_exit ──> the reader sees that it is alone
 *     exec ──> interposed: sealed with EXEC before the call, reopened where it fails
 *     fork ──> by pthread_atfork: the child inherits, waits, records; the parent notices nothing
 *     a root, ids, capabilities ──> followed; namespaces ──> stopped, then another recording
 *     a system call filter ──> of all threads, or with the timer sampler: end(SECCOMP) before it;
 *         of one thread: the reader goes on. From then on no host thread makes a call for us: ends
 *         and execs pass through, children after fork are not recorded
 *     Syscall User Dispatch ──> end(SECCOMP) before it; from then on the same
 *     exit_group by raw call, a fatal signal, SIGKILL: what was flushed stays readable
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/sys/ids.h"

/* On the host's first thread, before main. Prints one line where a value is invalid. */
void yarn_lifecycle_begin(int argc, char *const argv[], char *envp[]);

/* Instead of begin, where the program cannot be recorded: prints one line that says why. */
void yarn_lifecycle_refuse(const char *why);

/* At the host's end, with its status (-1: unknown); returns within a bounded time. */
void yarn_lifecycle_end(int status);

/* In the child of a fork, as one of its handlers. The C library's errno is not touched. */
void yarn_lifecycle_follow_fork(void);

struct yarn_recorder;

/* Before an exec; `path` is the file where it is known. Nothing is done for a file
 * that cannot be executed. Returns the argument of the second function, NULL: nothing to do. */
struct yarn_recorder *yarn_lifecycle_begin_exec(const char *path);
/* The exec has returned: it failed. */
void yarn_lifecycle_fail_exec(struct yarn_recorder *recorder);

/* Things that the reader must not keep when the host gives them up. The reader shares its root
 * directory with the thread that created it. */
enum yarn_lifecycle_change_kind {
    YARN_CHANGE_NONE,
    YARN_CHANGE_IDS,    /* the reader assumes the same, after the call; what can be taken back it */
    YARN_CHANGE_GROUPS, /* assumes at its next turn, the supplementary ones as the others */
    YARN_CHANGE_RIGHTS, /* capabilities: the same, and always at once */
    YARN_CHANGE_LANDLOCK,  /* rules for files: what will be unreachable is opened before */
    YARN_CHANGE_ROOT,      /* of all threads: files that will be unreachable are opened before */
    YARN_CHANGE_NAMESPACE, /* or a root, of the calling thread: it then creates another reader */
    YARN_CHANGE_ALONE,     /* needs a process without the reader, which is created again after it */
    YARN_CHANGE_FILTER,    /* a seccomp filter, of the calling thread, and of all threads */
    YARN_CHANGE_FILTER_OF_ALL,
    YARN_CHANGE_DISPATCH, /* of system calls by the host itself (Syscall User Dispatch) */
};

/* ALONE only where the call may succeed, as far as that is cheap to find out. */
enum yarn_lifecycle_change_kind yarn_lifecycle_kind_of_unshare(int flags);
enum yarn_lifecycle_change_kind yarn_lifecycle_kind_of_setns(int fd, int kind);

/* Around the host's call. A recording by events of whole cores ends before any of them; another
 * follows by events of the process (except before a filter). The second
 * returns the `result`: 0 says that it was done. Neither accesses errno, not even to save it: a
 * child that shares the memory may have no thread-local storage. */
struct yarn_lifecycle_change {
    enum yarn_lifecycle_change_kind kind;
    bool has_ended;
    struct yarn_recorder *recorder; /* NULL: nothing is recorded, or a seccomp filter is set */
    union {
        struct yarn_ids_hold before; /* of IDS and GROUPS */
        int ruleset;                 /* of LANDLOCK; -1: the kernel binds the reader, too */
    };
};
void yarn_lifecycle_begin_change(enum yarn_lifecycle_change_kind kind,
                                 struct yarn_lifecycle_change *ret_change);
int yarn_lifecycle_end_change(const struct yarn_lifecycle_change *change, int result);

/* The host has dropped a capability from its bounding set. */
void yarn_lifecycle_drop_bounds(void);

/* Stops our signals to the host's threads where one could harm them. */
void yarn_lifecycle_check_signals(void);

/* Whether threads have to note their CPU time at their end: the process is recorded, and system
 * calls are allowed. Reads memory only: true in a child of vfork, too. */
bool yarn_lifecycle_notes_threads(void);

/* The host has made a thread. */
void yarn_lifecycle_note_thread(void);
/* Before that: what is deferred begins. */
void yarn_lifecycle_expect_thread(void);

/* The recorder of the calling thread's process (core/sys/owner.h); NULL where there is none, and
 * after a seccomp filter. */
struct yarn_recorder *yarn_lifecycle_recorder(void);
