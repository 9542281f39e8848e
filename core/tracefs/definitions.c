/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tracefs/definitions.h"

#include <stdatomic.h>
#include <sys/syscall.h>

#include "core/base/pages.h"
#include "core/base/raw.h"
#include "core/base/span.h"
#include "core/sys/clock.h"
#include "core/sys/file.h"
#include "core/sys/process.h"

#define PREFIX "yarn_"
#define UPROBES "uprobe_events"
#define KPROBES "kprobe_events"

enum { PATH_BYTES = 512, LINK_BYTES = 64, LINE_BYTES = 4096 + 512, LIST_BYTES = 256 * 1024 };

void yarn_tracefs_group_open(struct yarn_tracefs_group *group, const char *root)
{
    *group = (struct yarn_tracefs_group){.root = root};
    struct yarn_text name = yarn_text_of(group->name, sizeof group->name);
    yarn_text_add(&name, PREFIX);
    yarn_text_add_u64(&name, (uint64_t)yarn_process_pid());
    yarn_text_add(&name, "_");
    /* Why: two containers have processes of one number. */
    yarn_text_add_u64(&name, yarn_process_pid_namespace());
}

static int open_below(const char *root, const char *name, bool for_appending)
{
    char path[PATH_BYTES];
    struct yarn_text text = yarn_text_of(path, sizeof path);
    yarn_text_add(&text, root);
    yarn_text_add(&text, "/");
    yarn_text_add(&text, name);
    if (text.cut)
        return -ENAMETOOLONG;
    return for_appending ? yarn_file_open_append(YARN_FILE_CWD, path)
                         : yarn_file_open(YARN_FILE_CWD, path);
}

/* The kernel takes a line a write. -ENOSYS where it has no such file, and would let nobody make
 * it. */
static int write_line(const char *root, const char *file, const char *line)
{
    int there = open_below(root, file, false);
    if (there == -ENOENT)
        return -ENOSYS;
    yarn_file_close(there < 0 ? -1 : there);
    int fd = open_below(root, file, true);
    if (fd < 0)
        return fd;
    int err = yarn_file_write_all(fd, yarn_span_of_text(line));
    yarn_file_close(fd);
    return err;
}

static int read_number(const struct yarn_tracefs_group *group, const char *name,
                       uint64_t *ret_number)
{
    char path[PATH_BYTES], digits[32];
    struct yarn_text text = yarn_text_of(path, sizeof path);
    yarn_text_add(&text, "events/");
    yarn_text_add(&text, group->name);
    yarn_text_add(&text, "/");
    yarn_text_add(&text, name);
    yarn_text_add(&text, "/id");
    int fd = open_below(group->root, path, false);
    if (fd < 0)
        return fd;
    ssize_t size = yarn_file_read(fd, digits, sizeof digits);
    yarn_file_close(fd);
    if (size < 2)
        return size < 0 ? (int)size : -EINVAL;
    return yarn_parse_u64(digits, (size_t)size - 1, ret_number); /* without its newline */
}

void yarn_tracefs_describe(const struct yarn_tracefs_group *group,
                           const struct yarn_tracefs_site *site, const char *name,
                           struct yarn_text *text)
{
    yarn_text_add(text, site->is_return ? "r:" : "p:");
    yarn_text_add(text, group->name);
    yarn_text_add(text, "/");
    yarn_text_add(text, name);
    yarn_text_add(text, " ");
    yarn_text_add(text, site->path ? site->path : site->symbol);
    yarn_text_add(text, site->path ? ":0x" : "+0x");
    yarn_text_add_hex(text, site->offset);
    if (site->is_return)
        yarn_text_add(text, yarn_tracefs_return_field());
    else if (site->path)
        yarn_text_add(text, yarn_tracefs_argument_fields());
}

/* "p0_…" of a file, "k0_…" of the kernel: that is all who opens it knows of it. */
static void name_number(const struct yarn_tracefs_group *group, unsigned number, bool is_of_kernel,
                        struct yarn_text *text)
{
    yarn_text_add(text, is_of_kernel ? "k" : "p");
    yarn_text_add_u64(text, number);
    yarn_text_add(text, "_");
    yarn_text_add_hex(text, group->made_ns);
}

/* Never one that was there before: the kernel would add the probe to that one, which a child of
 * this process, before its exec, may have open. */
static void name_next(struct yarn_tracefs_group *group, bool is_of_kernel,
                      char ret_name[YARN_TRACEFS_NAME_MAX])
{
    struct yarn_text name = yarn_text_of(ret_name, YARN_TRACEFS_NAME_MAX);
    if (!group->nr_made)
        group->made_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    name_number(group, group->nr_made, is_of_kernel, &name);
}

static int define(struct yarn_tracefs_group *group, const struct yarn_tracefs_site *site,
                  char ret_name[YARN_TRACEFS_NAME_MAX], uint64_t *ret_number)
{
    char line[LINE_BYTES];
    struct yarn_text text = yarn_text_of(line, sizeof line);
    if (group->nr_made == YARN_TRACEFS_PROBES_MAX)
        return -ENOSPC;
    name_next(group, !site->path, ret_name);
    yarn_tracefs_describe(group, site, ret_name, &text);
    yarn_text_add(&text, "\n");
    if (text.cut)
        return -ENAMETOOLONG;
    int err = write_line(group->root, site->path ? UPROBES : KPROBES, line);
    if (err)
        return err;
    group->is_of_kernel[group->nr_made++] = !site->path;
    return read_number(group, ret_name, ret_number);
}

/* The kernel takes a line's words apart at blanks: a file whose path has some goes by a descriptor,
 * which is followed while the line is written. */
int yarn_tracefs_define(struct yarn_tracefs_group *group, const struct yarn_tracefs_site *site,
                        char ret_name[YARN_TRACEFS_NAME_MAX], uint64_t *ret_number)
{
    char path[LINK_BYTES];
    struct yarn_tracefs_site asked = *site;
    bool has_blank = site->path && site->path[strcspn(site->path, " \t\n")];
    int fd = has_blank ? yarn_file_open(YARN_FILE_CWD, site->path) : -1;
    struct yarn_text text = yarn_text_of(path, sizeof path);
    if (has_blank && fd < 0)
        return fd;
    if (has_blank) {
        yarn_text_add_format(&text, "/proc/thread-self/fd/%u", (unsigned)fd);
        asked.path = path;
    }
    int err = define(group, &asked, ret_name, ret_number);
    yarn_file_close(fd);
    return err;
}

static int remove_one(const char *root, bool is_of_kernel, struct yarn_span group_and_name)
{
    char line[2 * YARN_TRACEFS_NAME_MAX + 8];
    struct yarn_text text = yarn_text_of(line, sizeof line);
    yarn_text_add(&text, "-:");
    yarn_text_add_sized(&text, (const char *)group_and_name.data, group_and_name.size);
    yarn_text_add(&text, "\n");
    return text.cut ? -EINVAL : write_line(root, is_of_kernel ? KPROBES : UPROBES, line);
}

void yarn_tracefs_group_close(struct yarn_tracefs_group *group)
{
    char name[2 * YARN_TRACEFS_NAME_MAX];
    for (unsigned i = 0; i < group->nr_made; i++) {
        struct yarn_text text = yarn_text_of(name, sizeof name);
        yarn_text_add(&text, group->name);
        yarn_text_add(&text, "/");
        name_number(group, i, group->is_of_kernel[i], &text);
        (void)remove_one(group->root, group->is_of_kernel[i], yarn_span_of(name, text.size));
    }
    group->nr_made = 0;
}

/* Of its stat file (proc(5)): when it started, in ticks since the boot; 0: unknown. */
static uint64_t start_ticks(uint64_t pid)
{
    enum { STARTTIME = 22, BEHIND_NAME = 2 };
    char path[64], stat[1024];
    struct yarn_text text = yarn_text_of(path, sizeof path);
    yarn_text_add_format(&text, "/proc/%lu/stat", pid);
    int fd = yarn_file_open(YARN_FILE_CWD, path);
    ssize_t length = fd < 0 ? 0 : yarn_file_read(fd, stat, sizeof stat - 1);
    yarn_file_close(fd);
    stat[length > 0 ? length : 0] = 0;
    char *at = strrchr(stat, ')');
    for (int field = BEHIND_NAME; at && field < STARTTIME; field++)
        at = strchr(at + 1, ' ');
    uint64_t ticks;
    return at && !yarn_parse_u64(at + 1, strspn(at + 1, "0123456789"), &ticks) ? ticks : 0;
}

/* It has certainly started since: ticks are rounded down, and count times of sleep, which may all
 * have been since. */
static bool is_younger(uint64_t pid, uint64_t time_ns)
{
    enum { TICK_NS = 10000000 };
    uint64_t asleep_ns =
        yarn_u64_minus(yarn_clock_ns(YARN_TIME_BOOTTIME), yarn_clock_ns(YARN_TIME_MONOTONIC));
    return yarn_u64_minus(start_ticks(pid) * TICK_NS, asleep_ns) > time_ns;
}

/* When this image swept first, on CLOCK_MONOTONIC; 0: not yet. */
static _Atomic uint64_t swept_first_ns;

/* The caller's own of before are of the image that it was before an exec. Another process that has
 * the number by now has started since. */
static bool is_alive(uint64_t pid, uint64_t made_ns)
{
    if (pid == (uint64_t)yarn_process_pid())
        return made_ns > atomic_load(&swept_first_ns);
    if (pid > INT32_MAX)
        return true;
    return yarn_raw_call(SYS_tgkill, (long)pid, (long)pid, 0, 0, 0, 0) != -ESRCH &&
           !is_younger(pid, made_ns);
}

/* When the first of its group was made: behind the last "_" of its name. */
static bool read_made_ns(const char *name, const char *end, uint64_t *ret_ns)
{
    static const char digits[] = "0123456789abcdef";
    const char *bar = memchr(name, '_', (size_t)(end - name));
    *ret_ns = 0;
    for (const char *at = bar ? bar + 1 : end; at < end; at++) {
        const char *digit = memchr(digits, *at, sizeof digits - 1);
        if (!digit || *ret_ns >> 60)
            return false;
        *ret_ns = *ret_ns << 4 | (uint64_t)(digit - digits);
    }
    return bar && bar + 1 < end;
}

/* Of a line "p:yarn_123_4026531836/p0 /usr/bin/x:0x…", group and name; empty where it is none of
 * ours, or its process lives. */
static struct yarn_span orphan_of(struct yarn_span line, uint64_t namespace)
{
    static const char front[] = ":" PREFIX; /* behind "p", or "r" and a number */
    const char *text = (const char *)line.data;
    const char *colon = memchr(text, ':', line.size);
    if (!colon || line.size - (size_t)(colon - text) < sizeof front ||
        memcmp(colon, front, sizeof front - 1) != 0)
        return YARN_SPAN_EMPTY;
    const char *pid_at = colon + sizeof front - 1, *end = text + line.size;
    const char *blank = memchr(pid_at, ' ', (size_t)(end - pid_at));
    const char *slash = blank ? memchr(pid_at, '/', (size_t)(blank - pid_at)) : NULL;
    const char *bar = slash ? memchr(pid_at, '_', (size_t)(slash - pid_at)) : NULL;
    uint64_t pid, of, made_ns;
    if (!bar || yarn_parse_u64(pid_at, (size_t)(bar - pid_at), &pid) ||
        yarn_parse_u64(bar + 1, (size_t)(slash - bar) - 1, &of) || of != namespace ||
        !read_made_ns(slash + 1, blank, &made_ns) || is_alive(pid, made_ns))
        return YARN_SPAN_EMPTY;
    return yarn_span_of(colon + 1, (size_t)(blank - colon) - 1);
}

static size_t read_list(const char *root, bool is_of_kernel, char *ret_text)
{
    int fd = open_below(root, is_of_kernel ? KPROBES : UPROBES, false);
    size_t size = 0;
    ssize_t got = fd < 0 ? 0 : 1;
    while (got > 0 && size < LIST_BYTES) {
        got = yarn_file_read(fd, ret_text + size, LIST_BYTES - size);
        size += got > 0 ? (size_t)got : 0;
    }
    yarn_file_close(fd);
    return size;
}

static unsigned sweep_list(const char *root, bool is_of_kernel, struct yarn_span list)
{
    uint64_t namespace = yarn_process_pid_namespace();
    unsigned nr_removed = 0;
    while (list.size) {
        const uint8_t *newline = memchr(list.data, '\n', list.size);
        size_t size = newline ? (size_t)(newline - list.data) : list.size;
        struct yarn_span orphan = orphan_of(yarn_span_of(list.data, size), namespace);
        if (orphan.size && remove_one(root, is_of_kernel, orphan) == 0)
            nr_removed++;
        list = yarn_span_from(list, newline ? size + 1 : size);
    }
    return nr_removed;
}

unsigned yarn_tracefs_sweep(const char *root)
{
    unsigned nr_removed = 0;
    uint64_t never = 0;
    (void)atomic_compare_exchange_strong(&swept_first_ns, &never,
                                         yarn_clock_ns(YARN_TIME_MONOTONIC));
    char *text = yarn_pages_map(LIST_BYTES);
    for (int is_of_kernel = 0; text && is_of_kernel < 2; is_of_kernel++) {
        size_t size = read_list(root, is_of_kernel, text);
        nr_removed += sweep_list(root, is_of_kernel, yarn_span_of(text, size));
    }
    yarn_pages_unmap(text, LIST_BYTES);
    return nr_removed;
}
