/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>

#include "output/base/array.h"
#include "output/export/export.h"
#include "output/export/samples.h"
#include "output/fold/paths.h"

/*
 * comm;outermost;…;innermost WEIGHT, as stackcollapse-perf.pl writes it, the weight in the event's
 * unit. In names, `;` becomes `:`. Stacks are paths of names, in the order of names from the
 * outside in, so that equal profiles give equal files.
 */

enum { ROOTS = YARN_EXPORT_KERNEL_ROOT + 1 };

struct line {
    uint32_t comm;
    uint32_t root; /* YARN_DUMP_NONE: none */
    uint32_t path; /* YARN_DUMP_NONE: none */
    uint64_t weight;
};

struct folded {
    struct yarn_export *export;
    struct yarn_paths paths; /* by name */
    uint32_t *path_of;       /* owned; of each stack */
    uint32_t *ranks;         /* owned; of each path: its place in the order, from 1 */
    uint8_t *used;           /* owned; a byte a stack that is written */
    struct line *lines;      /* owned array */
    size_t count;
    size_t capacity;
    uint32_t *names; /* owned array: names of one stack, innermost first */
    size_t names_capacity;
};

static int make_paths(struct folded *folded)
{
    const struct yarn_profile *profile = folded->export->profile;
    uint32_t *names = calloc(profile->nr_functions + 1, sizeof *names);
    folded->path_of = calloc(profile->nr_stacks + 1, sizeof *folded->path_of);
    folded->used = calloc(profile->nr_stacks + 1, 1);
    int err = names && folded->path_of && folded->used ? 0 : -ENOMEM;
    for (size_t i = 0; !err && i < profile->nr_functions; i++)
        names[i] = profile->functions[i].name;
    if (!err)
        err = yarn_paths_place(
            &folded->paths,
            &(struct yarn_paths_stacks){.profile = profile, .keys = names, .top = YARN_DUMP_NONE},
            folded->path_of);
    free(names);
    return err;
}

/* The outermost first, then siblings together, and those by name. */
static int by_parent_and_name(const void *a, const void *b, void *context)
{
    const struct folded *folded = context;
    const struct yarn_path *one = &folded->paths.list[*(const uint32_t *)a];
    const struct yarn_path *other = &folded->paths.list[*(const uint32_t *)b];
    if (one->parent != other->parent)
        return one->parent + 1 < other->parent + 1 ? -1 : 1;
    return strcmp(yarn_profile_text(folded->export->profile, one->key),
                  yarn_profile_text(folded->export->profile, other->key));
}

/* A path is before what is below it, and all that before the next one beside it. */
static int rank(struct folded *folded)
{
    const struct yarn_path *paths = folded->paths.list;
    const size_t count = folded->paths.count;
    uint32_t *sorted = calloc(count + 1, sizeof *sorted);
    uint32_t *sizes = calloc(count + 1, sizeof *sizes); /* of each path and all below it */
    uint32_t *next = calloc(count + 1, sizeof *next);   /* below each path; at last: of all */
    folded->ranks = calloc(count + 1, sizeof *folded->ranks);
    bool is_whole = sorted && sizes && next && folded->ranks;
    for (size_t i = is_whole ? count : 0; i-- > 0;) {
        sorted[i] = (uint32_t)i;
        sizes[i]++;
        if (paths[i].parent != YARN_DUMP_NONE)
            sizes[paths[i].parent] += sizes[i];
    }
    if (is_whole)
        qsort_r(sorted, count, sizeof *sorted, by_parent_and_name, folded);
    for (size_t i = 0; is_whole && i < count; i++) {
        uint32_t path = sorted[i], parent = paths[path].parent;
        uint32_t *free_rank = parent == YARN_DUMP_NONE ? &next[count] : &next[parent];
        folded->ranks[path] = next[path] = *free_rank + 1;
        *free_rank += sizes[path];
    }
    free(sorted);
    free(sizes);
    free(next);
    return is_whole ? 0 : -ENOMEM;
}

enum { NOTED_MAX = 3 };

/* Says which functions are one here: the format has names only. */
static int note_merged(const struct folded *folded)
{
    const struct yarn_profile *profile = folded->export->profile;
    uint32_t *functions = calloc(folded->paths.count + 1, sizeof *functions); /* of paths, and 1 */
    uint32_t noted[NOTED_MAX];
    size_t count = 0;
    if (!functions)
        return -ENOMEM;
    for (size_t i = profile->nr_stacks; i-- > 0;)
        if (folded->used[i] && profile->stacks[i].parent != YARN_DUMP_NONE)
            folded->used[profile->stacks[i].parent] = 1;
    for (size_t i = 0; i < profile->nr_stacks && count < NOTED_MAX; i++) {
        uint32_t *function = &functions[folded->path_of[i]];
        if (!folded->used[i] || *function == profile->stacks[i].function + 1)
            continue;
        uint32_t name = profile->functions[profile->stacks[i].function].name;
        bool is_noted = !*function;
        for (size_t k = 0; k < count; k++)
            is_noted |= noted[k] == name;
        if (!is_noted)
            noted[count++] = name;
        *function = profile->stacks[i].function + 1;
    }
    free(functions);
    char *note = folded->export->note;
    for (size_t k = 0; k < count; k++)
        (void)snprintf(note + strlen(note), sizeof folded->export->note - strlen(note), "%s%.48s",
                       k ? ", " : "functions of one name are one here, of whatever module: ",
                       yarn_profile_text(profile, noted[k]));
    return 0;
}

static int add(struct folded *folded, struct yarn_table *index,
               const struct yarn_export_sample *sample)
{
    uint32_t path =
        sample->stack == YARN_DUMP_NONE ? YARN_DUMP_NONE : folded->path_of[sample->stack];
    if (sample->stack != YARN_DUMP_NONE)
        folded->used[sample->stack] = 1;
    uint64_t key = ((uint64_t)sample->comm << 32 | path) * (ROOTS + 1) + (sample->root + 1);
    uint32_t found = yarn_table_find(index, key);
    if (found == YARN_TABLE_NONE) {
        if (YARN_ARRAY_RESERVE(&folded->lines, &folded->capacity, folded->count + 1))
            return -ENOMEM;
        found = (uint32_t)folded->count++;
        folded->lines[found] =
            (struct line){.comm = sample->comm, .root = sample->root, .path = path};
        int err = yarn_table_put(index, key, found);
        if (err)
            return err;
    }
    folded->lines[found].weight += sample->weight;
    return 0;
}

static int add_kernel(struct folded *folded, struct yarn_table *index)
{
    struct yarn_kernel_time *list;
    size_t count;
    int err = yarn_export_kernel(folded->export, &list, &count);
    for (size_t i = 0; !err && i < count; i++) {
        struct yarn_export_sample whole =
            yarn_export_kernel_sample(folded->export->profile, &list[i]);
        err = add(folded, index, &whole);
    }
    free(list);
    return err;
}

static int gather(struct folded *folded)
{
    struct yarn_export_samples samples = YARN_EXPORT_SAMPLES(folded->export);
    struct yarn_export_sample sample;
    struct yarn_table index = YARN_TABLE_CLOSED;
    int err = yarn_table_open(&index, 1024, (size_t)1 << 31);
    while (!err && yarn_export_next(&samples, &sample))
        err = add(folded, &index, &sample);
    if (!err)
        err = add_kernel(folded, &index);
    yarn_table_close(&index);
    return err;
}

static int compare(const void *a, const void *b, void *context)
{
    const struct folded *folded = context;
    const struct yarn_profile *profile = folded->export->profile;
    const struct line *one = a, *other = b;
    if (one->comm != other->comm)
        return strcmp(yarn_profile_text(profile, one->comm),
                      yarn_profile_text(profile, other->comm));
    if (one->root != other->root)
        return one->root < other->root ? -1 : 1;
    uint32_t rank = one->path == YARN_DUMP_NONE ? 0 : folded->ranks[one->path];
    uint32_t than = other->path == YARN_DUMP_NONE ? 0 : folded->ranks[other->path];
    return rank < than ? -1 : rank > than;
}

static void put_name(const struct folded *folded, uint32_t text)
{
    const char *name = yarn_profile_text(folded->export->profile, text);
    FILE *file = folded->export->file;
    for (;;) {
        size_t size = strcspn(name, ";");
        (void)fwrite(name, 1, size, file);
        if (!name[size])
            break;
        (void)fputc(':', file);
        name += size + 1;
    }
}

static int put_line(struct folded *folded, const struct line *line)
{
    const struct yarn_profile *profile = folded->export->profile;
    FILE *file = folded->export->file;
    size_t depth = 0;
    for (uint32_t path = line->path; path != YARN_DUMP_NONE;
         path = folded->paths.list[path].parent) {
        if (YARN_ARRAY_RESERVE(&folded->names, &folded->names_capacity, depth + 1))
            return -ENOMEM;
        folded->names[depth++] = folded->paths.list[path].key;
    }
    put_name(folded, line->comm);
    if (line->root == YARN_EXPORT_KERNEL_ROOT) {
        (void)fputs(";[kernel]", file);
    } else if (line->root != YARN_DUMP_NONE) {
        (void)fputc(';', file);
        put_name(folded, profile->functions[line->root].name);
    }
    while (depth-- > 0 && !ferror(file)) {
        (void)fputc(';', file);
        put_name(folded, folded->names[depth]);
    }
    (void)fprintf(file, " %" PRIu64 "\n", line->weight);
    return 0;
}

int yarn_export_folded(struct yarn_export *export)
{
    struct folded folded = {.export = export, .paths = YARN_PATHS_EMPTY};
    int err = make_paths(&folded);
    if (!err)
        err = rank(&folded);
    if (!err)
        err = gather(&folded);
    if (!err)
        err = note_merged(&folded);
    if (!err && folded.count)
        qsort_r(folded.lines, folded.count, sizeof *folded.lines, compare, &folded);
    for (size_t i = 0; !err && i < folded.count && !ferror(export->file); i++)
        err = put_line(&folded, &folded.lines[i]);
    yarn_paths_fini(&folded.paths);
    free(folded.path_of);
    free(folded.ranks);
    free(folded.used);
    free(folded.lines);
    free(folded.names);
    return err;
}
