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

/* Within a run, who has waited for the most first. */
static int order(const void *a, const void *b)
{
    const struct member *left = a, *right = b;
    uint64_t of_left = left->dump->trust.reaped_ns, of_right = right->dump->trust.reaped_ns;
    if (left->run != right->run)
        return left->run < right->run ? -1 : 1;
    return of_left == of_right ? 0 : of_left > of_right ? -1 : 1;
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

/* Of the process with that image and of all that began while it was there, which it may have waited
 * for. */
static uint64_t unread_of(struct member *root, struct member *members, size_t count)
{
    uint64_t birth_ns = birth_of(root), end_ns = 0;
    uint64_t reaped_ns = 0, read_ns = 0;
    for (size_t i = 0; i < count; i++)
        if (is_same_process(root, &members[i]))
            end_ns = yarn_u64_max(end_ns, end_of(&members[i]));
    for (size_t i = 0; i < count; i++) {
        struct member *member = &members[i];
        const struct yarn_trust *trust = &member->dump->trust;
        uint64_t start_ns = member->dump->process.start_ns;
        bool is_root = is_same_process(root, member);
        bool is_meanwhile = start_ns >= birth_ns && start_ns <= end_ns &&
                            may_descend(&member->dump->process, &root->dump->process, birth_ns);
        if (member->is_counted || (!is_root && !is_meanwhile))
            continue;
        member->is_counted = true;
        reaped_ns += is_root ? trust->reaped_ns : 0;
        read_ns += trust->children_ns + (is_root ? 0 : cpu_of(trust));
    }
    return yarn_u64_minus(reaped_ns, read_ns);
}

/* A run may have begun with several processes, as where each of two commands bears its name. */
static uint64_t unread_of_run(struct member *members, size_t count)
{
    uint64_t sum_ns = 0;
    for (size_t i = 0; i < count && members[i].dump->trust.reaped_ns; i++)
        if (!members[i].is_counted)
            sum_ns += unread_of(&members[i], members, count);
    return sum_ns;
}

uint64_t yarn_children_unread_ns(const struct yarn_profile *profile)
{
    uint64_t sum_ns = 0;
    size_t end = 0, count = profile->nr_dumps;
    struct member *members = calloc(count + 1, sizeof *members);
    for (size_t i = 0; members && i < count; i++)
        members[i] = (struct member){run_of(&profile->dumps[i]), &profile->dumps[i], false};
    if (members)
        qsort(members, count, sizeof *members, order);
    for (size_t begin = 0; members && begin < count; begin = end) {
        for (end = begin + 1; end < count && members[end].run == members[begin].run; end++)
            ;
        sum_ns += members[begin].run ? unread_of_run(members + begin, end - begin) : 0;
    }
    free(members);
    return sum_ns;
}
