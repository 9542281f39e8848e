/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/time/children.h"

#include <stdlib.h>

struct member {
    uint64_t run; /* a hash; 0: not known */
    const struct yarn_profile_dump *dump;
};

static uint64_t hash_text(uint64_t hash, struct yarn_span text)
{
    for (size_t i = 0; i < text.size; i++)
        hash = yarn_hash_u64(hash + text.data[i]);
    return hash;
}

/* The run that a dump bears the name of, else the process that its own began with. */
static uint64_t run_of(const struct yarn_profile_dump *dump)
{
    const struct yarn_dump_process *process = &dump->process;
    uint64_t hash = hash_text(hash_text(1, process->boot_id), process->host);
    for (size_t i = 0; i < dump->nr_options; i++)
        if (yarn_span_equal(dump->options[i].name, yarn_span_of_text("run")))
            return hash_text(hash, dump->options[i].value);
    return process->root_pid ? yarn_hash_u64(hash + process->root_birth_ns) ^ process->root_pid : 0;
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

/* Images of one process are one. */
static bool is_same_process(const struct member *a, const struct member *b)
{
    return a->dump->process.pid == b->dump->process.pid;
}

static uint64_t unread_of(const struct member *members, size_t count)
{
    uint64_t read_ns = 0;
    for (size_t i = 0; i < count; i++) {
        const struct yarn_trust *trust = &members[i].dump->trust;
        read_ns += trust->children_ns;
        if (!is_same_process(&members[0], &members[i]))
            read_ns += trust->cpu_ns - yarn_u64_min(trust->cpu_ns, trust->children_ns) +
                       trust->drain_cpu_ns;
    }
    return yarn_u64_minus(members[0].dump->trust.reaped_ns, read_ns);
}

uint64_t yarn_children_unread_ns(const struct yarn_profile *profile)
{
    uint64_t sum_ns = 0;
    size_t end = 0, count = profile->nr_dumps;
    struct member *members = calloc(count + 1, sizeof *members);
    for (size_t i = 0; members && i < count; i++)
        members[i] = (struct member){run_of(&profile->dumps[i]), &profile->dumps[i]};
    if (members)
        qsort(members, count, sizeof *members, order);
    for (size_t begin = 0; members && begin < count; begin = end) {
        for (end = begin + 1; end < count && members[end].run == members[begin].run; end++)
            ;
        sum_ns += members[begin].run ? unread_of(members + begin, end - begin) : 0;
    }
    free(members);
    return sum_ns;
}
