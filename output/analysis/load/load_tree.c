/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/load/loader.h"
#include "output/base/array.h"

/* What a recording from outside says of a tree's processes. */

static int keep(struct yarn_loader *loader, struct yarn_span *span)
{
    return yarn_strings_legible(&loader->profile->strings, *span, span);
}

int yarn_loader_on_tree(void *self, const struct yarn_dump_tree *record)
{
    struct yarn_loader *loader = self;
    yarn_loader_dump(loader)->tree = *record;
    yarn_loader_dump(loader)->has_tree = true;
    return 0;
}

int yarn_loader_on_tree_program(void *self, const struct yarn_dump_tree_program *record)
{
    struct yarn_loader *loader = self;
    struct yarn_profile_dump *dump = yarn_loader_dump(loader);
    struct yarn_dump_tree_program kept = *record;
    int err = keep(loader, &kept.program);
    if (err)
        return err;
    for (size_t i = 0; i < dump->nr_tree_programs; i++)
        if (yarn_span_equal(dump->tree_programs[i].program, kept.program)) {
            dump->tree_programs[i] = kept;
            return 0;
        }
    return YARN_ARRAY_PUT(&dump->tree_programs, &dump->nr_tree_programs,
                          &dump->tree_programs_capacity, &kept);
}

int yarn_loader_on_tree_process(void *self, const struct yarn_dump_tree_process *record)
{
    struct yarn_loader *loader = self;
    struct yarn_profile_dump *dump = yarn_loader_dump(loader);
    struct yarn_dump_tree_process kept = *record;
    int err = keep(loader, &kept.program);
    return err ? err
               : YARN_ARRAY_PUT(&dump->tree_processes, &dump->nr_tree_processes,
                                &dump->tree_processes_capacity, &kept);
}
