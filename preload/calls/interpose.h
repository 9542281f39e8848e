/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the interposed functions have in common: the mark of what the host may see (exports.map
 * lists the same names), and what stands behind those that the preload does not do by itself. That
 * is looked up once, in the constructor, because a call may come from a vfork child, a child after
 * fork or a signal handler, where the loader must not be entered.
 *
 * Threads, signals: safe anywhere after begin.
 */
#pragma once

#include "core/base/base.h"

#define YARN_EXPORTED __attribute__((visibility("default")))

/* The names are those of the functions. */
#define YARN_ORIGINALS(X)                                                                          \
    X(setuid)                                                                                      \
    X(setgid)                                                                                      \
    X(seteuid)                                                                                     \
    X(setegid)                                                                                     \
    X(setreuid)                                                                                    \
    X(setregid)                                                                                    \
    X(setresuid)                                                                                   \
    X(setresgid)                                                                                   \
    X(setgroups)                                                                                   \
    X(initgroups)                                                                                  \
    X(capset)                                                                                      \
    X(daemon)                                                                                      \
    X(execve)                                                                                      \
    X(execvpe)                                                                                     \
    X(fexecve)                                                                                     \
    X(execveat)                                                                                    \
    X(fstatat64)                                                                                   \
    X(quick_exit)                                                                                  \
    X(chroot)                                                                                      \
    X(unshare)                                                                                     \
    X(setns)                                                                                       \
    X(sigaltstack)                                                                                 \
    X(pthread_create)                                                                              \
    X(prctl)                                                                                       \
    X(syscall)

enum yarn_original {
#define X(name) YARN_ORIGINAL_##name,
    YARN_ORIGINALS(X)
#undef X
        YARN_ORIGINAL_COUNT,
};

typedef void (*yarn_original_fn)(void);

void yarn_originals_begin(void);

/* The function, to be cast to its own type. NULL, with errno ENOSYS, where there is none. */
yarn_original_fn yarn_original_find(enum yarn_original which);
#define YARN_ORIGINAL(name) ((__typeof__(&(name)))yarn_original_find(YARN_ORIGINAL_##name))

/* NULL before begin. For callers that must not enter the loader, and whose call has to be their
 * last act (a jump). */
yarn_original_fn yarn_original_known(enum yarn_original which);

/* The original of syscall, which is one file a machine (syscall_x86_64.c): it sends the calls that
 * may set a system call filter, change a namespace or give up rights to `look`, and jumps here with
 * all others, of which some look at the stack or return twice. NULL before the constructor, where
 * every call goes to `look`. */
extern yarn_original_fn yarn_syscall_next;

/* Does the call, and what has to be done around it. Returns what syscall returns, with errno. */
__attribute__((visibility("hidden"))) long yarn_syscall_look(long number, long a, long b, long c,
                                                             long d, long e, long f);

/* Where something is recorded, threads that the host makes note their CPU time when they end. Takes
 * one of the host's 1024 pthread keys; without one, or before, threads are made as if nothing were
 * interposed. */
void yarn_interpose_threads_begin(void);

/* A handler of quick_exit, after all of the host's: with the status that it was called with. */
void yarn_interpose_end_quickly(void *unused);
