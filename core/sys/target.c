/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sys/target.h"

#include <sys/syscall.h>
#include <sys/uio.h>

#include "core/base/raw.h"
#include "core/base/text.h"
#include "core/sys/file.h"
#include "core/sys/timer.h"

/* Fields of a line of status. */
enum { STATUS_BYTES = 4096, EFFECTIVE = 1, LAST = 64 };

const struct yarn_target yarn_target_self = {.kind = YARN_TARGET_OWN, .proc = "/proc/self"};
const struct yarn_target yarn_target_nobody = {.kind = YARN_TARGET_NONE};

struct yarn_target yarn_target_of(pid_t pid)
{
    struct yarn_target target = {.kind = YARN_TARGET_OTHER, .pid = pid};
    struct yarn_text proc = yarn_text_of(target.proc, sizeof target.proc);
    yarn_text_add_format(&proc, "/proc/%d", pid);
    return target;
}

static bool is_gone(const struct yarn_target *target)
{
    return target->kind == YARN_TARGET_NONE || target->has_ended;
}

/* Why the number is asked for: in a child after fork it is another. */
static long pid_of(const struct yarn_target *target)
{
    return target->kind == YARN_TARGET_OWN ? yarn_raw_call(SYS_getpid, 0, 0, 0, 0, 0, 0)
                                           : target->pid;
}

static ssize_t read_by_call(const struct yarn_target *target, uint64_t address, void *ret_data,
                            size_t size)
{
    struct iovec local = {ret_data, size};
    struct iovec remote = {(void *)(uintptr_t)address, size};
    return yarn_raw_call(SYS_process_vm_readv, pid_of(target), (long)&local, 1, (long)&remote, 1,
                         0);
}

static ssize_t read_by_file(const struct yarn_target *target, uint64_t address, void *ret_data,
                            size_t size)
{
    char bytes[YARN_TARGET_PROC_BYTES + 8];
    struct yarn_text path = yarn_text_of(bytes, sizeof bytes);
    yarn_text_add(&path, target->proc);
    yarn_text_add(&path, "/mem");
    int fd = yarn_file_open(YARN_FILE_CWD, path.data);
    if (fd < 0)
        return fd;
    ssize_t got = yarn_file_read_at(fd, ret_data, size, address);
    yarn_file_close(fd);
    return got;
}

int yarn_target_read(const struct yarn_target *target, uint64_t address, void *ret_data,
                     size_t size)
{
    if (is_gone(target))
        return -ESRCH;
    ssize_t got = read_by_call(target, address, ret_data, size);
    if (got == -EPERM || got == -ENOSYS || got == -EACCES)
        got = read_by_file(target, address, ret_data, size);
    if (got < 0)
        return (int)got;
    return (size_t)got == size ? 0 : -EFAULT;
}

int yarn_target_open_file(const struct yarn_target *target, const char *path)
{
    const struct yarn_root *root = target->root;
    if (!root || root->fd != YARN_FILE_CWD)
        return yarn_file_open_below(root ? root->fd : YARN_FILE_CWD, path);
    int folder = yarn_file_open_folder(YARN_FILE_CWD, root->path);
    if (folder < 0)
        return folder;
    int fd = yarn_file_open_below(folder, path);
    yarn_file_close(folder);
    return fd;
}

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

/* The field of that place in a line behind its key, or the last, where there are fewer. */
static bool read_field(const char *at, const char *end, size_t nth, uint32_t *ret_number)
{
    size_t nr_fields = 0;
    while (at < end && nr_fields <= nth) {
        uint64_t number;
        while (at < end && is_blank(*at))
            at++;
        const char *begin = at;
        while (at < end && !is_blank(*at))
            at++;
        if (at == begin || yarn_parse_u64(begin, (size_t)(at - begin), &number))
            break;
        *ret_number = (uint32_t)number;
        nr_fields++;
    }
    return nr_fields > 0;
}

static bool read_number(const char *text, size_t size, const char *key, size_t nth,
                        uint32_t *ret_number)
{
    const char *end = text + size;
    for (const char *line = text; line < end;) {
        const char *line_end = memchr(line, '\n', (size_t)(end - line));
        line_end = line_end ? line_end : end;
        if ((size_t)(line_end - line) > strlen(key) && !memcmp(line, key, strlen(key)))
            return read_field(line + strlen(key), line_end, nth, ret_number);
        line = line_end + 1;
    }
    return false;
}

bool yarn_target_identity(const struct yarn_target *target, uint32_t *ret_pid, uint32_t *ret_user)
{
    char bytes[YARN_TARGET_PROC_BYTES + 8], status[STATUS_BYTES];
    struct yarn_text path = yarn_text_of(bytes, sizeof bytes);
    if (target->kind != YARN_TARGET_OTHER || target->has_ended)
        return false;
    yarn_text_add_format(&path, "%s/status", target->proc);
    int fd = yarn_file_open(YARN_FILE_CWD, path.data);
    ssize_t size = fd < 0 ? fd : yarn_file_read(fd, status, sizeof status);
    yarn_file_close(fd);
    return size > 0 && read_number(status, (size_t)size, "Uid:", EFFECTIVE, ret_user) &&
           read_number(status, (size_t)size, "NSpid:", LAST, ret_pid);
}

uint64_t yarn_target_cpu_ns(const struct yarn_target *target)
{
    return target->kind == YARN_TARGET_OWN ? yarn_clock_cpu_ns_of_others() : target->cpu_ns;
}

uint64_t yarn_target_ran_ns(const struct yarn_target *target)
{
    uint64_t ran_ns;
    if (target->kind != YARN_TARGET_OTHER || target->has_ended ||
        yarn_timer_process_cpu_ns(target->pid, &ran_ns))
        return yarn_target_cpu_ns(target);
    return ran_ns;
}

struct yarn_ticks yarn_target_ticks(const struct yarn_target *target)
{
    return target->kind == YARN_TARGET_OWN ? yarn_clock_ticks_of_others() : target->ticks;
}

int yarn_target_threads(const struct yarn_target *target, pid_t pid, pid_t *ret_tids, size_t size)
{
    char bytes[YARN_TARGET_PROC_BYTES + 8];
    struct yarn_text path = yarn_text_of(bytes, sizeof bytes);
    if (target->kind == YARN_TARGET_OWN)
        return yarn_process_own_threads(pid, ret_tids, size);
    if (is_gone(target))
        return -ESRCH;
    yarn_text_add_format(&path, "%s/task", target->proc);
    return yarn_process_threads_in(path.data, ret_tids, size);
}

void yarn_target_thread_name(const struct yarn_target *target, pid_t tid, char *ret_name,
                             size_t size)
{
    if (target->has_ended)
        ret_name[0] = 0;
    else
        yarn_process_thread_name_in(target->proc, tid, ret_name, size);
}

bool yarn_target_thread_schedstat(const struct yarn_target *target, pid_t tid,
                                  struct yarn_thread_schedstat *ret_stat)
{
    return !target->has_ended && yarn_process_thread_schedstat_in(target->proc, tid, ret_stat);
}

bool yarn_target_thread_is_awake(const struct yarn_target *target, pid_t tid)
{
    return !target->has_ended && yarn_process_thread_is_awake_in(target->proc, tid);
}

bool yarn_target_has_thread(const struct yarn_target *target, pid_t pid, pid_t tid)
{
    return !is_gone(target) && yarn_process_has_thread(pid, tid);
}

/* A leader that has ended waits for the others. */
bool yarn_target_thread_is_alive(const struct yarn_target *target, pid_t pid, pid_t tid,
                                 uint64_t *ret_cpu_ns)
{
    struct yarn_thread_schedstat stat;
    if (target->kind == YARN_TARGET_OWN)
        return !yarn_timer_thread_cpu_ns(tid, ret_cpu_ns) &&
               (tid != pid || !yarn_process_thread_is_dead(tid));
    bool is_alive = yarn_target_thread_schedstat(target, tid, &stat);
    if (is_alive)
        *ret_cpu_ns = stat.run_ns;
    return is_alive;
}

ssize_t yarn_target_copy_own(pid_t pid, uint64_t address, void *ret_first, size_t first_bytes,
                             void *ret_second, size_t second_bytes)
{
    struct iovec local[] = {{ret_first, first_bytes}, {ret_second, second_bytes}};
    struct iovec remote = {(void *)(uintptr_t)address, first_bytes + second_bytes};
    return yarn_raw_call(SYS_process_vm_readv, pid, (long)local, second_bytes ? 2 : 1,
                         (long)&remote, 1, 0);
}
