/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The calls that yarn is going to make, tried in a child that lives for a moment: for a process
 * that was started under a system call filter (seccomp) which may end a process for a call that it
 * does not expect. That must not happen to the host.
 *
 * The child is a copy, not a thread and not on the host's memory: a filter that kills the process
 * kills that one, and no dump of its memory can take the host along. It sends no signal at its end,
 * is no child that the host's wait would see, and is reaped. What it takes is that the filter lets
 * the host make a child at all (clone): one that ends the process for that ends it here.
 *
 * Threads: the host's first thread, before there is any other. Signals: not safe.
 */
#pragma once

#include "core/base/base.h"

/* Which calls are needed for what. */
enum yarn_seccomp_probe_part {
    YARN_SECCOMP_LINE, /* that anything is said, and the rest */
    YARN_SECCOMP_ALL,  /* that is recorded */
    YARN_SECCOMP_PERF,
    YARN_SECCOMP_TIMER,
    YARN_SECCOMP_RIGHTS,   /* to follow the host when it changes its own */
    YARN_SECCOMP_LANDLOCK, /* the same, for rules of Landlock */
    YARN_SECCOMP_CONTROL,  /* the control socket */
    YARN_SECCOMP_LATENCY,  /* a reader that is woken in time */
    YARN_SECCOMP_OWNER,    /* a sure answer to whose memory it is */
    YARN_SECCOMP_UNSHARE,  /* a reader that leaves the host's descriptor table, not by clone */
    YARN_SECCOMP_BPF,      /* filters of samples */
    YARN_SECCOMP_ENDS,     /* to notice the end of the last thread at once */
    YARN_SECCOMP_PART_COUNT,
};

struct yarn_seccomp_probe {
    /* For each part the name of a call that would end its caller; NULL: none would. */
    const char *deadly[YARN_SECCOMP_PART_COUNT];
    bool is_unshare_refused; /* by an errno, as containers do, or deadly */
    bool is_apart; /* the reader can leave the host's descriptor table only by being born without */
};

/* Whether the process has a filter: 0 or 1, or a negative errno where /proc does not say. By calls
 * that the loader has just made. */
YARN_MUST_CHECK int yarn_seccomp_probe_is_due(void);

/* Tries everything. A negative errno where that cannot be done: no child can be made (-EAGAIN,
 * -EPERM, …), or valgrind runs the program, which ends itself over the attempt (-ENOTSUP). */
YARN_MUST_CHECK int yarn_seccomp_probe_run(struct yarn_seccomp_probe *ret_probe);

/* Asks for a thread that the kernel makes but for the last step, and gives up: with a thread
 * pointer that can be none. */
void yarn_seccomp_probe_try_thread(int flags);
