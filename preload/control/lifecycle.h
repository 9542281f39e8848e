/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * How the life of the host moves the recorder: its constructor starts it; its end, by whatever way,
 * ends it. In a process that did not start it (a child of vfork) nothing is touched: whose memory
 * it is core/sys/owner.h knows.
 *
 *     return, exit ──> our exit handler, after all of the host's ───────> end(EXIT)
 *     _exit, _Exit ──> interposed ─────────────────────────────────────> end(EXIT)
 *     quick_exit ────> our handler, after all of the host's ────────────> end(EXIT)
 *     the last thread leaves by pthread_exit ──> the C library's exit(0), as above
 *     the last thread leaves by raw SYS_exit ──> the reader sees that it is alone
 *     exec ──> interposed: sealed with EXEC before the call, taken back where it fails
 *     fork ──> by pthread_atfork: the child inherits, waits, records; the parent notices nothing
 *     a root, ids, capabilities ──> followed; namespaces ──> stopped, then another recording
 *     a system call filter ──> of all threads, or with the timer sampler: end(SECCOMP) before it;
 *         of one thread: the reader goes on. From then on no host thread makes a call for us: ends
 *         and execs pass through, children after fork are not recorded
 *     exit_group by raw call, a fatal signal, SIGKILL: what was flushed stays readable
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* On the host's first thread, before main. Prints one line where a value cannot be used. */
void yarn_lifecycle_begin(int argc, char *const argv[], char *envp[]);

/* In this process there is a thread that the host did not make. */
bool yarn_lifecycle_has_reader(void);

/* Instead of begin, where the program is none that can be recorded: one line says why. */
void yarn_lifecycle_refuse(const char *why);

/* From the host's last moments, with its status (-1: unknown); returns within a bounded time. */
void yarn_lifecycle_end(int status);

/* In the child of a fork, as one of its handlers. The C library's errno is not touched. */
void yarn_lifecycle_follow_fork(void);

struct yarn_recorder;

/* Before an exec; `path` is the file where it is known. A file that cannot be executed is left to
 * fail by itself. Returns what the second wants, NULL: nothing. */
struct yarn_recorder *yarn_lifecycle_begin_exec(const char *path);
/* The exec has returned: it failed. */
void yarn_lifecycle_fail_exec(struct yarn_recorder *recorder);

/* What the reader must not keep where the host gives it up. The reader shares its root with the
 * thread that made it. */
enum yarn_lifecycle_change_kind {
    YARN_CHANGE_NONE,
    YARN_CHANGE_RIGHTS,    /* ids and capabilities: the reader takes the same, after the call */
    YARN_CHANGE_ROOT,      /* of all threads: what will be out of reach is opened before */
    YARN_CHANGE_NAMESPACE, /* or a root, of the calling thread: another reader is born from it */
    YARN_CHANGE_ALONE,     /* for which the reader must not be there: it is born anew after */
    YARN_CHANGE_FILTER,    /* of system calls, of the calling thread, and of all threads */
    YARN_CHANGE_FILTER_OF_ALL,
};

/* ALONE only where the call may succeed, as far as that is cheap to say. */
enum yarn_lifecycle_change_kind yarn_lifecycle_kind_of_unshare(int flags);
enum yarn_lifecycle_change_kind yarn_lifecycle_kind_of_setns(int fd, int kind);

/* Around the host's call. A recording by clocks of whole cores ends before any of them; another
 * follows by clocks of the process (before a filter nothing more is to be given up). The second
 * returns the `result`: 0 says that it was done. Neither touches errno, not even to keep it: in a
 * child on this memory there may be no thread-local storage at all. */
struct yarn_lifecycle_change {
    enum yarn_lifecycle_change_kind kind;
    struct yarn_recorder *recorder; /* NULL: nothing is recorded, or behind a filter */
    bool has_ended;
};
struct yarn_lifecycle_change yarn_lifecycle_begin_change(enum yarn_lifecycle_change_kind kind);
int yarn_lifecycle_end_change(const struct yarn_lifecycle_change *change, int result);

/* The host has dropped a capability from its bounding set. */
void yarn_lifecycle_drop_bounds(void);

/* Has signals of ours to the host's threads stopped where one could harm them. */
void yarn_lifecycle_check_signals(void);

/* Threads are to note what they used: something is recorded here, and a host thread may make a call
 * for us. By memory alone: true in a child of vfork, too. */
bool yarn_lifecycle_notes_threads(void);

/* The recorder of the calling thread's process (core/sys/owner.h); NULL where there is none, and
 * behind a system call filter. */
struct yarn_recorder *yarn_lifecycle_recorder(void);
