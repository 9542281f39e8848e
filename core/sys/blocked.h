/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The place where a thread of the followed process is blocked, as the kernel shows it in
 * task/TID/syscall: the system call, its arguments, instruction and stack pointer. And what such a
 * call waits for: of a pthread mutex, or a rwlock that a writer has, the thread that holds it. Does
 * not know stacks.
 *
 * Threads: any. Signals: safe.
 */
#pragma once

#include <sys/types.h>

#include "core/sys/target.h"

enum { YARN_BLOCKED_ARGUMENTS = 6, YARN_BLOCKED_NO_CALL = -1 };

struct yarn_blocked {
    int64_t call;                              /* number; NO_CALL: a page fault, or stopped */
    uint64_t argument[YARN_BLOCKED_ARGUMENTS]; /* 0 without a call */
    uint64_t sp, ip;
};

/* A descriptor to keep, or a negative errno. */
YARN_MUST_CHECK int yarn_blocked_open(const struct yarn_target *target, pid_t tid);

/* -EAGAIN: the thread runs, or could; -ESRCH: it has gone; -EPERM, -EACCES: it is not to be read.
 */
YARN_MUST_CHECK int yarn_blocked_read(int fd, struct yarn_blocked *ret_blocked);

/* The text of such a file; false where it does not say where the thread is. */
YARN_MUST_CHECK bool yarn_blocked_parse(const char *text, size_t size,
                                        struct yarn_blocked *ret_blocked);

/* A lock whose holder is known. */
struct yarn_blocked_lock {
    uint64_t address; /* of the word that it waits on; 0: no such lock */
    uint32_t holder;  /* tid as the lock has it: the caller knows which threads live */
};

/* Reads the lock's memory through the kernel. */
struct yarn_blocked_lock yarn_blocked_lock_of(const struct yarn_target *target,
                                              const struct yarn_blocked *blocked);
