/* SPDX-License-Identifier: Apache-2.0 */
#include "output/fold/clusters.h"

#include <stdlib.h>

#include "output/analysis/time/coverage.h"

/* A process as others name it: by its number and start. Number 0: a run, by the address of its
 * name, which is one for equal names. */
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
    struct named *bonds; /* owned: dumps of one key are of one run */
    size_t nr_bonds;
    uint32_t *above;    /* owned: of each dump, one of its run; itself where it is the first */
    struct step *steps; /* owned: room for those of one cluster */
    size_t nr_steps;
    uint64_t from_ns, to_ns;
};

/* A parent that ended before is another process of the same number; but it writes its end, and may
 * start the child, a moment before it has gone. */
#define GOING_NS YARN_NS_PER_SECOND

/* Dumps of one number that are compared: other kernels and containers give it, too. */
enum { SAME_NUMBER_MAX = 64 };

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
    return order ? order : a->dump < b->dump ? -1 : a->dump > b->dump;
}

static int order_steps(const void *left, const void *right)
{
    const struct step *a = left, *b = right;
    return a->time_ns == b->time_ns ? 0 : a->time_ns < b->time_ns ? -1 : 1;
}

static const struct yarn_dump_process *process_of(const struct builder *builder, uint32_t dump)
{
    return &builder->profile->dumps[dump].process;
}

static uint32_t first_of(const struct builder *builder, uint32_t dump)
{
    uint32_t *above = builder->above;
    while (above[dump] != dump)
        dump = above[dump] = above[above[dump]];
    return dump;
}

static void join(struct builder *builder, uint32_t dump, uint32_t other)
{
    uint32_t a = first_of(builder, dump), b = first_of(builder, other);
    builder->above[a > b ? a : b] = a < b ? a : b;
}

static void bind(struct builder *builder, struct key key, uint32_t dump)
{
    builder->bonds[builder->nr_bonds++] = (struct named){key, dump};
}

/* How many names are before that key. */
static size_t place_of(const struct builder *builder, struct key key)
{
    size_t low = 0, high = builder->profile->nr_dumps;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (order_keys(builder->names[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* YARN_DUMP_NONE where no dump is of that process. */
static uint32_t dump_of(const struct builder *builder, struct key key)
{
    size_t place = place_of(builder, key);
    bool is_found =
        place < builder->profile->nr_dumps && order_keys(builder->names[place].key, key) == 0;
    return is_found ? builder->names[place].dump : YARN_DUMP_NONE;
}

static bool is_same_place(const struct yarn_dump_process *a, const struct yarn_dump_process *b)
{
    return yarn_span_equal(a->boot_id, b->boot_id) && yarn_span_equal(a->host, b->host);
}

/* The last image of that number which began there before `dump`; YARN_DUMP_NONE: none. */
static uint32_t last_before(const struct builder *builder, uint32_t dump, uint32_t pid)
{
    const struct yarn_dump_process *process = process_of(builder, dump);
    size_t place = place_of(builder, (struct key){pid, process->start_ns});
    for (size_t i = 0; i < SAME_NUMBER_MAX && place-- && builder->names[place].key.pid == pid;
         i++) {
        uint32_t found = builder->names[place].dump;
        if (is_same_place(process_of(builder, found), process))
            return found;
    }
    return YARN_DUMP_NONE;
}

static bool had_gone(const struct yarn_profile_dump *dump, uint64_t time_ns)
{
    bool is_end =
        dump->end.reason == YARN_DUMP_END_EXIT || dump->end.reason == YARN_DUMP_END_EXIT_RAW;
    return dump->has_end && is_end && dump->end.time_ns + GOING_NS < time_ns;
}

/* A program that was executed knows its parent's number alone. */
static void join_parent(struct builder *builder, uint32_t dump)
{
    const struct yarn_dump_process *process = process_of(builder, dump);
    uint32_t parent = process->ppid ? last_before(builder, dump, process->ppid) : YARN_DUMP_NONE;
    if (parent != YARN_DUMP_NONE && !had_gone(&builder->profile->dumps[parent], process->start_ns))
        join(builder, dump, parent);
}

/* All that descend from the process that the run began with, on one boot of one host. */
static void join_root(struct builder *builder, uint32_t dump)
{
    const struct yarn_dump_process *process = process_of(builder, dump);
    uint64_t place = yarn_span_hash(process->host, yarn_span_hash(process->boot_id, 0));
    if (process->root_pid)
        bind(builder, (struct key){process->root_pid, process->root_birth_ns ^ place}, dump);
}

/* With whom it is of one run, as far as the dump names them. */
static void join_named(struct builder *builder, uint32_t dump)
{
    const struct yarn_dump_process *process = process_of(builder, dump);
    const struct key keys[] = {{process->predecessor_pid, process->predecessor_start_ns},
                               {process->parent_pid, process->parent_start_ns}};
    bool is_joined = false;
    for (size_t i = 0; i < YARN_COUNT_OF(keys); i++) {
        uint32_t found = keys[i].pid ? dump_of(builder, keys[i]) : YARN_DUMP_NONE;
        if (found != YARN_DUMP_NONE)
            join(builder, dump, found);
        else if (keys[i].pid)
            bind(builder, keys[i], dump);
        is_joined |= found != YARN_DUMP_NONE;
    }
    if (!is_joined && !process->root_pid)
        join_parent(builder, dump);
    join_root(builder, dump);
}

/* False: its run has no name. A run with a name is what bears it, and no more. */
static bool join_run(struct builder *builder, uint32_t dump)
{
    const struct yarn_profile_dump *of = &builder->profile->dumps[dump];
    for (size_t i = 0; i < of->nr_options; i++) {
        if (!yarn_span_equal(of->options[i].name, yarn_span_of_text("run")))
            continue;
        bind(builder, (struct key){0, (uint64_t)(uintptr_t)of->options[i].value.data}, dump);
        return true;
    }
    return false;
}

/* The chain goes on with a process of which there is a dump. */
static bool goes_on(const struct builder *builder, uint32_t dump)
{
    const struct yarn_dump_process *process = process_of(builder, dump);
    const struct key key = {process->predecessor_pid, process->predecessor_start_ns};
    return key.pid && dump_of(builder, key) != YARN_DUMP_NONE;
}

static void join_all(struct builder *builder, struct yarn_clusters *clusters)
{
    struct named *bonds = builder->bonds;
    for (uint32_t i = 0; i < builder->profile->nr_dumps; i++) {
        clusters->nr_processes += !goes_on(builder, i);
        if (!join_run(builder, i))
            join_named(builder, i);
    }
    qsort(bonds, builder->nr_bonds, sizeof *bonds, order_names);
    for (size_t i = 1; i < builder->nr_bonds; i++) {
        if (order_keys(bonds[i - 1].key, bonds[i].key) == 0)
            join(builder, bonds[i - 1].dump, bonds[i].dump);
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

static double marks_of(const struct builder *builder, const struct yarn_profile_dump *dump)
{
    double count = 0;
    for (size_t i = 0; i < dump->nr_messages; i++) {
        const struct yarn_dump_message *message = &dump->messages[i];
        count += message->kind == YARN_DUMP_MESSAGE_MARK && message->time_ns >= builder->from_ns &&
                 message->time_ns <= builder->to_ns;
    }
    return count;
}

static void measure(struct builder *builder, struct yarn_clusters *clusters)
{
    for (uint32_t i = 0; i < clusters->count; i++) {
        builder->nr_steps = 0;
        for (size_t j = 0; j < builder->profile->nr_dumps; j++) {
            if (clusters->of_dump[j] != i)
                continue;
            add_steps(builder, &builder->profile->dumps[j]);
            clusters->clusters[i].marks += marks_of(builder, &builder->profile->dumps[j]);
        }
        clusters->clusters[i].seconds = seconds_of(builder);
    }
}

/* The first of a run is before the others. */
static void number(struct builder *builder, struct yarn_clusters *clusters)
{
    for (uint32_t i = 0; i < builder->profile->nr_dumps; i++) {
        uint32_t first = first_of(builder, i);
        if (first != i) {
            clusters->of_dump[i] = clusters->of_dump[first];
            continue;
        }
        clusters->of_dump[i] = (uint32_t)(clusters->nr_runs++ % YARN_CLUSTERS_MAX);
        clusters->clusters[clusters->of_dump[i]].runs++;
    }
    clusters->count = yarn_size_min(clusters->nr_runs, YARN_CLUSTERS_MAX);
}

static int allocate(struct builder *builder, struct yarn_clusters *clusters)
{
    size_t nr_dumps = builder->profile->nr_dumps, nr_steps = 0;
    for (size_t i = 0; i < nr_dumps; i++)
        nr_steps += 2 + 2 * builder->profile->dumps[i].nr_coverage;
    builder->names = calloc(nr_dumps + 1, sizeof *builder->names);
    builder->bonds = calloc(4 * nr_dumps + 1, sizeof *builder->bonds);
    builder->above = calloc(nr_dumps + 1, sizeof *builder->above);
    builder->steps = calloc(nr_steps + 1, sizeof *builder->steps);
    clusters->of_dump = calloc(nr_dumps + 1, sizeof *clusters->of_dump);
    clusters->clusters = calloc(YARN_CLUSTERS_MAX, sizeof *clusters->clusters);
    bool is_whole = builder->names && builder->bonds && builder->above && builder->steps &&
                    clusters->of_dump && clusters->clusters;
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
            builder.above[i] = i;
        }
        qsort(builder.names, profile->nr_dumps, sizeof *builder.names, order_names);
        join_all(&builder, &clusters);
        number(&builder, &clusters);
        measure(&builder, &clusters);
    }
    free(builder.names);
    free(builder.bonds);
    free(builder.above);
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
