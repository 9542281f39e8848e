/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The second library that the matrix preloads, with and without yarn: writes what a guest could
 * change in a process, once when its program starts and once when it calls exit, as lines of
 * "PROGRAM PHASE NAME VALUE" into the file that COMPAT_STATE names. Knows nothing of yarn.
 *
 * Threads and signals: uses no memory but its own and only system calls, so it can look into any
 * process; a process of which it cannot say anything (no /proc, no descriptor left) is left out.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

struct entry {
    unsigned long inode;
    long offset;
    unsigned short size;
    unsigned char type;
    char name[];
};

struct text {
    char bytes[32768];
    size_t used;
    const char *phase;
};

static char path_of_states[4096];

__attribute__((format(printf, 2, 3))) static void add_line(struct text *text, const char *format,
                                                           ...)
{
    size_t room = sizeof text->bytes - text->used;
    int head = snprintf(text->bytes + text->used, room, "%s %s ", program_invocation_short_name,
                        text->phase);
    if (head < 0 || (size_t)head >= room)
        return;
    va_list values;
    va_start(values, format);
    int body = vsnprintf(text->bytes + text->used + head, room - (size_t)head, format, values);
    va_end(values);
    if (body < 0 || (size_t)head + (size_t)body + 1 >= room)
        return;
    text->used += (size_t)head + (size_t)body;
    text->bytes[text->used++] = '\n';
}

static void add_descriptor(struct text *text, const char *name)
{
    char link[64];
    char target[512];
    snprintf(link, sizeof link, "/proc/self/fd/%s", name);
    ssize_t length = readlink(link, target, sizeof target - 1);
    if (length < 0)
        return;
    target[length] = 0;
    int fd = atoi(name);
    add_line(text, "fd %d %s flags %d %#x", fd, target, fcntl(fd, F_GETFD), fcntl(fd, F_GETFL));
}

static void add_descriptors(struct text *text)
{
    _Alignas(struct entry) char buffer[4096];
    int folder = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return;
    char own[16];
    snprintf(own, sizeof own, "%d", folder);
    for (;;) {
        long size = syscall(SYS_getdents64, folder, buffer, sizeof buffer);
        if (size <= 0)
            break;
        for (long at = 0; at < size;) {
            const struct entry *entry = (const struct entry *)(buffer + at);
            if (entry->name[0] != '.' && strcmp(entry->name, own) != 0)
                add_descriptor(text, entry->name);
            at += entry->size;
        }
    }
    close(folder);
}

static bool is_wanted(const char *line)
{
    static const char *const wanted[] = {
        "Umask:",     "Uid:",     "Gid:",    "SigBlk:", "SigIgn:",    "SigCgt:",
        "NoNewPrivs", "Seccomp:", "CapEff:", "CapBnd:", "Cpus_allow", "THP_enab"};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        if (!strncmp(line, wanted[i], strlen(wanted[i])))
            return true;
    }
    return false;
}

static void add_status(struct text *text)
{
    char status[8192];
    int fd = open("/proc/thread-self/status", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t size = read(fd, status, sizeof status - 1);
    close(fd);
    if (size <= 0)
        return;
    status[size] = 0;
    char *rest = status;
    for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
        if (is_wanted(line))
            add_line(text, "%s", line);
    }
}

static void add_limits(struct text *text)
{
    for (int resource = 0; resource < (int)RLIMIT_NLIMITS; resource++) {
        struct rlimit limit;
        if (!getrlimit((__rlimit_resource_t)resource, &limit))
            add_line(text, "limit %d %lx %lx", resource, limit.rlim_cur, limit.rlim_max);
    }
}

static void add_timers(struct text *text)
{
    for (int which = ITIMER_REAL; which <= ITIMER_PROF; which++) {
        struct itimerval timer;
        if (!getitimer((__itimer_which_t)which, &timer))
            add_line(text, "itimer %d %s", which,
                     timer.it_value.tv_sec || timer.it_value.tv_usec ? "runs" : "off");
    }
}

static void add_attributes(struct text *text)
{
    char folder[4096];
    int death_signal = -1;
    stack_t stack = {.ss_flags = -1};
    sigaltstack(NULL, &stack);
    prctl(PR_GET_PDEATHSIG, &death_signal);
    if (getcwd(folder, sizeof folder))
        add_line(text, "folder %s", folder);
    add_line(text, "nice %d", getpriority(PRIO_PROCESS, 0));
    add_line(text, "policy %ld", syscall(SYS_sched_getscheduler, 0));
    add_line(text, "altstack %d", stack.ss_flags);
    add_line(text, "death signal %d", death_signal);
    add_line(text, "dumpable %d", prctl(PR_GET_DUMPABLE));
    add_line(text, "slack %d", prctl(PR_GET_TIMERSLACK));
    add_line(text, "personality %#x", (unsigned)personality(0xffffffffUL));
}

static void write_state(const char *phase)
{
    int error = errno;
    if (path_of_states[0]) {
        static struct text text;
        text.used = 0;
        text.phase = phase;
        add_descriptors(&text);
        add_status(&text);
        add_limits(&text);
        add_timers(&text);
        add_attributes(&text);
        int fd = open(path_of_states, O_WRONLY | O_APPEND | O_CLOEXEC);
        if (fd >= 0) {
            ssize_t written = write(fd, text.bytes, text.used);
            (void)written;
            close(fd);
        }
    }
    errno = error;
}

__attribute__((constructor)) static void write_start(void)
{
    const char *path = getenv("COMPAT_STATE");
    if (path)
        snprintf(path_of_states, sizeof path_of_states, "%s", path);
    write_state("start");
}

__attribute__((destructor)) static void write_end(void)
{
    write_state("end");
}
