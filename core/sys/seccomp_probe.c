/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sys/seccomp_probe.h"

#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/close_range.h>
#include <linux/nsfs.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "core/base/pages.h"
#include "core/base/raw.h"
#include "core/sys/file.h"
#include "core/sys/process.h"
#include "core/sys/signal.h"
#include "core/sys/thread.h"
#include "core/sys/valgrind.h"

enum {
    ROOM_BYTES = 4096,
    ROOM = -1000, /* stands for the address of `room` */
    NOWHERE = -1, /* no valid descriptor */
    MASK_BYTES = 8,
    PARTS = YARN_SECCOMP_PART_COUNT,
    CORE_LEAST = 1, /* of a limit: neither a file nor a helper of the kernel's takes the dump */
};

/* A call with words that change nothing. */
struct act {
    const char *name;
    long number;
    enum yarn_seccomp_probe_part part;
    long words[5];
};

/* Calls without which the child could not be tried out and reaped come first, then what is the
 * least unusual: where something kills, it is known what it was. scripts/check calls compares the
 * list with the calls that there are in what the preload is made of. */
static const struct act acts[] = {
    {"wait4", SYS_wait4, YARN_SECCOMP_ALL, {-1, 0, WNOHANG, 0}},
    {"write", SYS_write, YARN_SECCOMP_LINE, {NOWHERE, ROOM, 0}},
    {"rt_sigprocmask", SYS_rt_sigprocmask, YARN_SECCOMP_LINE, {0, 0, ROOM, MASK_BYTES}},
    {"lseek", SYS_lseek, YARN_SECCOMP_LINE, {NOWHERE, 0, SEEK_SET}},
    {"fstat", SYS_fstat, YARN_SECCOMP_LINE, {NOWHERE, ROOM}},
    {"ppoll", SYS_ppoll, YARN_SECCOMP_LINE, {0, 0, ROOM, 0, MASK_BYTES}},
    {"rt_sigpending", SYS_rt_sigpending, YARN_SECCOMP_LINE, {ROOM, MASK_BYTES}},
    {"rt_sigtimedwait", SYS_rt_sigtimedwait, YARN_SECCOMP_LINE, {ROOM, 0, ROOM, MASK_BYTES}},
    {"getrusage", SYS_getrusage, YARN_SECCOMP_ALL, {RUSAGE_SELF, ROOM}},
    {"prctl", SYS_prctl, YARN_SECCOMP_PERF, {PR_SET_DUMPABLE, 0, 0, 0, 0}},
    {"getpid", SYS_getpid, YARN_SECCOMP_ALL, {0}},
    {"gettid", SYS_gettid, YARN_SECCOMP_ALL, {0}},
    {"getppid", SYS_getppid, YARN_SECCOMP_ALL, {0}},
    {"geteuid", SYS_geteuid, YARN_SECCOMP_ALL, {0}},
    {"uname", SYS_uname, YARN_SECCOMP_ALL, {ROOM}},
    {"clock_gettime", SYS_clock_gettime, YARN_SECCOMP_ALL, {CLOCK_MONOTONIC, ROOM}},
    {"clock_gettime", SYS_clock_gettime, YARN_SECCOMP_ALL, {CLOCK_PROCESS_CPUTIME_ID, ROOM}},
    {"clock_gettime", SYS_clock_gettime, YARN_SECCOMP_ALL, {CLOCK_THREAD_CPUTIME_ID, ROOM}},
    {"rt_sigaction", SYS_rt_sigaction, YARN_SECCOMP_ALL, {SIGUSR1, 0, ROOM, MASK_BYTES}},
    {"openat", SYS_openat, YARN_SECCOMP_ALL, {AT_FDCWD, ROOM, O_RDONLY | O_CLOEXEC}},
    {"close", SYS_close, YARN_SECCOMP_ALL, {NOWHERE}},
    {"read", SYS_read, YARN_SECCOMP_ALL, {NOWHERE, ROOM, 1}},
    {"pread64", SYS_pread64, YARN_SECCOMP_ALL, {NOWHERE, ROOM, 1, 0}},
    {"newfstatat", SYS_newfstatat, YARN_SECCOMP_ALL, {NOWHERE, ROOM, ROOM, AT_SYMLINK_NOFOLLOW}},
    {"readlinkat", SYS_readlinkat, YARN_SECCOMP_ALL, {NOWHERE, ROOM, ROOM, 1}},
    {"faccessat", SYS_faccessat, YARN_SECCOMP_ALL, {NOWHERE, ROOM, 0}},
    {"getdents64", SYS_getdents64, YARN_SECCOMP_ALL, {NOWHERE, ROOM, 64}},
    {"mkdirat", SYS_mkdirat, YARN_SECCOMP_ALL, {NOWHERE, ROOM, 0777}},
    {"unlinkat", SYS_unlinkat, YARN_SECCOMP_ALL, {NOWHERE, ROOM, 0}},
    {"ftruncate", SYS_ftruncate, YARN_SECCOMP_ALL, {NOWHERE, 0}},
    {"mmap", SYS_mmap, YARN_SECCOMP_ALL, {0, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, NOWHERE}},
    {"munmap", SYS_munmap, YARN_SECCOMP_ALL, {0, 0}},
    {"munlock", SYS_munlock, YARN_SECCOMP_ALL, {0, 0}},
    {"madvise", SYS_madvise, YARN_SECCOMP_ALL, {0, 0, MADV_DONTFORK}},
    {"futex", SYS_futex, YARN_SECCOMP_ALL, {ROOM, 1 /* wake */, 1, 0, 0}},
    {"tgkill", SYS_tgkill, YARN_SECCOMP_ALL, {-1, -1, 0}},
    {"getcpu", SYS_getcpu, YARN_SECCOMP_ALL, {0, 0, 0}},
    {"sched_getaffinity", SYS_sched_getaffinity, YARN_SECCOMP_ALL, {0, 512, ROOM}},
    {"get_robust_list", SYS_get_robust_list, YARN_SECCOMP_OWNER, {0, ROOM, ROOM}},
    {"prctl", SYS_prctl, YARN_SECCOMP_LATENCY, {PR_SET_TIMERSLACK, 1, 0, 0, 0}},
    {"sched_getattr", SYS_sched_getattr, YARN_SECCOMP_LATENCY, {0, 0, 0, 0}},
    {"sched_setattr", SYS_sched_setattr, YARN_SECCOMP_LATENCY, {0, 0, 0}},
    {"process_vm_readv", SYS_process_vm_readv, YARN_SECCOMP_ALL, {0, 0, 0, 0, 0}},
    {"close_range", SYS_close_range, YARN_SECCOMP_ALL, {UINT32_MAX, UINT32_MAX, 0}},
    {"close_range",
     SYS_close_range,
     YARN_SECCOMP_UNSHARE,
     {UINT32_MAX, UINT32_MAX, CLOSE_RANGE_UNSHARE}},
    {"unshare", SYS_unshare, YARN_SECCOMP_UNSHARE, {CLONE_FILES}},
    {"timer_create", SYS_timer_create, YARN_SECCOMP_TIMER, {CLOCK_MONOTONIC, 0, 0}},
    {"timer_settime", SYS_timer_settime, YARN_SECCOMP_TIMER, {-1, 0, 0, 0}},
    {"timer_delete", SYS_timer_delete, YARN_SECCOMP_TIMER, {-1}},
    {"clock_getres", SYS_clock_getres, YARN_SECCOMP_TIMER, {CLOCK_MONOTONIC_COARSE, ROOM}},
    {"getresuid", SYS_getresuid, YARN_SECCOMP_RIGHTS, {0, 0, 0}},
    {"getresgid", SYS_getresgid, YARN_SECCOMP_RIGHTS, {0, 0, 0}},
    {"getgroups", SYS_getgroups, YARN_SECCOMP_RIGHTS, {0, 0}},
    {"setgroups", SYS_setgroups, YARN_SECCOMP_RIGHTS, {-1, 0}},
    {"capget", SYS_capget, YARN_SECCOMP_RIGHTS, {0, 0}},
    {"capset", SYS_capset, YARN_SECCOMP_RIGHTS, {0, 0}},
    {"prctl", SYS_prctl, YARN_SECCOMP_RIGHTS, {PR_SET_KEEPCAPS, 0, 0, 0, 0}},
    {"prctl", SYS_prctl, YARN_SECCOMP_RIGHTS, {PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0}},
    {"prctl", SYS_prctl, YARN_SECCOMP_RIGHTS, {PR_CAPBSET_DROP, -1, 0, 0, 0}},
    {"ioctl", SYS_ioctl, YARN_SECCOMP_RIGHTS, {NOWHERE, NS_GET_NSTYPE, 0}},
    {"pidfd_open", SYS_pidfd_open, YARN_SECCOMP_LANDLOCK, {NOWHERE, 0}},
    {"pidfd_getfd", SYS_pidfd_getfd, YARN_SECCOMP_LANDLOCK, {NOWHERE, NOWHERE, 0}},
    {"landlock_restrict_self", SYS_landlock_restrict_self, YARN_SECCOMP_LANDLOCK, {NOWHERE, 0}},
    {"setresgid", SYS_setresgid, YARN_SECCOMP_RIGHTS, {-1, -1, -1}},
    {"setresuid", SYS_setresuid, YARN_SECCOMP_RIGHTS, {-1, -1, -1}},
    {"socket", SYS_socket, YARN_SECCOMP_CONTROL, {AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0}},
    {"bind", SYS_bind, YARN_SECCOMP_CONTROL, {NOWHERE, 0, 0}},
    {"fchmod", SYS_fchmod, YARN_SECCOMP_CONTROL, {NOWHERE, 0600}},
    {"listen", SYS_listen, YARN_SECCOMP_CONTROL, {NOWHERE, 1}},
    {"connect", SYS_connect, YARN_SECCOMP_CONTROL, {NOWHERE, 0, 0}},
    {"accept4", SYS_accept4, YARN_SECCOMP_CONTROL, {NOWHERE, 0, 0, SOCK_CLOEXEC}},
    {"getsockopt", SYS_getsockopt, YARN_SECCOMP_CONTROL, {NOWHERE, SOL_SOCKET, SO_PEERCRED, 0}},
    {"recvfrom", SYS_recvfrom, YARN_SECCOMP_CONTROL, {NOWHERE, ROOM, 1, MSG_DONTWAIT, 0}},
    {"sendto", SYS_sendto, YARN_SECCOMP_CONTROL, {NOWHERE, ROOM, 1, MSG_DONTWAIT, 0}},
    {"flock", SYS_flock, YARN_SECCOMP_CONTROL, {NOWHERE, 0}},
    {"prctl", SYS_prctl, YARN_SECCOMP_ENDS, {PR_GET_TID_ADDRESS, ROOM, 0, 0, 0}},
    {"futex_waitv", SYS_futex_waitv, YARN_SECCOMP_ENDS, {0, 0, 0, 0, 0}},
    {"pidfd_open", SYS_pidfd_open, YARN_SECCOMP_ENDS, {-1, 0}},
    {"signalfd4", SYS_signalfd4, YARN_SECCOMP_PERF, {NOWHERE, 0, 0, 0}},
    {"rt_tgsigqueueinfo", SYS_rt_tgsigqueueinfo, YARN_SECCOMP_PERF, {-1, -1, 0, 0}},
    {"ioctl", SYS_ioctl, YARN_SECCOMP_PERF, {NOWHERE, (long)PERF_EVENT_IOC_ID, ROOM}},
    {"ioctl", SYS_ioctl, YARN_SECCOMP_PERF, {NOWHERE, PERF_EVENT_IOC_ENABLE, 0}},
    {"ioctl", SYS_ioctl, YARN_SECCOMP_PERF, {NOWHERE, PERF_EVENT_IOC_SET_OUTPUT, 0}},
    {"ioctl", SYS_ioctl, YARN_SECCOMP_BPF, {NOWHERE, PERF_EVENT_IOC_SET_BPF, NOWHERE}},
    {"bpf", SYS_bpf, YARN_SECCOMP_BPF, {BPF_PROG_LOAD, ROOM, 0}},
    {"perf_event_open",
     SYS_perf_event_open,
     YARN_SECCOMP_PERF,
     {0, 0, -1, -1, PERF_FLAG_FD_CLOEXEC}},
};

/* Where the child is; shared with it. */
struct stage {
    _Atomic uint32_t at;          /* number of the act */
    _Atomic int32_t leave_result; /* of close_range, of the first child that tried it */
    _Atomic int32_t unshare_result;
};

enum { THREAD_ACT = YARN_COUNT_OF(acts), SIGNAL_ACT, EXIT_ACT, ACT_COUNT };
static const char *const late_names[] = {"clone", "rt_sigreturn", "exit"};

int yarn_seccomp_probe_is_due(void)
{
    static const char key[] = "\nSeccomp:\t";
    char text[ROOM_BYTES];
    int fd = yarn_file_open(YARN_FILE_CWD, "/proc/self/status");
    if (fd < 0)
        return fd;
    ssize_t length = yarn_file_read(fd, text, sizeof text - 1);
    yarn_file_close(fd);
    if (length < 0)
        return (int)length;
    for (size_t at = 0; at + sizeof key <= (size_t)length; at++)
        if (!memcmp(text + at, key, sizeof key - 1))
            return text[at + sizeof key - 1] != '0';
    return 0; /* a kernel without filters */
}

static const char *name_of(uint32_t act)
{
    return act < THREAD_ACT ? acts[act].name : late_names[act - THREAD_ACT];
}

static enum yarn_seccomp_probe_part part_of(uint32_t act)
{
    if (act < THREAD_ACT)
        return acts[act].part;
    return act == SIGNAL_ACT ? YARN_SECCOMP_TIMER : YARN_SECCOMP_ALL;
}

static bool is_unshare_refused(const struct stage *stage, const struct yarn_seccomp_probe *probe)
{
    return probe->deadly[YARN_SECCOMP_UNSHARE] || atomic_load(&stage->unshare_result);
}

static bool is_apart(const struct stage *stage, const struct yarn_seccomp_probe *probe)
{
    return atomic_load(&stage->leave_result) && is_unshare_refused(stage, probe);
}

/* ---- in the child, whose memory is a copy ---- */

static uint64_t room[ROOM_BYTES / sizeof(uint64_t)];

static long call(const struct act *act)
{
    long words[5];
    for (size_t i = 0; i < YARN_COUNT_OF(words); i++)
        words[i] = act->words[i] == ROOM ? (long)room : act->words[i];
    memset(room, 0, 64);
    return yarn_raw_call(act->number, words[0], words[1], words[2], words[3], words[4], 0);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    (void)context;
}

static void try_signal(void)
{
    uint64_t none = 0;
    if (yarn_signal_take(on_signal, yarn_signal_handler(), false))
        return;
    yarn_raw_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&none, 0, MASK_BYTES, 0, 0);
    yarn_raw_call(SYS_tgkill, yarn_process_pid(), yarn_process_tid(), YARN_SIGNAL_TICK, 0, 0, 0);
}

static _Noreturn void perform(struct stage *stage, const struct yarn_seccomp_probe *known)
{
    struct rlimit no_core = {CORE_LEAST, CORE_LEAST};
    yarn_raw_call(SYS_prlimit64, 0, RLIMIT_CORE, (long)&no_core, 0, 0, 0);
    for (uint32_t i = 0; i < EXIT_ACT; i++) {
        if (known->deadly[part_of(i)])
            continue;
        atomic_store(&stage->at, i);
        if (i == THREAD_ACT)
            yarn_seccomp_probe_try_thread(yarn_thread_flags(is_apart(stage, known)));
        else if (i == SIGNAL_ACT)
            try_signal();
        else if (acts[i].number == SYS_unshare)
            atomic_store(&stage->unshare_result, (int)call(&acts[i]));
        else if (acts[i].part == YARN_SECCOMP_UNSHARE)
            atomic_store(&stage->leave_result, (int)call(&acts[i]));
        else
            call(&acts[i]);
    }
    atomic_store(&stage->at, EXIT_ACT);
    for (;;) /* its one thread's, and so the process's */
        yarn_raw_call(SYS_exit, 0, 0, 0, 0, 0, 0);
}

/* ---- in the host ---- */

/* The act at which the child ended, or ACT_COUNT; a negative errno where there could be none. The
 * kernel lets the parent go on when it has ended (CLONE_VFORK): there is no call to wait by that
 * would not have to be tried first. Without a signal at its end (0). */
static int perform_in_child(struct stage *stage, const struct yarn_seccomp_probe *known)
{
    atomic_store(&stage->at, 0);
    long pid = yarn_raw_call(SYS_clone, CLONE_VFORK, 0, 0, 0, 0, 0);
    if (pid == 0)
        perform(stage, known);
    if (yarn_raw_is_error(pid))
        return (int)pid;
    uint32_t at = atomic_load(&stage->at);
    int status = 0;
    if (at != 0) /* the first act: to reap it would end the host, too */
        while (yarn_raw_call(SYS_wait4, pid, (long)&status, __WALL, 0, 0, 0) == -EINTR)
            continue;
    return at == EXIT_ACT && WIFEXITED(status) ? ACT_COUNT : (int)at;
}

int yarn_seccomp_probe_run(struct yarn_seccomp_probe *ret_probe)
{
    struct yarn_seccomp_probe probe = {.is_unshare_refused = false};
    if (yarn_valgrind_is_processor())
        return -ENOTSUP;
    struct stage *stage = yarn_pages_map_shared(sizeof *stage);
    if (!stage)
        return -ENOMEM;
    atomic_store(&stage->leave_result, -ENOSYS);
    int at;
    do {
        at = perform_in_child(stage, &probe);
        if (at >= 0 && at < ACT_COUNT)
            probe.deadly[part_of((uint32_t)at)] = name_of((uint32_t)at);
    } while (at >= 0 && at < ACT_COUNT && !probe.deadly[YARN_SECCOMP_LINE] &&
             !probe.deadly[YARN_SECCOMP_ALL]);
    probe.is_unshare_refused = is_unshare_refused(stage, &probe);
    probe.is_apart = is_apart(stage, &probe);
    yarn_pages_release(stage, sizeof *stage);
    if (at < 0)
        return at;
    *ret_probe = probe;
    return 0;
}
