/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/outside/tasks.h"

#include <dirent.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "output/base/array.h"

static int parse(struct yarn_tasks *tasks, const char *list)
{
    for (const char *at = list;; at++) {
        char *end;
        errno = 0;
        long pid = strtol(at, &end, 10);
        if (end == at || errno || pid <= 0 || pid > INT32_MAX || (*end && *end != ','))
            return -EINVAL;
        if (tasks->nr_named == YARN_TASKS_NAMED_MAX)
            return -ENOSPC;
        tasks->named[tasks->nr_named].pid = (pid_t)pid;
        tasks->named[tasks->nr_named++].fd = -1;
        if (!*end)
            return 0;
        at = end;
    }
}

/* From the state on, which stands behind the name: that may hold anything but ends with the last
 * parenthesis. Empty where there is none. */
static const char *read_state(pid_t pid, char *stat, size_t size)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "re");
    size_t got = file ? fread(stat, 1, size - 1, file) : 0;
    if (file)
        (void)fclose(file);
    stat[got] = 0;
    const char *name_end = strrchr(stat, ')');
    return name_end && strlen(name_end) > 4 ? name_end + 2 : "";
}

static pid_t parent_of(pid_t pid)
{
    char stat[512];
    const char *state = read_state(pid, stat, sizeof stat);
    return state[0] ? (pid_t)strtol(state + 2, NULL, 10) : 0;
}

/* A user who may not look into a process sees neither its program nor, with hidepid, its folder. */
static int check_program(pid_t pid)
{
    char path[64], program[1], stat[512];
    (void)snprintf(path, sizeof path, "/proc/%d/exe", pid);
    if (readlink(path, program, sizeof program) >= 0)
        return 0;
    if (errno != ENOENT)
        return -errno;
    (void)snprintf(path, sizeof path, "/proc/%d", pid);
    if (access(path, F_OK))
        return -EACCES;
    return read_state(pid, stat, sizeof stat)[0] == 'Z' ? -ENODATA : -ENOEXEC;
}

static bool is_alive(int fd)
{
    struct pollfd end = {.fd = fd, .events = POLLIN};
    return poll(&end, 1, 0) == 0;
}

/* Why not -EINVAL: that is what earlier kernels say of a thread. */
static int open_named(pid_t pid, int *ret_fd)
{
    *ret_fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (*ret_fd < 0)
        return errno == EINVAL ? -ENOENT : -errno;
    int err = check_program(pid);
    return err && is_alive(*ret_fd) ? err : 0;
}

int yarn_tasks_open(struct yarn_tasks *tasks, const char *list, bool has_tree, pid_t *ret_pid)
{
    *tasks = (struct yarn_tasks){.has_tree = has_tree, .has_all = !list};
    int err = list ? parse(tasks, list) : 0;
    for (size_t i = 0; !err && i < tasks->nr_named; i++) {
        *ret_pid = tasks->named[i].pid;
        err = open_named(tasks->named[i].pid, &tasks->named[i].fd);
    }
    return err;
}

bool yarn_tasks_are_alive(const struct yarn_tasks *tasks)
{
    for (size_t i = 0; i < tasks->nr_named; i++)
        if (is_alive(tasks->named[i].fd))
            return true;
    return false;
}

static bool has(const struct yarn_tasks *tasks, pid_t pid)
{
    for (size_t i = 0; i < tasks->count; i++)
        if (tasks->pids[i] == pid)
            return true;
    return false;
}

static int add(struct yarn_tasks *tasks, pid_t pid)
{
    if (pid == getpid() || has(tasks, pid))
        return 0;
    return YARN_ARRAY_PUT(&tasks->pids, &tasks->count, &tasks->capacity, &pid);
}

struct relation {
    pid_t pid, parent;
};

/* Of all processes; *ret_relations is to be freed. */
static int read_relations(struct relation **ret_relations, size_t *ret_count)
{
    struct relation *relations = NULL;
    size_t count = 0, capacity = 0;
    DIR *folder = opendir("/proc");
    if (!folder)
        return -errno;
    for (struct dirent *entry; (entry = readdir(folder));) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (pid <= 0)
            continue;
        struct relation relation = {pid, parent_of(pid)};
        if (YARN_ARRAY_PUT(&relations, &count, &capacity, &relation)) {
            free(relations);
            (void)closedir(folder);
            return -ENOMEM;
        }
    }
    (void)closedir(folder);
    *ret_relations = relations;
    *ret_count = count;
    return 0;
}

/* All, or descendants until no more are found: a child may stand before its parent. */
static int add_others(struct yarn_tasks *tasks)
{
    struct relation *relations = NULL;
    size_t count = 0, before;
    int err = read_relations(&relations, &count);
    if (err)
        return err;
    do {
        before = tasks->count;
        for (size_t i = 0; !err && i < count; i++)
            if (tasks->has_all || has(tasks, relations[i].parent))
                err = add(tasks, relations[i].pid);
    } while (!err && tasks->count > before);
    free(relations);
    return err;
}

int yarn_tasks_list(struct yarn_tasks *tasks)
{
    int err = 0;
    tasks->count = 0;
    for (size_t i = 0; !err && i < tasks->nr_named; i++)
        if (is_alive(tasks->named[i].fd))
            err = add(tasks, tasks->named[i].pid);
    return err || !(tasks->has_tree || tasks->has_all) ? err : add_others(tasks);
}

void yarn_tasks_close(struct yarn_tasks *tasks)
{
    while (tasks->nr_named--)
        if (tasks->named[tasks->nr_named].fd >= 0)
            (void)close(tasks->named[tasks->nr_named].fd);
    tasks->nr_named = 0;
    free(tasks->pids);
    tasks->pids = NULL;
    tasks->count = tasks->capacity = 0;
}
