/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/time/children.h"

#include <stdlib.h>

#define TICK_NS (10 * YARN_NS_PER_MS) /* how exact the birth of a run's first process is known */

struct member {
    uint64_t run; /* a hash; 0: not known */
    const struct yarn_profile_dump *dump;
    bool is_counted;
};

static uint64_t hash_text(uint64_t hash, struct yarn_span text)
{
    for (size_t i = 0; i < text.size; i++)
        hash = yarn_hash_u64(hash + text.data[i]);
    return hash;
}

/* The run that a dump bears the name of, else its boot. */
static uint64_t run_of(const struct yarn_profile_dump *dump)
{
    const struct yarn_dump_process *process = &dump->process;
    uint64_t hash = hash_text(hash_text(1, process->boot_id), process->host);
    for (size_t i = 0; i < dump->nr_options; i++)
        if (yarn_span_equal(dump->options[i].name, yarn_span_of_text("run")))
            return hash_text(hash, dump->options[i].value);
    return process->root_pid ? hash : 0;
}

static int compare(uint64_t left, uint64_t right)
{
    return left == right ? 0 : left < right ? -1 : 1;
}

static int by_start(const void *a, const void *b)
{
    const struct member *left = a, *right = b;
    int by_run = compare(left->run, right->run);
    return by_run ? by_run : compare(left->dump->process.start_ns, right->dump->process.start_ns);
}

/* Of one run. */
static int by_pid(const void *a, const void *b)
{
    const struct member *const *left = a, *const *right = b;
    return compare((*left)->dump->process.pid, (*right)->dump->process.pid);
}

/* Of one run: who has waited for the most first. */
static int by_reaped(const void *a, const void *b)
{
    const struct member *const *left = a, *const *right = b;
    return compare((*right)->dump->trust.reaped_ns, (*left)->dump->trust.reaped_ns);
}

static uint64_t end_of(const struct member *member)
{
    return member->dump->has_end ? member->dump->end.time_ns : UINT64_MAX;
}

/* Of the process, at the latest: an image that another was before knows of that one. */
static uint64_t birth_of(const struct member *member)
{
    const struct yarn_dump_process *process = &member->dump->process;
    if (process->predecessor_pid)
        return yarn_u64_min(process->predecessor_start_ns, process->start_ns);
    return process->birth_ns ? yarn_u64_min(process->birth_ns, process->start_ns)
                             : process->start_ns;
}

enum { INIT_PID = 1 };

/* False: it descends from a process that was there before and is not the root's, or has lost its
 * parent. One whose own root began later may be a process that the root made, and that dropped the
 * right to look at it. */
static bool may_descend(const struct yarn_dump_process *process, const struct yarn_dump_process *of,
                        uint64_t birth_ns)
{
    if (process->root_pid == of->root_pid && process->root_birth_ns == of->root_birth_ns)
        return true;
    return (process->ppid != INIT_PID || of->pid == INIT_PID) &&
           process->root_birth_ns + TICK_NS >= birth_ns + process->boottime_offset_ns;
}

/* Images of one process are one. Why not by the number alone: in namespaces of pids two processes
 * at once may have it, in a run of several commands two after each other. */
static bool is_same_process(const struct member *a, const struct member *b)
{
    uint64_t start_a = a->dump->process.start_ns, start_b = b->dump->process.start_ns;
    const struct member *first = start_a < start_b ? a : b, *last = first == a ? b : a;
    return a == b ||
           (a->dump->process.pid == b->dump->process.pid &&
            end_of(first) <= last->dump->process.start_ns && birth_of(last) <= end_of(first));
}

/* With what passed while nothing was to be recorded, which its dump says. */
static uint64_t cpu_of(const struct yarn_trust *trust)
{
    return yarn_u64_minus(trust->cpu_ns, trust->children_ns) + trust->off_cpu_ns +
           trust->drain_cpu_ns;
}

/* A run in the orders in which it is looked at: of 10,000 dumps with children each, all are not
 * compared with all. */
struct run {
    struct member *by_start, **by_pid, **by_reaped;
    size_t count;
};

/* The first that is not below. */
static size_t first_of_pid(const struct run *run, uint32_t pid)
{
    size_t low = 0, high = run->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (run->by_pid[middle]->dump->process.pid < pid)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static size_t first_since(const struct run *run, uint64_t start_ns)
{
    size_t low = 0, high = run->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (run->by_start[middle].dump->process.start_ns < start_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Of the process with that image and of all that began while it was there, which it may have waited
 * for. */
static uint64_t unread_of(const struct run *run, const struct member *root)
{
    uint64_t birth_ns = birth_of(root), end_ns = 0;
    uint64_t reaped_ns = 0, read_ns = 0;
    uint32_t pid = root->dump->process.pid;
    for (size_t i = first_of_pid(run, pid);
         i < run->count && run->by_pid[i]->dump->process.pid == pid; i++) {
        struct member *member = run->by_pid[i];
        if (!is_same_process(root, member))
            continue;
        end_ns = yarn_u64_max(end_ns, end_of(member));
        reaped_ns += member->is_counted ? 0 : member->dump->trust.reaped_ns;
        read_ns += member->is_counted ? 0 : member->dump->trust.children_ns;
        member->is_counted = true;
    }
    for (size_t i = first_since(run, birth_ns);
         i < run->count && run->by_start[i].dump->process.start_ns <= end_ns; i++) {
        struct member *member = &run->by_start[i];
        const struct yarn_trust *trust = &member->dump->trust;
        if (member->is_counted ||
            !may_descend(&member->dump->process, &root->dump->process, birth_ns))
            continue;
        member->is_counted = true;
        read_ns += trust->children_ns + cpu_of(trust);
    }
    return yarn_u64_minus(reaped_ns, read_ns);
}

/* A run may have begun with several processes, as where each of two commands bears its name. */
static uint64_t unread_of_run(const struct run *run)
{
    uint64_t sum_ns = 0;
    for (size_t i = 0; i < run->count; i++)
        run->by_pid[i] = run->by_reaped[i] = &run->by_start[i];
    qsort(run->by_pid, run->count, sizeof *run->by_pid, by_pid);
    qsort(run->by_reaped, run->count, sizeof *run->by_reaped, by_reaped);
    for (size_t i = 0; i < run->count && run->by_reaped[i]->dump->trust.reaped_ns; i++)
        if (!run->by_reaped[i]->is_counted)
            sum_ns += unread_of(run, run->by_reaped[i]);
    return sum_ns;
}

uint64_t yarn_children_unread_ns(const struct yarn_profile *profile)
{
    uint64_t sum_ns = 0;
    size_t end = 0, count = profile->nr_dumps;
    struct member *members = calloc(count + 1, sizeof *members);
    struct member **orders = calloc(2 * count + 1, sizeof *orders);
    bool has_room = members && orders;
    for (size_t i = 0; has_room && i < count; i++)
        members[i] = (struct member){run_of(&profile->dumps[i]), &profile->dumps[i], false};
    if (has_room)
        qsort(members, count, sizeof *members, by_start);
    for (size_t begin = 0; has_room && begin < count; begin = end) {
        for (end = begin + 1; end < count && members[end].run == members[begin].run; end++)
            ;
        struct run run = {members + begin, orders, orders + count, end - begin};
        sum_ns += members[begin].run ? unread_of_run(&run) : 0;
    }
    free(orders);
    free(members);
    return sum_ns;
}
