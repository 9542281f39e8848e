/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/compare/clusters.h"

#include <stdlib.h>

#include "output/analysis/time/coverage.h"

/* A process as others name it: by its number and start. */
struct key {
    uint32_t pid;
    uint64_t start_ns;
};

struct named {
    struct key key;
    uint32_t dump;
};

/* At `time_ns` so many more processes are there, and so many more of them stopped. */
struct step {
    uint64_t time_ns;
    int32_t there, stopped;
};

struct builder {
    const struct yarn_profile *profile;
    struct named *names; /* owned: of the dumps, sorted */
    struct key *roots;   /* owned: of each dump */
    struct step *steps;  /* owned: room for those of one cluster */
    size_t nr_steps;
    uint64_t from_ns, to_ns;
};

static int order_keys(struct key a, struct key b)
{
    if (a.pid != b.pid)
        return a.pid < b.pid ? -1 : 1;
    return a.start_ns == b.start_ns ? 0 : a.start_ns < b.start_ns ? -1 : 1;
}

static int order_names(const void *left, const void *right)
{
    const struct named *a = left, *b = right;
    int order = order_keys(a->key, b->key);
    return order ? order : a->dump < b->dump ? -1 : 1;
}

static int order_steps(const void *left, const void *right)
{
    const struct step *a = left, *b = right;
    return a->time_ns == b->time_ns ? 0 : a->time_ns < b->time_ns ? -1 : 1;
}

/* YARN_DUMP_NONE where no dump is of that process. */
static uint32_t dump_of(const struct builder *builder, struct key key)
{
    size_t low = 0, high = builder->profile->nr_dumps;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (order_keys(builder->names[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    bool is_found =
        low < builder->profile->nr_dumps && order_keys(builder->names[low].key, key) == 0;
    return is_found ? builder->names[low].dump : YARN_DUMP_NONE;
}

/* Who was there before, of those that were recorded; pid 0: nobody. */
static struct key ancestor_of(const struct yarn_dump_process *process)
{
    if (process->predecessor_pid)
        return (struct key){process->predecessor_pid, process->predecessor_start_ns};
    return (struct key){process->parent_pid, process->parent_start_ns};
}

/* From `dump` to its predecessor by exec, or its parent; true while that has a dump, too. */
static bool go_back(const struct builder *builder, uint32_t *dump, struct key *key)
{
    struct key ancestor = ancestor_of(&builder->profile->dumps[*dump].process);
    if (!ancestor.pid)
        return false;
    *key = ancestor;
    *dump = dump_of(builder, ancestor);
    return *dump != YARN_DUMP_NONE;
}

/* Dumps are untrusted: a cycle ends after as many steps as there are dumps. All dumps on the way
 * have the same root, so none is searched for twice. */
static void find_root(struct builder *builder, uint32_t first)
{
    const struct yarn_dump_process *process = &builder->profile->dumps[first].process;
    struct key root = {process->pid, process->start_ns}, ignored;
    uint32_t dump = first;
    size_t left = builder->profile->nr_dumps;
    bool goes_on = true;
    while (goes_on && left-- && !builder->roots[dump].pid)
        goes_on = go_back(builder, &dump, &root);
    if (goes_on && builder->roots[dump].pid)
        root = builder->roots[dump];
    root.pid += !root.pid;
    for (dump = first, goes_on = true; goes_on && !builder->roots[dump].pid;) {
        builder->roots[dump] = root;
        goes_on = go_back(builder, &dump, &ignored);
    }
}

static void add_step(struct builder *builder, uint64_t time_ns, int32_t there, int32_t stopped)
{
    builder->steps[builder->nr_steps++] = (struct step){
        yarn_u64_min(yarn_u64_max(time_ns, builder->from_ns), builder->to_ns), there, stopped};
}

static void add_steps(struct builder *builder, const struct yarn_profile_dump *dump)
{
    uint64_t end_ns = yarn_u64_max(dump->last_ns, dump->process.start_ns);
    add_step(builder, dump->process.start_ns, 1, 0);
    add_step(builder, end_ns, -1, 0);
    for (size_t i = 0; i < dump->nr_coverage; i++) {
        struct yarn_coverage_gap gap;
        if (!yarn_coverage_gap_at(dump, i, &gap))
            continue;
        add_step(builder, gap.from_ns, 0, 1);
        add_step(builder, yarn_u64_min(gap.to_ns, end_ns), 0, -1);
    }
}

/* From the first process to the last record, but for what all that were there had stopped. */
static double seconds_of(struct builder *builder)
{
    uint64_t stopped_ns = 0;
    int32_t there = 0, stopped = 0;
    struct step *steps = builder->steps;
    if (!builder->nr_steps)
        return 0;
    qsort(steps, builder->nr_steps, sizeof *steps, order_steps);
    for (size_t i = 0; i + 1 < builder->nr_steps; i++) {
        there += steps[i].there;
        stopped += steps[i].stopped;
        if (there > 0 && stopped >= there)
            stopped_ns += steps[i + 1].time_ns - steps[i].time_ns;
    }
    uint64_t whole_ns = steps[builder->nr_steps - 1].time_ns - steps[0].time_ns;
    return (double)(whole_ns - stopped_ns) / 1e9;
}

static void measure(struct builder *builder, struct yarn_clusters *clusters)
{
    for (uint32_t i = 0; i < clusters->count; i++) {
        builder->nr_steps = 0;
        for (size_t j = 0; j < builder->profile->nr_dumps; j++) {
            if (clusters->of_dump[j] == i)
                add_steps(builder, &builder->profile->dumps[j]);
        }
        clusters->clusters[i].seconds = seconds_of(builder);
    }
}

/* Numbers the roots in their order. */
static void number(struct builder *builder, struct yarn_clusters *clusters)
{
    size_t nr_dumps = builder->profile->nr_dumps, nr_roots = 0;
    for (uint32_t i = 0; i < nr_dumps; i++)
        builder->names[i] = (struct named){builder->roots[i], i};
    qsort(builder->names, nr_dumps, sizeof *builder->names, order_names);
    for (size_t i = 0; i < nr_dumps; i++) {
        if (i && order_keys(builder->names[i].key, builder->names[i - 1].key) != 0)
            nr_roots++;
        clusters->of_dump[builder->names[i].dump] = (uint32_t)(nr_roots % YARN_CLUSTERS_MAX);
    }
    clusters->count = nr_dumps ? yarn_size_min(nr_roots + 1, YARN_CLUSTERS_MAX) : 0;
}

static int allocate(struct builder *builder, struct yarn_clusters *clusters)
{
    size_t nr_dumps = builder->profile->nr_dumps, nr_steps = 0;
    for (size_t i = 0; i < nr_dumps; i++)
        nr_steps += 2 + 2 * builder->profile->dumps[i].nr_coverage;
    builder->names = calloc(nr_dumps + 1, sizeof *builder->names);
    builder->roots = calloc(nr_dumps + 1, sizeof *builder->roots);
    builder->steps = calloc(nr_steps + 1, sizeof *builder->steps);
    clusters->of_dump = calloc(nr_dumps + 1, sizeof *clusters->of_dump);
    clusters->clusters = calloc(YARN_CLUSTERS_MAX, sizeof *clusters->clusters);
    bool is_whole = builder->names && builder->roots && builder->steps && clusters->of_dump &&
                    clusters->clusters;
    return is_whole ? 0 : -ENOMEM;
}

int yarn_clusters_build(const struct yarn_profile *profile, uint64_t from_ns, uint64_t to_ns,
                        struct yarn_clusters *ret_clusters)
{
    struct yarn_clusters clusters = {0};
    struct builder builder = {.profile = profile, .from_ns = from_ns, .to_ns = to_ns};
    int err = allocate(&builder, &clusters);
    if (!err) {
        for (uint32_t i = 0; i < profile->nr_dumps; i++) {
            const struct yarn_dump_process *process = &profile->dumps[i].process;
            builder.names[i] = (struct named){{process->pid, process->start_ns}, i};
        }
        qsort(builder.names, profile->nr_dumps, sizeof *builder.names, order_names);
        for (uint32_t i = 0; i < profile->nr_dumps; i++)
            find_root(&builder, i);
        number(&builder, &clusters);
        measure(&builder, &clusters);
    }
    free(builder.names);
    free(builder.roots);
    free(builder.steps);
    if (err)
        yarn_clusters_fini(&clusters);
    else
        *ret_clusters = clusters;
    return err;
}

void yarn_clusters_fini(struct yarn_clusters *clusters)
{
    free(clusters->of_dump);
    free(clusters->clusters);
    *clusters = (struct yarn_clusters){0};
}
