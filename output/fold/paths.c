/* SPDX-License-Identifier: Apache-2.0 */
#include "output/fold/paths.h"

#include <stdlib.h>

#include "output/base/array.h"

int yarn_paths_below(struct yarn_paths *paths, uint32_t parent, uint32_t key, uint32_t *ret_path)
{
    uint64_t both = (uint64_t)parent << 32 | key;
    uint32_t found = yarn_table_find(&paths->index, both);
    int err = 0;
    if (found == YARN_TABLE_NONE) {
        found = (uint32_t)paths->count;
        if (!paths->index.slots)
            err = yarn_table_open(&paths->index, 1024, (size_t)1 << 31);
        if (!err)
            err = YARN_ARRAY_PUT(&paths->list, &paths->count, &paths->capacity,
                                 &(struct yarn_path){parent, key});
        if (!err)
            err = yarn_table_put(&paths->index, both, found);
    }
    *ret_path = found;
    return err;
}

int yarn_paths_place(struct yarn_paths *paths, const struct yarn_paths_stacks *stacks,
                     uint32_t *places)
{
    int err = 0;
    for (size_t i = 0; !err && i < stacks->profile->nr_stacks; i++) {
        const struct yarn_profile_stack *stack = &stacks->profile->stacks[i];
        uint32_t outer = stack->parent == YARN_DUMP_NONE ? stacks->top : places[stack->parent];
        uint32_t key = stacks->keys ? stacks->keys[stack->function] : stack->function;
        if (!stacks->chosen || stacks->chosen[i] & stacks->bit)
            err = yarn_paths_below(paths, outer, key, &places[i]);
    }
    return err;
}

void yarn_paths_fini(struct yarn_paths *paths)
{
    free(paths->list);
    yarn_table_close(&paths->index);
    *paths = YARN_PATHS_EMPTY;
}
