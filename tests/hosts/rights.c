/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `rights WAY [FOLDER] [MS]`: a host that gives up its root, a namespace or its ids, and then looks
 * for a task of its own that has kept some: another root, working folder or namespace, an open
 * folder (which leads up and out), other ids or capabilities. Prints each; as plain, none. A
 * debugger stops the reader for so many ms, just before. For root.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/hosts/hinder.h"
#include "tests/hosts/work.h"

enum {
    NOBODY = 60003,
    STACK_BYTES = 64 * 1024,
    CHILDREN = 10,
    GROUPS = 300,
    THREADS = 40,
    SWINGS = 10,
    LEAPS = 12,
    LEAP_US = 150,
    TURNS = 100,
};

/* Opened before anything is given up: a root without /proc would hide what there is. */
static int tasks;
/* In the old root the reader may list /proc for a moment, which leads nowhere else. */
static bool has_left_root;

/* Also of a task that has ended meanwhile. */
static bool same_file(const char *task, const char *name)
{
    char other[64], own[64];
    struct stat a, b;
    snprintf(other, sizeof other, "%s/%s", task, name);
    snprintf(own, sizeof own, "%d/%s", getpid(), name);
    if (fstatat(tasks, other, &a, 0))
        return errno == ENOENT || errno == ESRCH;
    return !fstatat(tasks, own, &b, 0) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static void look_at_places(const char *task)
{
    static const char *const names[] = {"root",   "cwd",    "ns/mnt",    "ns/net",
                                        "ns/ipc", "ns/uts", "ns/cgroup", "ns/user"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!same_file(task, names[i]))
            printf("a task has another %s\n", names[i]);
}

static void look_at_files(const char *task)
{
    char name[64], path[400];
    struct stat info;
    snprintf(name, sizeof name, "%s/fd", task);
    int fd = openat(tasks, name, O_RDONLY | O_DIRECTORY);
    DIR *files = fd < 0 ? NULL : fdopendir(fd);
    if (!files)
        return;
    for (struct dirent *entry = readdir(files); entry; entry = readdir(files)) {
        snprintf(path, sizeof path, "%s/%s", name, entry->d_name);
        if (entry->d_name[0] != '.' && !fstatat(tasks, path, &info, 0) && S_ISDIR(info.st_mode))
            printf("a task has a folder open\n");
    }
    closedir(files);
}

static void read_rights(const char *task, char *ret_text, size_t size)
{
    char name[64], status[8192];
    snprintf(name, sizeof name, "%s/status", task);
    int fd = openat(tasks, name, O_RDONLY);
    ssize_t length = fd < 0 ? 0 : read(fd, status, sizeof status - 1);
    close(fd);
    status[length > 0 ? length : 0] = 0;
    *ret_text = 0;
    for (char *line = strtok(status, "\n"); line; line = strtok(NULL, "\n"))
        if (!strncmp(line, "Uid", 3) || !strncmp(line, "Gid", 3) || !strncmp(line, "Groups", 6) ||
            !strncmp(line, "CapPrm", 6) || !strncmp(line, "CapEff", 6) ||
            !strncmp(line, "CapBnd", 6) || !strncmp(line, "NoNewPrivs", 10))
            strncat(ret_text, line, size - strlen(ret_text) - 1);
}

/* Of the bounding set and of what an exec may bring a task may have less. */
static bool has_more(const char *own, const char *other)
{
    static const char bounds[] = "CapBnd:";
    uint64_t own_bounds = strtoull(strstr(own, bounds) + sizeof bounds, NULL, 16);
    uint64_t other_bounds = strtoull(strstr(other, bounds) + sizeof bounds, NULL, 16);
    bool may_gain = strstr(own, "NoNewPrivs:\t1") && !strstr(other, "NoNewPrivs:\t1");
    return other_bounds & ~own_bounds || may_gain;
}

/* What can be taken back at any time may be kept for a while: all that the permitted capabilities
 * are enough for. */
static bool can_take_back;
static int nr_different;

static void look_at_rights(const char *task)
{
    char own_name[16], own[4096], other[4096];
    snprintf(own_name, sizeof own_name, "%d", getpid());
    read_rights(own_name, own, sizeof own);
    read_rights(task, other, sizeof other);
    if (!*other)
        return; /* gone meanwhile */
    const char *own_from = can_take_back ? strstr(own, "CapPrm") : own;
    const char *other_from = can_take_back ? strstr(other, "CapPrm") : other;
    size_t same = (size_t)(strstr(own, can_take_back ? "CapEff" : "CapBnd") - own_from);
    nr_different += strncmp(own, other, (size_t)(strstr(own, "CapBnd") - own)) != 0;
    if (has_more(own, other) || strncmp(own_from, other_from, same) != 0)
        printf("a task has other rights: %s\ninstead of %s\n", other, own);
}

static void look(void)
{
    int fd = openat(tasks, ".", O_RDONLY | O_DIRECTORY);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    if (!folder)
        return;
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        if (entry->d_name[0] == '.' || atoi(entry->d_name) == getpid())
            continue;
        look_at_places(entry->d_name);
        if (has_left_root)
            look_at_files(entry->d_name);
        look_at_rights(entry->d_name);
    }
    closedir(folder);
}

static int by_pivot(const char *folder)
{
    if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount(folder, folder, NULL, MS_BIND, NULL) || chdir(folder))
        return -1;
    look();
    if (syscall(SYS_pivot_root, ".", "."))
        return -1;
    return umount2(".", MNT_DETACH) || chdir("/");
}

static int jail(void *folder)
{
    return chroot(folder) || chdir("/");
}

/* As Chromium's sandbox does: a child with our root changes it for us. */
static int by_helper(char *folder)
{
    static _Alignas(16) char stack[STACK_BYTES];
    int status;
    pid_t child =
        clone(jail, stack + sizeof stack, CLONE_FS | CLONE_VM | CLONE_VFORK | SIGCHLD, folder);
    return child < 0 || waitpid(child, &status, 0) != child || status;
}

static int by_setns(void)
{
    char path[64];
    int fds[2];
    char byte;
    if (pipe(fds))
        return -1;
    pid_t child = fork();
    if (!child) {
        byte = unshare(CLONE_NEWNS) != 0;
        if (write(fds[1], &byte, 1) == 1)
            pause();
        _exit(0);
    }
    if (read(fds[0], &byte, 1) != 1)
        return -1;
    snprintf(path, sizeof path, "/proc/%d/ns/mnt", child);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int failed = setns(fd, CLONE_NEWNS);
    close(fd);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return failed || byte;
}

static int by_raw_ids(void)
{
    return syscall(SYS_setgroups, 0, NULL) || syscall(SYS_setresgid, NOBODY, NOBODY, NOBODY) ||
           syscall(SYS_setresuid, NOBODY, NOBODY, NOBODY);
}

/* Not at once, but when it has had a turn every task has what could be taken back. */
static int by_turns(void)
{
    can_take_back = true;
    for (int i = 0; i < TURNS; i++) {
        nr_different = 0;
        look();
        if (!nr_different || yarn_host_work(4, 1, 3) == 0)
            break;
    }
    can_take_back = false;
    return nr_different;
}

static int by_ids(void)
{
    gid_t group = NOBODY;
    if (setgroups(0, NULL) || setegid(NOBODY) || seteuid(NOBODY) || by_turns())
        return -1;
    return seteuid(0) || setgroups(1, &group) || setgid(NOBODY) || setuid(NOBODY);
}

/* All but the last child are gone at once. */
static int by_children(void)
{
    int status, failed = 0;
    for (int i = 0; i < CHILDREN; i++) {
        pid_t child = fork();
        if (child == 0 && by_raw_ids())
            _exit(1);
        if (child == 0)
            _exit(i == CHILDREN - 1 && yarn_host_work(8, 1, 3) == 0);
        failed |= waitpid(child, &status, 0) != child || status;
    }
    return failed;
}

static void *swing(void *barrier)
{
    pthread_barrier_wait(barrier);
    for (int i = 0; i < SWINGS; i++)
        if (syscall(SYS_setresgid, -1, NOBODY, -1) || syscall(SYS_setresgid, -1, 0, -1))
            return barrier;
    return NULL;
}

/* Many threads change theirs at once. */
static int by_threads(void)
{
    pthread_t threads[THREADS];
    pthread_barrier_t barrier;
    int failed = pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS && !failed; i++)
        failed = pthread_create(&threads[i], NULL, swing, &barrier);
    for (int i = 0; i < THREADS && !failed; i++) {
        void *result;
        failed = pthread_join(threads[i], &result) || result;
    }
    return failed || by_ids();
}

static void leave_again(int number)
{
    (void)number;
    if (unshare(CLONE_NEWUTS))
        printf("failed in a handler\n");
}

/* A handler enters a namespace while its thread does, at about each moment of that. */
static int by_handler(void)
{
    struct sigaction action = {.sa_handler = leave_again, .sa_flags = SA_RESTART};
    int failed = sigaction(SIGALRM, &action, NULL);
    for (int i = 1; i <= LEAPS && !failed; i++) {
        struct itimerval once = {.it_value = {.tv_usec = LEAP_US * i}};
        failed = setitimer(ITIMER_REAL, &once, NULL) || unshare(CLONE_NEWUTS);
    }
    return failed;
}

/* Of a user with more groups than there is room for. */
static int by_groups(void)
{
    gid_t groups[GROUPS];
    for (gid_t i = 0; i < GROUPS; i++)
        groups[i] = 1000 + i;
    return setgroups(GROUPS, groups) || setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY);
}

/* What only an exec could use. */
static int by_bounds(void)
{
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_CAPBSET_DROP, 1, 0, 0, 0) ||
           syscall(SYS_prctl, PR_CAPBSET_DROP, 2, 0, 0, 0);
}

/* The working folder is a mount of its own. */
static int by_umount(void)
{
    char folder[4096];
    return !getcwd(folder, sizeof folder) || chdir("/") || umount(folder);
}

/* Under `chrt -f`: how many tasks run ahead of everybody. */
static int count_real_time(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/task");
    for (struct dirent *entry = folder ? readdir(folder) : NULL; entry; entry = readdir(folder))
        if (entry->d_name[0] != '.')
            count += (sched_getscheduler(atoi(entry->d_name)) & ~SCHED_RESET_ON_FORK) == SCHED_FIFO;
    closedir(folder);
    printf("%d in real time\n", count);
    return 0;
}

static int give_up(const char *way, char *folder)
{
    if (!strcmp(way, "chroot"))
        return jail(folder);
    if (!strcmp(way, "chroot-raw"))
        return syscall(SYS_chroot, folder) || chdir("/");
    if (!strcmp(way, "pivot"))
        return by_pivot(folder);
    if (!strcmp(way, "helper"))
        return by_helper(folder);
    if (!strcmp(way, "fs"))
        return unshare(CLONE_FS) || jail(folder);
    if (!strcmp(way, "namespaces"))
        return unshare(CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS) || jail(folder);
    if (!strcmp(way, "setns"))
        return by_setns();
    if (!strcmp(way, "ids"))
        return by_ids();
    if (!strcmp(way, "threads"))
        return by_threads();
    if (!strcmp(way, "handler"))
        return by_handler();
    if (!strcmp(way, "raw-ids"))
        return by_raw_ids();
    if (!strcmp(way, "groups"))
        return by_groups();
    if (!strcmp(way, "bounds"))
        return by_bounds();
    if (!strcmp(way, "chdir"))
        return chdir("/");
    if (!strcmp(way, "children"))
        return by_children();
    if (!strcmp(way, "leave"))
        exit(by_raw_ids() != 0);
    if (!strcmp(way, "exec"))
        return setreuid(NOBODY, 0) || execl(folder, folder, (char *)NULL);
    if (!strcmp(way, "umount"))
        return by_umount();
    return strcmp(way, "real-time") ? -1 : count_real_time();
}

int main(int argc, char **argv)
{
    uint64_t result = 0;
    if (argc < 2)
        return 2;
    tasks = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (argc > 3 && !yarn_hinder_reader(atoi(argv[3])))
        return 77;
    int failed = give_up(argv[1], argc > 2 ? argv[2] : NULL);
    struct stat proc;
    has_left_root = stat("/proc/self", &proc) != 0;
    printf("failed: %d%s\n", failed, has_left_root ? ", in another root" : "");
    for (int i = 0; i < 3; i++) {
        look();
        result += yarn_host_work(4, 1, 3);
    }
    printf("%llu\n", (unsigned long long)result);
    return 0;
}
