/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/outside/process.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/text.h"
#include "core/sys/file.h"
#include "core/sys/proc_maps.h"
#include "output/base/array.h"
#include "output/base/program.h"
#include "output/yarnprof/outside/root.h"

enum {
    CMDLINE_MAX = 16 * 1024,
    ENVIRONMENT_MAX = 256 * 1024,
    PATH_BYTES = 4096,
    SCRIPT_ARGUMENT = 2
};

/* The parent's image goes on in the child. */
static bool inherit(struct yarn_tree_process *process, const struct yarn_tree_process *parent)
{
    process->facts = parent->facts;
    process->has_program = parent->has_program;
    yarn_tree_root_share(&process->target, &parent->target);
    process->is_ignored = parent->is_ignored;
    memcpy(process->name, parent->name, sizeof process->name);
    process->facts.parent_pid = parent->facts.pid;
    process->facts.lineage = (struct yarn_lineage){
        .forked_by = parent->facts.pid,
        .forked_by_start_ns = parent->facts.start_ns,
    };
    process->facts.cmdline = YARN_SPAN_EMPTY;
    if (parent->cmdline) {
        process->cmdline = malloc(parent->facts.cmdline.size);
        if (!process->cmdline)
            return false;
        memcpy(process->cmdline, parent->cmdline, parent->facts.cmdline.size);
        process->facts.cmdline = yarn_span_of(process->cmdline, parent->facts.cmdline.size);
    }
    for (size_t i = 0; i < parent->nr_mappings; i++)
        if (!yarn_tree_process_map(process, &parent->mappings[i]))
            return false;
    return true;
}

static void begin(struct yarn_tree_process *process, uint64_t time_ns)
{
    uint64_t ahead_ns = process->facts.start_realtime_ns - process->facts.start_ns;
    process->facts.start_ns = time_ns;
    process->facts.start_realtime_ns = time_ns + ahead_ns;
    process->switches_ns = time_ns;
    process->lacks_switches = false;
    process->nr_switches = 0;
}

struct yarn_tree_process *yarn_tree_process_new(const struct yarn_tree_thread *first,
                                                const struct yarn_tree_process *parent,
                                                const struct yarn_facts *facts)
{
    struct yarn_tree_process *process = calloc(1, sizeof *process);
    if (!process)
        return NULL;
    process->target = yarn_target_of((pid_t)first->tid);
    process->facts = *facts;
    if ((parent && !inherit(process, parent)) || !yarn_tree_process_add_thread(process, first)) {
        yarn_tree_process_free(process);
        return NULL;
    }
    process->facts.pid = (pid_t)first->tid;
    process->facts.name = process->name;
    begin(process, first->time_ns);
    return process;
}

void yarn_tree_process_free(struct yarn_tree_process *process)
{
    if (!process)
        return;
    yarn_tree_root_leave(&process->target);
    free(process->cmdline);
    free(process->mappings);
    free(process->threads);
    free(process);
}

/* What lies wholly under another is not kept: a compiler maps its code again and again. */
bool yarn_tree_process_map(struct yarn_tree_process *process,
                           const struct yarn_tree_mapping *mapping)
{
    size_t kept = 0;
    for (size_t i = 0; i < process->nr_mappings; i++) {
        const struct yarn_tree_mapping *old = &process->mappings[i];
        if (old->start < mapping->start || old->end > mapping->end)
            process->mappings[kept++] = *old;
    }
    process->nr_mappings = kept;
    return !YARN_ARRAY_PUT(&process->mappings, &process->nr_mappings, &process->max_mappings,
                           mapping);
}

static struct yarn_tree_thread *find_thread(const struct yarn_tree_process *process, uint32_t tid)
{
    for (size_t i = 0; i < process->nr_threads; i++)
        if (process->threads[i].tid == tid)
            return &process->threads[i];
    return NULL;
}

bool yarn_tree_process_add_thread(struct yarn_tree_process *process,
                                  const struct yarn_tree_thread *thread)
{
    struct yarn_tree_thread *known = find_thread(process, thread->tid);
    if (known) {
        *known = *thread;
        return true;
    }
    return !YARN_ARRAY_PUT(&process->threads, &process->nr_threads, &process->max_threads, thread);
}

void yarn_tree_process_name_thread(struct yarn_tree_process *process, uint32_t tid,
                                   const char *name)
{
    struct yarn_tree_thread *thread = find_thread(process, tid);
    if (thread)
        (void)snprintf(thread->name, sizeof thread->name, "%s", name);
}

uint64_t yarn_tree_process_see_thread(struct yarn_tree_process *process, uint32_t tid)
{
    struct yarn_tree_thread *thread = process->nr_unseen ? find_thread(process, tid) : NULL;
    uint64_t attached_ns = thread ? thread->attached_ns : 0;
    if (attached_ns) {
        thread->attached_ns = 0;
        process->nr_unseen--;
    }
    return attached_ns;
}

const struct yarn_tree_thread *yarn_tree_process_thread(const struct yarn_tree_process *process,
                                                        uint32_t tid)
{
    return find_thread(process, tid);
}

const char *yarn_tree_process_thread_name(const struct yarn_tree_process *process, uint32_t tid)
{
    const struct yarn_tree_thread *thread = find_thread(process, tid);
    return thread ? thread->name : "";
}

size_t yarn_tree_process_end_thread(struct yarn_tree_process *process, uint32_t tid)
{
    struct yarn_tree_thread *thread = find_thread(process, tid);
    if (thread)
        *thread = process->threads[--process->nr_threads];
    return process->nr_threads;
}

/* Only the thread that executed it is left; it has the process's number. */
void yarn_tree_process_exec(struct yarn_tree_process *process, uint64_t time_ns)
{
    struct yarn_facts *facts = &process->facts;
    process->nr_mappings = 0;
    process->nr_threads = 0;
    process->has_program = false;
    process->has_executed = true;
    process->off_cpu_ns = process->skipped_ns = 0;
    facts->lineage.predecessor = facts->pid;
    facts->lineage.predecessor_start_ns = facts->start_ns;
    facts->cmdline = YARN_SPAN_EMPTY;
    free(process->cmdline);
    process->cmdline = NULL;
    begin(process, time_ns);
}

static bool still_runs(const struct yarn_tree_process *process, const char *program)
{
    char link[YARN_TARGET_PROC_BYTES + 8], path[PATH_BYTES];
    (void)snprintf(link, sizeof link, "%s/exe", process->target.proc);
    return !process->target.has_ended &&
           yarn_file_read_link(YARN_FILE_CWD, link, path, sizeof path) > 0 &&
           strcmp(path, program) == 0;
}

static ssize_t read_file(const struct yarn_tree_process *process, const char *name, char *ret_text,
                         size_t size)
{
    char path[YARN_TARGET_PROC_BYTES + 16];
    if (process->target.has_ended)
        return -ESRCH;
    (void)snprintf(path, sizeof path, "%s/%s", process->target.proc, name);
    int fd = yarn_file_open(YARN_FILE_CWD, path);
    if (fd < 0)
        return fd;
    ssize_t got = yarn_file_read(fd, ret_text, size);
    yarn_file_close(fd);
    return got;
}

/* A text that is cut is left out. */
char **yarn_tree_process_environment(const struct yarn_tree_process *process)
{
    static char text[ENVIRONMENT_MAX];
    ssize_t size = read_file(process, "environ", text, sizeof text);
    while (size > 0 && text[size - 1])
        size--;
    if (size <= 0 || !still_runs(process, process->facts.exe))
        return NULL;
    size_t count = 0, at = 0;
    for (ssize_t i = 0; i < size; i++)
        count += !text[i];
    size_t list_bytes = (count + 1) * sizeof(char *);
    char **environment = malloc(list_bytes + (size_t)size);
    if (!environment)
        return NULL;
    char *copy = memcpy((char *)environment + list_bytes, text, (size_t)size);
    for (size_t i = 0; i < count; i++, at += strlen(copy + at) + 1)
        environment[i] = copy + at;
    environment[count] = NULL;
    return environment;
}

static void read_arguments(struct yarn_tree_process *process)
{
    char text[CMDLINE_MAX];
    ssize_t size = read_file(process, "cmdline", text, sizeof text);
    process->cmdline = size > 0 ? malloc((size_t)size + 1) : NULL;
    if (!process->cmdline)
        return;
    memcpy(process->cmdline, text, (size_t)size);
    process->cmdline[size] = '\0'; /* of the last, which may be cut */
    process->facts.cmdline = yarn_span_of(process->cmdline, (size_t)size);
}

enum { KERNEL_NAME_BYTES = 15 };

static bool begins_like(const char *path, const char *name)
{
    return strncmp(yarn_path_base(path), name, KERNEL_NAME_BYTES) == 0;
}

/* What the kernel may have cut: the executable has that name, or an argument, which a script has
 * behind its interpreter and what that is given. */
static void lengthen_name(struct yarn_tree_process *process)
{
    const struct yarn_span arguments = process->facts.cmdline;
    if (strlen(process->name) != KERNEL_NAME_BYTES)
        return;
    const char *found = begins_like(process->facts.exe, process->name) ? process->facts.exe : NULL;
    for (size_t at = 0, i = 0; !found && at < arguments.size && i <= SCRIPT_ARGUMENT; i++) {
        const char *argument = (const char *)arguments.data + at;
        if (begins_like(argument, process->name))
            found = argument;
        at += strlen(argument) + 1;
    }
    if (found)
        (void)snprintf(process->name, sizeof process->name, "%s", yarn_path_base(found));
}

/* A program that had ended has the name by which it was run, and that there may be more. */
static void put_unread_arguments(struct yarn_tree_process *process)
{
    char text[PATH_BYTES];
    if (!process->name[0] || !strcmp(process->facts.exe, YARN_TREE_KERNEL))
        return;
    int size = snprintf(text, sizeof text, "%s%c%s", process->name, '\0', YARN_TREE_UNREAD) + 1;
    process->cmdline = malloc((size_t)size);
    if (!process->cmdline)
        return;
    memcpy(process->cmdline, text, (size_t)size);
    process->facts.cmdline = yarn_span_of(process->cmdline, (size_t)size);
}

void yarn_tree_process_set_program(struct yarn_tree_process *process, const char *path)
{
    process->facts.exe = path;
    process->has_program = true;
    read_arguments(process);
    bool is_its_own = process->cmdline && still_runs(process, path);
    if (!is_its_own) {
        free(process->cmdline);
        process->cmdline = NULL;
        process->facts.cmdline = YARN_SPAN_EMPTY;
    }
    lengthen_name(process);
    if (!is_its_own)
        put_unread_arguments(process);
}

struct reading {
    struct yarn_tree_process *process;
    yarn_tree_keep_path_fn *keep;
    void *self;
};

static int take_line(void *context, const struct yarn_proc_map *line)
{
    const struct reading *reading = context;
    char path[PATH_BYTES];
    if (!line->executable)
        return 0;
    (void)snprintf(path, sizeof path, "%.*s", (int)line->path.size, (const char *)line->path.data);
    const struct yarn_tree_mapping mapping = {
        .start = line->start,
        .end = line->end,
        .file_offset = line->file_offset,
        .device = line->device,
        .inode = line->inode,
        .time_ns = reading->process->facts.start_ns,
        .path = reading->keep(reading->self, path),
    };
    return mapping.path && yarn_tree_process_map(reading->process, &mapping) ? 0 : -ENOMEM;
}

/* A thread of the kernel has a folder, and no memory of its own. */
static bool is_of_kernel(const struct yarn_tree_process *process)
{
    char byte;
    return read_file(process, "cmdline", &byte, sizeof byte) == 0 &&
           read_file(process, "maps", &byte, sizeof byte) == 0;
}

int yarn_tree_process_read(struct yarn_tree_process *process, yarn_tree_keep_path_fn *keep,
                           void *self)
{
    char name[YARN_TARGET_PROC_BYTES + 8], path[PATH_BYTES];
    struct reading reading = {process, keep, self};
    (void)snprintf(name, sizeof name, "%s/exe", process->target.proc);
    ssize_t size = yarn_file_read_link(YARN_FILE_CWD, name, path, sizeof path);
    if (size == -ENOENT && is_of_kernel(process))
        (void)strcpy(path, YARN_TREE_KERNEL);
    else if (size <= 0)
        return size < 0 ? (int)size : -ENOENT;
    (void)snprintf(name, sizeof name, "%s/maps", process->target.proc);
    int err = yarn_proc_maps_read(YARN_FILE_CWD, name, take_line, &reading);
    if (err)
        return err;
    const char *kept = keep(self, path);
    if (!kept)
        return -ENOMEM;
    yarn_target_thread_name(&process->target, process->target.pid, process->name,
                            sizeof process->name);
    yarn_tree_process_set_program(process, kept);
    /* Why: threads may have got other names since. */
    const char *first = process->facts.cmdline.size ? process->cmdline : "";
    (void)snprintf(process->name, sizeof process->name, "%s", yarn_program_name(first, kept));
    return 0;
}
