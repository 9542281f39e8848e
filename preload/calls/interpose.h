/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the interposed functions: the attribute for exported symbols (exports.map lists the
 * same names), and the original functions. These are looked up once, in the constructor, because a
 * call may come from a vfork child, a forked child or a signal handler, where dlsym must not be
 * called.
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

/* The original, to be cast to its type. NULL, with errno ENOSYS, where there is none. */
yarn_original_fn yarn_original_find(enum yarn_original which);
#define YARN_ORIGINAL(name) ((__typeof__(&(name)))yarn_original_find(YARN_ORIGINAL_##name))

/* NULL before begin. For callers that must not call the loader, and that jump to the original. */
yarn_original_fn yarn_original_known(enum yarn_original which);

/* The original of syscall, implemented per machine (syscall_x86_64.c): it passes the calls that
 * may set a seccomp filter, change a namespace or give up rights to yarn_syscall_intercept, and
 * jumps here with all others, since some of them read the stack or return twice. NULL before the
 * constructor, when every call goes there. */
extern yarn_original_fn yarn_syscall_next;

/* Makes the call, with what has to be done before and after it. Returns and sets errno as syscall.
 */
__attribute__((visibility("hidden"))) long yarn_syscall_intercept(long number, long a, long b,
                                                                  long c, long d, long e, long f);

/* Where something is recorded, threads that the host makes note their CPU time when they end. Takes
 * one of the host's 1024 pthread keys; without one, or before, threads are made as if nothing were
 * interposed. */
void yarn_interpose_threads_begin(void);

/* A handler of quick_exit, after all of the host's: with the status that it was called with. */
void yarn_interpose_end_quickly(void *unused);
