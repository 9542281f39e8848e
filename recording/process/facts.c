/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/process/facts.h"

#include <sys/auxv.h>

#include "core/base/text.h"
#include "core/sys/clock.h"
#include "core/sys/file.h"

enum { PATH_BYTES = 4096, CMDLINE_MAX = 16 * 1024, CPUS_MAX = 1024 };
#define CLOCK_DRIFT_NS (10 * YARN_NS_PER_MS)

static int take_exe(struct yarn_facts *facts, struct yarn_arena *arena, const char *fallback)
{
    char path[PATH_BYTES];
    ssize_t length = yarn_file_read_link(YARN_FILE_CWD, "/proc/self/exe", path, sizeof path);
    facts->exe = length > 0 ? yarn_arena_text(arena, path, (size_t)length)
                            : yarn_arena_text(arena, fallback, strlen(fallback));
    return facts->exe ? 0 : -ENOMEM;
}

/* What was given to execve; of a descriptor, which is a number there, that of the file. */
static int take_name(struct yarn_facts *facts, struct yarn_arena *arena)
{
    static const char deleted[] = " (deleted)";
    const size_t end = sizeof deleted - 1;
    const char *path = (const char *)getauxval(AT_EXECFN);
    const char *name = yarn_path_base(path ? path : facts->exe);
    bool is_number = !name[strspn(name, "0123456789")];
    if (is_number)
        name = yarn_path_base(facts->exe);
    size_t size = strlen(name);
    if (is_number && size > end && memcmp(name + size - end, deleted, end) == 0)
        size -= end;
    facts->name = yarn_arena_text(arena, name, size);
    return facts->name ? 0 : -ENOMEM;
}

/* A folder may be gone, outside of our root, or below one that we may not enter. */
static int take_folder(struct yarn_facts *facts, struct yarn_arena *arena)
{
    char path[PATH_BYTES];
    struct yarn_file_info here, there;
    ssize_t length = yarn_file_read_link(YARN_FILE_CWD, "/proc/self/cwd", path, sizeof path);
    if (length <= 0 || yarn_file_stat_name(YARN_FILE_CWD, ".", &here) ||
        yarn_file_stat_name(YARN_FILE_CWD, path, &there) || !yarn_file_is_same(&here, &there))
        return 0;
    facts->folder = yarn_arena_text(arena, path, length > 1 ? (size_t)length : 0);
    return facts->folder ? 0 : -ENOMEM;
}

static int take_cmdline(struct yarn_facts *facts, struct yarn_arena *arena, int argc,
                        char *const argv[])
{
    size_t size = 0;
    int taken = 0;
    for (; taken < argc && argv[taken] && size < CMDLINE_MAX; taken++)
        size += strlen(argv[taken]) + 1;
    char *text = yarn_arena_alloc(arena, size + 1, 1);
    if (!text)
        return -ENOMEM;
    size_t at = 0;
    for (int i = 0; i < taken; i++) {
        size_t length = strlen(argv[i]) + 1;
        memcpy(text + at, argv[i], length);
        at += length;
    }
    facts->cmdline = yarn_span_of(text, yarn_size_min(at, CMDLINE_MAX));
    return 0;
}

static void take_times(struct yarn_facts *facts)
{
    yarn_clock_enter_namespace();
    uint64_t now_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    facts->start_ns = now_ns;
    facts->start_realtime_ns = yarn_clock_ns(YARN_TIME_REALTIME);
    facts->reaped_ns = yarn_process_reaped_cpu_ns();
    facts->boottime_offset_ns = yarn_clock_ns(YARN_TIME_BOOTTIME) - now_ns;
    facts->monotonic_raw_offset_ns = (int64_t)(yarn_clock_ns(YARN_TIME_MONOTONIC_RAW) - now_ns);
}

/* Why not always: it is three system calls in each child. In a time namespace of its own a child's
 * clocks are another distance apart than its parent's. */
void yarn_facts_inherit(struct yarn_facts *facts)
{
    facts->lineage = (struct yarn_lineage){
        .forked_by = facts->pid,
        .forked_by_start_ns = facts->start_ns,
    };
    facts->parent_pid = yarn_process_parent();
    uint64_t ahead_ns = facts->start_realtime_ns - facts->start_ns;
    facts->start_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    facts->start_realtime_ns = yarn_clock_ns(YARN_TIME_REALTIME);
    if (facts->start_realtime_ns - facts->start_ns - ahead_ns + CLOCK_DRIFT_NS >
        2 * CLOCK_DRIFT_NS) {
        yarn_clock_enter_namespace();
        facts->start_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    }
    facts->pid = yarn_process_pid();
    facts->reaped_ns = 0;
}

void yarn_facts_note_leader(struct yarn_facts *facts, const struct yarn_seccomp_probe *seccomp)
{
    bool may_ask = !seccomp->deadly[YARN_SECCOMP_ENDS] && yarn_process_tid() == facts->pid;
    facts->leader_end =
        may_ask ? yarn_thread_end_of_caller() : (struct yarn_thread_end){.word = NULL};
}

void yarn_facts_renew(struct yarn_facts *facts)
{
    facts->lineage.predecessor = facts->pid;
    facts->lineage.predecessor_start_ns = facts->start_ns;
    take_times(facts);
}

int yarn_facts_take(struct yarn_facts *ret_facts, struct yarn_arena *arena, int argc,
                    char *const argv[])
{
    struct yarn_facts facts = {
        .pid = yarn_process_pid(),
        .parent_pid = yarn_process_parent(),
    };
    take_times(&facts);
    yarn_process_system_names(&facts.system);
    int err = take_exe(&facts, arena, argc > 0 && argv[0] ? argv[0] : "unknown");
    if (!err)
        err = take_name(&facts, arena);
    if (!err)
        err = take_folder(&facts, arena);
    if (!err)
        err = take_cmdline(&facts, arena, argc, argv);
    if (err)
        return err;
    *ret_facts = facts;
    return 0;
}

void yarn_machine_facts_renew(struct yarn_machine_facts *facts)
{
    int cpus[CPUS_MAX];
    facts->cpus_online = (uint32_t)yarn_process_online_cpus(cpus, CPUS_MAX);
}

void yarn_machine_facts_take(struct yarn_machine_facts *ret_facts)
{
    int cpus[CPUS_MAX];
    yarn_kernel_boot_id(ret_facts->boot_id);
    ret_facts->cpus_present = (uint32_t)yarn_process_present_cpus(cpus, CPUS_MAX);
    yarn_machine_facts_renew(ret_facts);
}
