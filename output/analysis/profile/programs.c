/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/profile/programs.h"

#include <stdlib.h>

#include "output/analysis/value/name.h"

static void add(struct yarn_program *sum, const struct yarn_dump_tree_program *more)
{
    sum->processes += more->processes;
    sum->silent += more->silent;
    sum->unknown += more->unknown;
    sum->cpu_ns += more->cpu_ns;
    sum->sampled_ns += more->sampled_ns;
}

static const char *name_of(const struct yarn_dump_tree_program *program)
{
    return program->program.size ? (const char *)program->program.data : "[unknown]";
}

static void add_program(struct yarn_programs *programs, const struct yarn_dump_tree_program *more)
{
    const char *name = name_of(more);
    size_t i = 0;
    while (i < programs->count && strcmp(programs->programs[i].name, name) != 0)
        i++;
    if (i == programs->count)
        programs->programs[programs->count++] = (struct yarn_program){.name = name};
    add(&programs->programs[i], more);
    add(&programs->all, more);
}

static int compare(const void *a, const void *b)
{
    const struct yarn_program *one = a, *other = b;
    if (one->cpu_ns != other->cpu_ns)
        return one->cpu_ns > other->cpu_ns ? -1 : 1;
    return strcmp(one->name, other->name);
}

int yarn_programs_of(const struct yarn_profile *profile, struct yarn_programs *ret_programs)
{
    size_t count = 0;
    *ret_programs = (struct yarn_programs){.all.name = ""};
    for (size_t i = 0; i < profile->nr_dumps; i++)
        count += profile->dumps[i].nr_tree_programs;
    ret_programs->programs = count ? calloc(count, sizeof *ret_programs->programs) : NULL;
    if (count && !ret_programs->programs)
        return -ENOMEM;
    for (size_t i = 0; i < profile->nr_dumps; i++) {
        const struct yarn_profile_dump *dump = &profile->dumps[i];
        ret_programs->counted_ns += dump->tree.counted_ns;
        ret_programs->stray += dump->tree.stray;
        for (size_t k = 0; k < dump->nr_tree_programs; k++)
            add_program(ret_programs, &dump->tree_programs[k]);
    }
    if (count)
        qsort(ret_programs->programs, ret_programs->count, sizeof *ret_programs->programs, compare);
    return 0;
}

void yarn_programs_fini(struct yarn_programs *programs)
{
    free(programs->programs);
    *programs = (struct yarn_programs){.programs = NULL};
}
