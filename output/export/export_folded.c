/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>

#include "output/export/export.h"
#include "output/export/paths.h"
#include "output/export/samples.h"
#include "output/store/array.h"

/*
 * comm;outermost;…;innermost WEIGHT, as stackcollapse-perf.pl writes it, the weight in the event's
 * unit. In names, `;` becomes `:`.
 */

enum { ROOTS = YARN_EXPORT_KERNEL_ROOT + 1 };

struct line {
    uint32_t comm;
    uint32_t root; /* YARN_DUMP_NONE: none */
    uint32_t path; /* YARN_DUMP_NONE: none */
    uint64_t weight;
};

struct folded {
    const struct yarn_export *export;
    struct yarn_paths paths;
    struct line *lines; /* owned array */
    size_t count;
    size_t capacity;
    uint32_t *names; /* owned array: names of one stack, innermost first */
    size_t names_capacity;
};

static int add(struct folded *folded, struct yarn_table *index,
               const struct yarn_export_sample *sample)
{
    uint32_t path =
        sample->stack == YARN_DUMP_NONE ? YARN_DUMP_NONE : folded->paths.of_stack[sample->stack];
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
    uint32_t rank = one->path == YARN_DUMP_NONE ? 0 : folded->paths.paths[one->path].rank;
    uint32_t than = other->path == YARN_DUMP_NONE ? 0 : folded->paths.paths[other->path].rank;
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
         path = folded->paths.paths[path].parent) {
        if (YARN_ARRAY_RESERVE(&folded->names, &folded->names_capacity, depth + 1))
            return -ENOMEM;
        folded->names[depth++] = folded->paths.paths[path].name;
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
    struct folded folded = {.export = export};
    int err = yarn_paths_init(&folded.paths, export->profile);
    if (!err)
        err = gather(&folded);
    if (!err && folded.count)
        qsort_r(folded.lines, folded.count, sizeof *folded.lines, compare, &folded);
    for (size_t i = 0; !err && i < folded.count && !ferror(export->file); i++)
        err = put_line(&folded, &folded.lines[i]);
    yarn_paths_fini(&folded.paths);
    free(folded.lines);
    free(folded.names);
    return err;
}
