/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sys/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#include "core/base/raw.h"
#include "core/base/text.h"
#include "core/sys/file.h"

pid_t yarn_process_pid(void)
{
    return (pid_t)yarn_raw_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

pid_t yarn_process_parent(void)
{
    return (pid_t)yarn_raw_call(SYS_getppid, 0, 0, 0, 0, 0, 0);
}

pid_t yarn_process_tid(void)
{
    return (pid_t)yarn_raw_call(SYS_gettid, 0, 0, 0, 0, 0, 0);
}

/* The link's text is "pid:[4026531836]". */
uint64_t yarn_process_pid_namespace(void)
{
    char link[64];
    uint64_t number = 0;
    ssize_t size = yarn_file_read_link(YARN_FILE_CWD, "/proc/self/ns/pid", link, sizeof link);
    for (ssize_t i = 0; i < size; i++)
        if (link[i] >= '0' && link[i] <= '9')
            number = number * 10 + (uint64_t)(link[i] - '0');
    return number;
}

bool yarn_process_is_in_first_namespace(void)
{
    return yarn_process_pid_namespace() == UINT64_C(0xEFFFFFFC); /* PROC_PID_INIT_INO */
}

uint32_t yarn_process_cpu(void)
{
    uint32_t cpu = 0;
    yarn_raw_call(SYS_getcpu, (long)&cpu, 0, 0, 0, 0, 0);
    return cpu;
}

uint32_t yarn_process_user(void)
{
    return (uint32_t)yarn_raw_call(SYS_geteuid, 0, 0, 0, 0, 0, 0);
}

void yarn_process_system_names(struct yarn_system_names *ret_names)
{
    struct utsname names = {0};
    yarn_raw_call(SYS_uname, (long)&names, 0, 0, 0, 0, 0);
    memcpy(ret_names->node, names.nodename, sizeof ret_names->node);
    memcpy(ret_names->release, names.release, sizeof ret_names->release);
    memcpy(ret_names->machine, names.machine, sizeof ret_names->machine);
}

size_t yarn_process_parse_cpus(struct yarn_span list, int *ret_cpus, size_t size)
{
    size_t count = 0;
    const char *text = (const char *)list.data;
    for (size_t at = 0; at < list.size;) {
        uint64_t bound[2] = {0, 0};
        int given = 0;
        for (; given < 2; given++) {
            size_t digits = at;
            while (digits < list.size && text[digits] >= '0' && text[digits] <= '9')
                digits++;
            if (yarn_parse_u64(text + at, digits - at, &bound[given]))
                return count;
            at = digits;
            if (given == 0 && (at >= list.size || text[at] != '-'))
                break;
            at += given == 0;
        }
        uint64_t last = given ? bound[1] : bound[0];
        for (uint64_t cpu = bound[0]; cpu <= last && cpu <= INT_MAX && count < size; cpu++)
            ret_cpus[count++] = (int)cpu;
        if (at >= list.size || text[at] != ',')
            break;
        at++;
    }
    return count;
}

/* Of /proc/loadavg: "0.26 2.19 4.77 3/123 4567" are 3. */
uint64_t yarn_process_nr_runnable(void)
{
    char text[128];
    uint64_t count = 0;
    int fd = yarn_file_open(YARN_FILE_CWD, "/proc/loadavg");
    ssize_t length = fd < 0 ? fd : yarn_file_read(fd, text, sizeof text);
    if (fd >= 0)
        yarn_file_close(fd);
    for (ssize_t at = 0; at < length && text[at] != '/'; at++)
        count = text[at] >= '0' && text[at] <= '9' ? count * 10 + (uint64_t)(text[at] - '0') : 0;
    return count;
}

static size_t read_cpus(const char *path, int *ret_cpus, size_t size)
{
    char text[4096];
    int fd = yarn_file_open(YARN_FILE_CWD, path);
    if (fd < 0)
        return 0;
    ssize_t length = yarn_file_read(fd, text, sizeof text);
    yarn_file_close(fd);
    if (length <= 0)
        return 0;
    return yarn_process_parse_cpus(yarn_span_of(text, (size_t)length), ret_cpus, size);
}

/* Where sysfs is unavailable: the cores that this thread may run on. */
static size_t allowed_cpus(int *ret_cpus, size_t size)
{
    uint64_t mask[64] = {0};
    size_t count = 0;
    long bytes = yarn_raw_call(SYS_sched_getaffinity, 0, sizeof mask, (long)mask, 0, 0, 0);
    for (size_t cpu = 0; bytes > 0 && cpu < (size_t)bytes * 8 && count < size; cpu++)
        if (mask[cpu / 64] >> (cpu % 64) & 1)
            ret_cpus[count++] = (int)cpu;
    return count;
}

size_t yarn_process_online_cpus(int *ret_cpus, size_t size)
{
    size_t count = read_cpus("/sys/devices/system/cpu/online", ret_cpus, size);
    return count ? count : allowed_cpus(ret_cpus, size);
}

size_t yarn_process_present_cpus(int *ret_cpus, size_t size)
{
    size_t count = read_cpus("/sys/devices/system/cpu/present", ret_cpus, size);
    return count ? count : allowed_cpus(ret_cpus, size);
}

/* By name at each use: a folder that is kept open is a way out of a root that the host has left. */
static const char own_proc[] = "/proc/self", tasks[] = "/proc/self/task";

enum {
    STAT_BYTES = 1024,
    STATUS_BYTES = 4096,
    STAT_FIRST_FIELD = 3,
    STAT_PARENT_FIELD = 4,
    STAT_THREADS_FIELD = 20,
    STAT_BIRTH_FIELD = 22,
    STAT_EXIT_CODE_FIELD = 52
};

/* Of USER_HZ, which is 100 on every machine that yarn knows. */
#define TICK_NS (10 * YARN_NS_PER_MS)

struct linux_dirent64 {
    uint64_t ino;
    int64_t off;
    uint16_t reclen;
    uint8_t type;
    char name[];
};

static int threads_of_block(struct yarn_span block, pid_t *ret_tids, size_t size, int count)
{
    for (size_t at = 0; at < block.size;) {
        const struct linux_dirent64 *entry = (const void *)(block.data + at);
        uint64_t tid;
        if (entry->reclen == 0)
            break;
        at += entry->reclen;
        if (yarn_parse_u64(entry->name, strlen(entry->name), &tid))
            continue;
        if ((size_t)count < size)
            ret_tids[count] = (pid_t)tid;
        count++;
    }
    return count;
}

uint64_t yarn_process_limit(int resource)
{
    uint64_t limits[2]; /* the soft and the hard one */
    long result = yarn_raw_call(SYS_prlimit64, 0, resource, 0, (long)limits, 0, 0);
    return yarn_raw_is_error(result) ? UINT64_MAX : limits[0];
}

bool yarn_process_has_spare_files(size_t count)
{
    int lowest_free = yarn_file_open_folder(YARN_FILE_CWD, "/"); /* there is one in any root */
    yarn_file_close(lowest_free);
    return lowest_free >= 0 && (uint64_t)lowest_free + count <= yarn_process_limit(RLIMIT_NOFILE);
}

static long exchange_file_limit(const struct yarn_file_limit *set, struct yarn_file_limit *ret_old)
{
    return yarn_raw_call(SYS_prlimit64, 0, RLIMIT_NOFILE, (long)set, (long)ret_old, 0, 0);
}

bool yarn_process_raise_files(struct yarn_file_limit *ret_before)
{
    if (yarn_raw_is_error(exchange_file_limit(NULL, ret_before)) ||
        ret_before->soft >= ret_before->hard)
        return false;
    struct yarn_file_limit raised = {.soft = ret_before->hard, .hard = ret_before->hard};
    return !yarn_raw_is_error(exchange_file_limit(&raised, NULL));
}

void yarn_process_restore_files(const struct yarn_file_limit *before)
{
    struct yarn_file_limit now;
    if (!yarn_raw_is_error(exchange_file_limit(NULL, &now)) && now.soft == before->hard &&
        now.hard == before->hard)
        exchange_file_limit(before, NULL);
}

static int list_threads(int folder, pid_t *ret_tids, size_t size)
{
    alignas(8) uint8_t block[4096];
    int count = 0;
    for (;;) {
        long result = yarn_raw_call(SYS_getdents64, folder, (long)block, sizeof block, 0, 0, 0);
        if (yarn_raw_is_error(result))
            return (int)result;
        if (result == 0)
            return count;
        count = threads_of_block(yarn_span_of(block, (size_t)result), ret_tids, size, count);
    }
}

int yarn_process_threads(pid_t *ret_tids, size_t size)
{
    return yarn_process_threads_in(tasks, ret_tids, size);
}

int yarn_process_threads_in(const char *path, pid_t *ret_tids, size_t size)
{
    int folder = yarn_process_open_folder(YARN_FILE_CWD, path);
    if (folder < 0)
        return folder;
    int count = list_threads(folder, ret_tids, size);
    yarn_file_close(folder);
    return count;
}

int yarn_process_own_threads(pid_t pid, pid_t *ret_tids, size_t size)
{
    pid_t own = yarn_process_tid();
    int count = yarn_process_threads(ret_tids, size);
    for (int i = 0; i < count; i++)
        if ((size_t)i == size || ret_tids[i] == own)
            return count;
    if (count < 0)
        return count;
    if (size)
        ret_tids[0] = pid;
    return 1;
}

int yarn_process_own_threads_again(pid_t pid, pid_t *ret_tids, size_t size, size_t *nr_listed)
{
    int count = yarn_process_own_threads(pid, ret_tids, size);
    if (count < 0 && *nr_listed) {
        count = 0;
        for (size_t i = 0; i < *nr_listed; i++)
            if (yarn_process_has_thread(pid, ret_tids[i]))
                ret_tids[count++] = ret_tids[i];
    }
    *nr_listed = count < 0 ? 0 : yarn_size_min((size_t)count, size);
    return count;
}

/* Reads a file of the thread's: the length or a negative errno. The text is terminated. */
static ssize_t read_thread_file(const char *proc, pid_t tid, const char *name, char *ret_text,
                                size_t size)
{
    char path[64];
    struct yarn_text text = yarn_text_of(path, sizeof path);
    yarn_text_add_format(&text, "%s/task/%d%s", proc, tid, name);
    ret_text[0] = 0;
    int fd = yarn_file_open(YARN_FILE_CWD, path);
    if (fd < 0)
        return fd;
    ssize_t length = yarn_file_read(fd, ret_text, size - 1);
    yarn_file_close(fd);
    if (length >= 0)
        ret_text[length] = 0;
    return length;
}

/* The rest of a stat file from the state on (proc(5): field 3). */
static int find_state(char *text, ssize_t length, const char **ret_state)
{
    if (length < 0)
        return (int)length;
    /* The name between the parentheses may itself hold some: the state follows the last one. */
    while (length && text[length - 1] != ')')
        length--;
    if (!length || !text[length])
        return -EBADMSG;
    *ret_state = text + length + 1;
    return 0;
}

/* The folder has a link for each, and two of its own. */
int yarn_process_nr_threads(void)
{
    struct stat info;
    long result = yarn_raw_call(SYS_newfstatat, AT_FDCWD, (long)tasks, (long)&info,
                                AT_SYMLINK_NOFOLLOW, 0, 0);
    return yarn_raw_is_error(result) ? (int)result : (int)info.st_nlink - 2;
}

int yarn_process_namespace_kind(int fd)
{
    return (int)yarn_raw_call(SYS_ioctl, fd, NS_GET_NSTYPE, 0, 0, 0, 0);
}

bool yarn_process_has_thread(pid_t pid, pid_t tid)
{
    return yarn_raw_call(SYS_tgkill, pid, tid, 0, 0, 0, 0) != -ESRCH;
}

bool yarn_process_thread_is_dead(pid_t tid)
{
    char stat[STAT_BYTES];
    const char *state = "";
    int err = find_state(stat, read_thread_file(own_proc, tid, "/stat", stat, sizeof stat), &state);
    if (err == -ENOENT) /* a root without /proc has no such file either */
        return !yarn_process_has_thread(yarn_process_pid(), tid);
    return err ? err == -ESRCH : *state == 'Z' || *state == 'X';
}

bool yarn_process_thread_is_awake_in(const char *proc, pid_t tid)
{
    char stat[STAT_BYTES];
    const char *state = "";
    return !find_state(stat, read_thread_file(proc, tid, "/stat", stat, sizeof stat), &state) &&
           *state == 'R';
}

/* A field of what find_state gave; 0 where there is none. */
static uint64_t field_of(const char *at, int wanted)
{
    uint64_t value;
    for (int field = STAT_FIRST_FIELD; field < wanted && *at; at++)
        field += *at == ' ';
    size_t digits = strspn(at, "0123456789");
    return yarn_parse_u64(at, digits, &value) ? 0 : value;
}

int yarn_process_open_own_stat(void)
{
    return yarn_file_open(YARN_FILE_CWD, "/proc/self/stat");
}

int yarn_process_read_leader(int own_stat, struct yarn_process_leader *ret_leader)
{
    char stat[STAT_BYTES];
    const char *state = "";
    int fd = own_stat < 0 ? yarn_process_open_own_stat() : own_stat;
    ssize_t length = fd < 0 ? fd : yarn_file_read_at(fd, stat, sizeof stat - 1, 0);
    if (own_stat < 0 && fd >= 0)
        yarn_file_close(fd);
    stat[length < 0 ? 0 : length] = 0;
    int err = find_state(stat, length, &state);
    if (err)
        return err;
    uint64_t code = field_of(state, STAT_EXIT_CODE_FIELD);
    *ret_leader = (struct yarn_process_leader){
        .is_dead = *state == 'Z' || *state == 'X',
        .nr_threads = (int)field_of(state, STAT_THREADS_FIELD),
        .exit_status = (int)(code >> 8 & 0xff),
        .exit_signal = (int)(code & 0x7f),
    };
    return 0;
}

/* Of any process, which is its first thread; 0 where it is unavailable. */
static uint64_t read_process_field(pid_t pid, int field)
{
    char stat[STAT_BYTES], proc[32];
    const char *state = "";
    struct yarn_text text = yarn_text_of(proc, sizeof proc);
    yarn_text_add_format(&text, "/proc/%d", pid);
    int err = find_state(stat, read_thread_file(proc, pid, "/stat", stat, sizeof stat), &state);
    return err ? 0 : field_of(state, field);
}

pid_t yarn_process_parent_of(pid_t pid)
{
    return (pid_t)read_process_field(pid, STAT_PARENT_FIELD);
}

uint64_t yarn_process_birth_ns(pid_t pid)
{
    return read_process_field(pid, STAT_BIRTH_FIELD) * TICK_NS;
}

static uint64_t parse_mask(const char *text)
{
    uint64_t mask = 0;
    for (; *text && *text != '\n'; text++) {
        unsigned digit = *text >= '0' && *text <= '9'   ? (unsigned)(*text - '0')
                         : *text >= 'a' && *text <= 'f' ? (unsigned)(*text - 'a') + 10
                                                        : 16;
        if (digit < 16)
            mask = mask << 4 | digit;
    }
    return mask;
}

/* A hexadecimal line of the thread's status; 0 where it is unavailable. */
static uint64_t read_status_mask(pid_t tid, const char *key)
{
    char status[STATUS_BYTES];
    size_t key_length = strlen(key);
    ssize_t length = read_thread_file(own_proc, tid, "/status", status, sizeof status);
    for (ssize_t at = 0; at < length; at++)
        if (status[at] == '\n' && !strncmp(status + at + 1, key, key_length))
            return parse_mask(status + at + 1 + key_length);
    return 0;
}

uint64_t yarn_process_blocked_signals(pid_t tid)
{
    return read_status_mask(tid, "SigBlk:");
}

uint64_t yarn_process_pending_signals(pid_t tid)
{
    return read_status_mask(tid, "SigPnd:");
}

bool yarn_process_thread_is_traced(pid_t tid)
{
    /* Decimal, but only 0 counts. */
    return read_status_mask(tid, "TracerPid:") != 0;
}

void yarn_process_thread_name(pid_t tid, char *ret_name, size_t size)
{
    yarn_process_thread_name_in(own_proc, tid, ret_name, size);
}

void yarn_process_thread_name_in(const char *proc, pid_t tid, char *ret_name, size_t size)
{
    ssize_t length = read_thread_file(proc, tid, "/comm", ret_name, size);
    if (length > 0 && ret_name[length - 1] == '\n')
        ret_name[length - 1] = 0;
}

bool yarn_process_thread_schedstat_in(const char *proc, pid_t tid,
                                      struct yarn_thread_schedstat *ret_stat)
{
    char text[96];
    uint64_t *const fields[] = {&ret_stat->run_ns, &ret_stat->wait_ns, &ret_stat->nr_runs};
    ssize_t length = read_thread_file(proc, tid, "/schedstat", text, sizeof text);
    const char *at = text;
    for (size_t i = 0; i < YARN_COUNT_OF(fields); i++) {
        size_t size = strcspn(at, " \n");
        if (length <= 0 || yarn_parse_u64(at, size, fields[i]))
            return false;
        at += size + (at[size] != 0);
    }
    return true;
}

uint64_t yarn_process_nr_switches(void)
{
    struct rusage usage = {.ru_nvcsw = 0};
    (void)yarn_raw_call(SYS_getrusage, RUSAGE_SELF, (long)&usage, 0, 0, 0, 0);
    return (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
}

uint64_t yarn_process_reaped_cpu_ns(void)
{
    struct rusage usage = {.ru_nvcsw = 0};
    (void)yarn_raw_call(SYS_getrusage, RUSAGE_CHILDREN, (long)&usage, 0, 0, 0, 0);
    return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * YARN_NS_PER_SECOND +
           (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * (YARN_NS_PER_MS / 1000);
}

int yarn_process_open_folder(int dir, const char *path)
{
    return (int)yarn_raw_call(SYS_openat, dir, (long)path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, 0,
                              0);
}

enum { READER_NICE = -10 };
#define SHORT_TURN_NS (YARN_NS_PER_MS / 10)

/* struct sched_attr of sched_setattr(2), which the C library does not declare. */
struct scheduling {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns, deadline_ns, period_ns;
};

static bool runs_first(const struct scheduling *now)
{
    return now->policy == SCHED_FIFO || now->policy == SCHED_RR || now->policy == SCHED_DEADLINE;
}

static long read_scheduling(struct scheduling *ret_now)
{
    *ret_now = (struct scheduling){.size = sizeof *ret_now};
    return yarn_raw_call(SYS_sched_getattr, 0, (long)ret_now, (long)sizeof *ret_now, 0, 0, 0);
}

bool yarn_process_is_real_time(void)
{
    struct scheduling now;
    return !read_scheduling(&now) && runs_first(&now);
}

void yarn_process_prefer_latency(void)
{
    yarn_raw_call(SYS_prctl, PR_SET_TIMERSLACK, 1, 0, 0, 0, 0);
    struct scheduling now;
    long result = read_scheduling(&now);
    if (result || (now.policy != SCHED_OTHER && !runs_first(&now)))
        return;
    now.policy = SCHED_OTHER;
    now.priority = 0;
    int32_t own_nice = now.nice;
    now.runtime_ns = SHORT_TURN_NS;
    now.nice = READER_NICE < own_nice ? READER_NICE : own_nice;
    result = yarn_raw_call(SYS_sched_setattr, 0, (long)&now, 0, 0, 0, 0);
    if (result != -EPERM)
        return;
    now.nice = own_nice;
    yarn_raw_call(SYS_sched_setattr, 0, (long)&now, 0, 0, 0, 0);
}

void yarn_process_take_short_turns(bool are_short)
{
    struct scheduling now;
    if (read_scheduling(&now) || now.policy != SCHED_OTHER)
        return;
    now.runtime_ns = are_short ? SHORT_TURN_NS : 0;
    yarn_raw_call(SYS_sched_setattr, 0, (long)&now, 0, 0, 0, 0);
}

enum { HEXADECIMAL = 16, DECIMAL = 10 };

static unsigned digit_of(char letter)
{
    return letter >= '0' && letter <= '9'   ? (unsigned)(letter - '0')
           : letter >= 'a' && letter <= 'f' ? (unsigned)(letter - 'a') + DECIMAL
                                            : HEXADECIMAL;
}

/* Of a line of a status file; 0 where there is none. */
static uint64_t number_in(const char *status, const char *key, unsigned base)
{
    uint64_t number = 0;
    while (status && strncmp(status, key, strlen(key)) != 0) {
        status = strchr(status, '\n');
        status = status ? status + 1 : NULL;
    }
    if (!status)
        return 0;
    status += strlen(key);
    for (status += strspn(status, "\t "); digit_of(*status) < base; status++)
        number = number * base + digit_of(*status);
    return number;
}

/* Rights that count everywhere, not only among the ids of a container. Why not of
 * /proc/thread-self: what was looked up below a thread's own folder is thrown away at its end, and
 * who reaps the process at that moment spins until it is (d_walk; 5 ms of the parent for each of
 * make's children).
 */
static bool is_among_first_users(void)
{
    char name[64];
    return yarn_file_read_link(YARN_FILE_CWD, "/proc/self/ns/user", name, sizeof name) > 0 &&
           !strcmp(name, "user:[4026531837]");
}

uint64_t yarn_locked_memory_left(void)
{
    char status[STATUS_BYTES] = "";
    uint64_t limit = yarn_process_limit(RLIMIT_MEMLOCK);
    if (limit == UINT64_MAX)
        return limit;
    int fd = yarn_file_open(YARN_FILE_CWD, "/proc/self/status");
    if (fd >= 0) {
        ssize_t length = yarn_file_read(fd, status, sizeof status - 1);
        status[length < 0 ? 0 : length] = 0;
        yarn_file_close(fd);
    }
    if (number_in(status, "CapEff:", HEXADECIMAL) >> CAP_IPC_LOCK & 1 && is_among_first_users())
        return UINT64_MAX;
    uint64_t pinned = YARN_KIB(number_in(status, "VmPin:", DECIMAL));
    return limit - yarn_u64_min(limit, pinned);
}
