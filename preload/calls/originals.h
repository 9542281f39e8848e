/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What stands behind the functions that the preload interposes and does not do by itself: looked
 * up once, in the constructor, because a call may come from a vfork child, a child after fork or a
 * signal handler, where the loader must not be entered.
 *
 * Threads, signals: safe anywhere after begin.
 */
#pragma once

#include "core/base/base.h"

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

void yarn_originals_begin(void);

/* Writes the function's address to *ret_function, of `size` bytes: a function pointer cannot be
 * cast from what the loader gives, only copied. False, with errno ENOSYS, where there is none. */
bool yarn_original_find(enum yarn_original which, void *ret_function, size_t size);

typedef void (*yarn_original_fn)(void);

/* The function, to be cast to its own type; NULL before begin. For callers that must not enter the
 * loader, and whose call has to be their last act (a jump). */
yarn_original_fn yarn_original_known(enum yarn_original which);
