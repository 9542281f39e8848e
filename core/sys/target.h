/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The process that is followed: the calling one, another, or none. Its memory, its folder in /proc,
 * its files, its threads and its CPU time are asked for here, so that nothing above depends on who
 * asks. Memory is read through the kernel: where nothing is mapped it is an error and no signal.
 *
 * Threads, signals: safe anywhere.
 */
#pragma once

#include <sys/types.h>

#include "core/sys/clock.h"
#include "core/sys/process.h"

enum yarn_target_kind { YARN_TARGET_NONE, YARN_TARGET_OWN, YARN_TARGET_OTHER };

enum { YARN_TARGET_PROC_BYTES = 24 };

/* The root folder of another process. */
struct yarn_root {
    int fd;           /* O_PATH; YARN_FILE_CWD: its path is opened at each use */
    const char *path; /* as the calling process reaches it */
};

struct yarn_target {
    enum yarn_target_kind kind;
    pid_t pid;                         /* 0: not known, of the calling process */
    char proc[YARN_TARGET_PROC_BYTES]; /* its folder; empty: none */
    const struct yarn_root *root;      /* borrowed; NULL: the calling process's */
    bool has_ended; /* who follows it knows: it is asked for nothing any more, nor is another that
                     * has got its number */
    /* Of another, so far: who follows it writes them, since the kernel has them no more once it has
     * ended. */
    uint64_t cpu_ns;
    uint64_t switching_ns; /* of it: while its threads came onto cores and left them */
    bool is_cpu_estimated; /* in part */
    struct yarn_ticks ticks;
};

extern const struct yarn_target yarn_target_self, yarn_target_nobody;

struct yarn_target yarn_target_of(pid_t pid);

/* All of it or -EFAULT; -ESRCH: of none. Its file `mem` serves where process_vm_readv
 * is not permitted, as under some containers' system call filters. */
YARN_MUST_CHECK int yarn_target_read(const struct yarn_target *target, uint64_t address,
                                     void *ret_data, size_t size);

/* A file that it has by that name, as yarn_file_open. */
YARN_MUST_CHECK int yarn_target_open_file(const struct yarn_target *target, const char *path);

/* Of another that lives, by its /proc/PID/status: the number that it has itself, in its own
 * namespace, and the user that its files are of. False: not known. */
bool yarn_target_identity(const struct yarn_target *target, uint32_t *ret_pid, uint32_t *ret_user);

/* CPU time of its threads; of the calling process without the calling thread, which is ours. */
uint64_t yarn_target_cpu_ns(const struct yarn_target *target);

/* The same until now, of another, too, while it lives. */
uint64_t yarn_target_ran_ns(const struct yarn_target *target);
struct yarn_ticks yarn_target_ticks(const struct yarn_target *target);

/* Its threads: at most `size` go to ret_tids, the number of all is returned, or a negative errno.
 * `pid` is its number, which the calling process is asked by where it has no list. */
YARN_MUST_CHECK int yarn_target_threads(const struct yarn_target *target, pid_t pid,
                                        pid_t *ret_tids, size_t size);

/* As those of core/sys/process.h, of its threads. */
void yarn_target_thread_name(const struct yarn_target *target, pid_t tid, char *ret_name,
                             size_t size);
bool yarn_target_thread_schedstat(const struct yarn_target *target, pid_t tid,
                                  struct yarn_thread_schedstat *ret_stat);
bool yarn_target_has_thread(const struct yarn_target *target, pid_t pid, pid_t tid);

/* It is on a core, or waits for one; false also where that cannot be found out. */
bool yarn_target_thread_is_awake(const struct yarn_target *target, pid_t tid);

/* False where it has ended. *ret_cpu_ns: since its start. */
bool yarn_target_thread_is_alive(const struct yarn_target *target, pid_t pid, pid_t tid,
                                 uint64_t *ret_cpu_ns);

/* Of the calling process, as far as it can be read, into two pieces of memory one after the other,
 * by one call; the bytes that were, or a negative errno. `pid` is the caller's. */
YARN_MUST_CHECK ssize_t yarn_target_copy_own(pid_t pid, uint64_t address, void *ret_first,
                                             size_t first_bytes, void *ret_second,
                                             size_t second_bytes);
