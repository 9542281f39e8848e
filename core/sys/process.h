/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Facts about the calling process and the machine: ids, its list of threads, cpus, limits, and the
 * descriptor table of the calling thread. Threads, signals: safe anywhere.
 */
#pragma once

#include <sys/types.h>

#include "core/base/base.h"
#include "core/base/span.h"

pid_t yarn_process_pid(void);
pid_t yarn_process_parent(void);
pid_t yarn_process_tid(void);

/* The inode of the calling thread's pid namespace, and whether it is the first one, in whose
 * numbers the kernel's tracepoints speak; 0: unknown. */
uint64_t yarn_process_pid_namespace(void);
bool yarn_process_is_in_first_namespace(void);
/* 0: it has none here, or has gone. */
pid_t yarn_process_parent_of(pid_t pid);
uint32_t yarn_process_user(void); /* the effective one of the calling thread */

/* The cpu on which the caller runs. */
uint32_t yarn_process_cpu(void);

/* Node name, kernel release and machine, NUL-terminated. */
struct yarn_system_names {
    char node[65], release[65], machine[65];
};
void yarn_process_system_names(struct yarn_system_names *ret_names);

/* The cpus that a kernel list such as "0-3,8" names, at most `size` of them; the number. */
size_t yarn_process_parse_cpus(struct yarn_span list, int *ret_cpus, size_t size);
/* The cores of /sys/devices/system/cpu/present; where that cannot be read, the ones online. */
size_t yarn_process_present_cpus(int *ret_cpus, size_t size);
size_t yarn_process_online_cpus(int *ret_cpus, size_t size);

/* A soft resource limit (RLIMIT_AS, RLIMIT_FSIZE, …); UINT64_MAX where there is none. */
uint64_t yarn_process_limit(int resource);

/* The limit of open files, which is the process's, not the thread's. */
struct yarn_file_limit {
    uint64_t soft, hard;
};
/* Whether so many more can be opened, in a table whose numbers are dense. */
bool yarn_process_has_spare_files(size_t count);
/* Raises the soft limit to the hard one. False where that gains nothing or is refused. */
bool yarn_process_raise_files(struct yarn_file_limit *ret_before);
/* Unless it was changed meanwhile. */
void yarn_process_restore_files(const struct yarn_file_limit *before);

/* The threads in /proc/self/task: at most `size` go to ret_tids, the number of all is returned, or
 * a negative errno. A leader that has ended and waits for the others is still in the list. */
YARN_MUST_CHECK int yarn_process_threads(pid_t *ret_tids, size_t size);
/* The threads in another's folder `task`. */
YARN_MUST_CHECK int yarn_process_threads_in(const char *path, pid_t *ret_tids, size_t size);

/* The same for the calling thread's process. In a PID namespace without a /proc of its own the
 * folder has other numbers than ours and lacks the caller; then there is the first thread only,
 * `pid`. */
YARN_MUST_CHECK int yarn_process_own_threads(pid_t pid, pid_t *ret_tids, size_t size);

/* The same again and again, of which ret_tids keeps *nr_listed: where there is no list any more, as
 * the host may have left its root for one without /proc, those of the last one that live. */
YARN_MUST_CHECK int yarn_process_own_threads_again(pid_t pid, pid_t *ret_tids, size_t size,
                                                   size_t *nr_listed);

/* The number of the process's threads, the caller's among them; a negative errno without /proc. */
YARN_MUST_CHECK int yarn_process_nr_threads(void);

/* The kind of namespace that a descriptor stands for (CLONE_NEWNS, …); -EBADF: of nothing at all,
 * -ENOTTY: of something else, such as a process. */
YARN_MUST_CHECK int yarn_process_namespace_kind(int fd);

/* False where the process has no such thread. */
bool yarn_process_has_thread(pid_t pid, pid_t tid);

/* True where the thread has ended (a leader that outlives its own end) or is not there; false where
 * that cannot be found out. */
bool yarn_process_thread_is_dead(pid_t tid);

/* It is on a core, or waits for one; false also where that cannot be found out. `proc`: its
 * process's folder. */
bool yarn_process_thread_is_awake_in(const char *proc, pid_t tid);

/* The process's first thread, and how many there are; it is one of them until all have ended. */
struct yarn_process_leader {
    bool is_dead;
    int nr_threads;
    int exit_status; /* what it gave to exit, as a shell shows it; 0 where it is not known */
    int exit_signal; /* by which the kernel ended it alone, as a system call filter does; 0: none */
};

/* A descriptor to keep for when /proc cannot be reached, or a negative errno. */
YARN_MUST_CHECK int yarn_process_open_own_stat(void);

/* By that file, or (-1) by its name. */
YARN_MUST_CHECK int yarn_process_read_leader(int own_stat, struct yarn_process_leader *ret_leader);

/* When the process started, which an exec does not change, on CLOCK_BOOTTIME and to 10 ms; 0 where
 * that cannot be found out. */
uint64_t yarn_process_birth_ns(pid_t pid);

/* The signals that the thread blocks, a mask: signal n is bit n - 1; 0 where that cannot be found
 * out. */
uint64_t yarn_process_blocked_signals(pid_t tid);

/* Signals pending for the thread itself, not for the process; a mask, 0 where it is unknown. */
uint64_t yarn_process_pending_signals(pid_t tid);

/* A debugger or its like gets each signal of the thread, before the thread is. */
bool yarn_process_thread_is_traced(pid_t tid);

/* The thread's name; empty where it has gone. `size` counts the NUL. `proc`: the folder of its
 * process in /proc. */
void yarn_process_thread_name(pid_t tid, char *ret_name, size_t size);
void yarn_process_thread_name_in(const char *proc, pid_t tid, char *ret_name, size_t size);

/* A thread's schedstat. */
struct yarn_thread_schedstat {
    uint64_t run_ns;  /* on a core */
    uint64_t wait_ns; /* for one */
    uint64_t nr_runs; /* how often it came onto one */
};

/* False where it has gone, or the kernel does not say. `proc`: as above. */
bool yarn_process_thread_schedstat_in(const char *proc, pid_t tid,
                                      struct yarn_thread_schedstat *ret_stat);

/* Context switches of all threads of this process, those that have ended too. */
uint64_t yarn_process_nr_switches(void);

/* Threads of the machine that run or wait for a core; 0 where that cannot be found out. */
uint64_t yarn_process_nr_runnable(void);

/* CPU time of the children that this process has waited for, and that those had waited for. */
uint64_t yarn_process_reaped_cpu_ns(void);

/* Asks the scheduler to wake the calling thread in time and to run it soon after, for short whiles:
 * timeouts without slack (else 50 us), a slice of a tenth of a millisecond (Linux 6.12 and later),
 * and ahead of others where it is permitted to. */
void yarn_process_prefer_latency(void);

/* That slice, or the system's own. */
void yarn_process_take_short_turns(bool are_short);

/* The calling thread runs ahead of all that are not (SCHED_FIFO, SCHED_RR, SCHED_DEADLINE). */
bool yarn_process_is_real_time(void);

/* Opens a folder for reading its names. */
YARN_MUST_CHECK int yarn_process_open_folder(int dir, const char *path);

/* How much memory the process may lock for perf's rings. */

/* How much more the limit leaves, beyond the budget that perf grants each user; UINT64_MAX where
 * there is no limit, or none for the calling thread's rights. */
uint64_t yarn_locked_memory_left(void);
