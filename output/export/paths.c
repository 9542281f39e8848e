/* SPDX-License-Identifier: Apache-2.0 */
#include "output/export/paths.h"

#include <stdlib.h>

#include "output/store/array.h"

static int find_or_add(struct yarn_paths *paths, struct yarn_table *index, uint32_t parent,
                       uint32_t name, uint32_t *ret_path)
{
    uint64_t key = (uint64_t)parent << 32 | name;
    uint32_t found = yarn_table_find(index, key);
    if (found == YARN_TABLE_NONE) {
        if (YARN_ARRAY_RESERVE(&paths->paths, &paths->capacity, paths->count + 1))
            return -ENOMEM;
        found = (uint32_t)paths->count++;
        paths->paths[found] = (struct yarn_path){.parent = parent, .name = name};
        int err = yarn_table_put(index, key, found);
        if (err)
            return err;
    }
    *ret_path = found;
    return 0;
}

static int fill(struct yarn_paths *paths, const struct yarn_profile *profile)
{
    struct yarn_table index = YARN_TABLE_CLOSED;
    int err = yarn_table_open(&index, 1024, (size_t)1 << 31);
    for (size_t i = 0; !err && i < profile->nr_stacks; i++) {
        const struct yarn_profile_stack *stack = &profile->stacks[i];
        uint32_t parent =
            stack->parent == YARN_DUMP_NONE ? YARN_DUMP_NONE : paths->of_stack[stack->parent];
        err = find_or_add(paths, &index, parent, profile->functions[stack->function].name,
                          &paths->of_stack[i]);
    }
    yarn_table_close(&index);
    return err;
}

struct order {
    const struct yarn_paths *paths;
    const struct yarn_profile *profile;
};

/* Siblings together, and those by name. */
static int compare(const void *a, const void *b, void *context)
{
    const struct order *order = context;
    const struct yarn_path *one = &order->paths->paths[*(const uint32_t *)a];
    const struct yarn_path *other = &order->paths->paths[*(const uint32_t *)b];
    if (one->parent != other->parent)
        return one->parent < other->parent ? -1 : 1;
    return strcmp(yarn_profile_text(order->profile, one->name),
                  yarn_profile_text(order->profile, other->name));
}

struct links {
    uint32_t *sorted; /* paths by parent, then name; the outermost, without a parent, last */
    uint32_t *first;  /* of each path: place in `sorted` of its first child; count: none */
};

/* From each path to the first below it, else to the next beside it or beside those around it. */
static void rank(struct yarn_paths *paths, const struct links *links)
{
    const size_t count = paths->count;
    size_t at = count;
    for (size_t i = count; i-- > 0 && paths->paths[links->sorted[i]].parent == YARN_DUMP_NONE;)
        at = i;
    uint32_t *place = links->first + count + 1; /* of each path in `sorted` */
    for (size_t i = 0; i < count; i++)
        place[links->sorted[i]] = (uint32_t)i;
    for (uint32_t number = 1; at < count; number++) {
        uint32_t path = links->sorted[at];
        paths->paths[path].rank = number;
        if (links->first[path] < count) {
            at = links->first[path];
            continue;
        }
        while (path != YARN_DUMP_NONE) {
            uint32_t next = place[path] + 1;
            uint32_t parent = paths->paths[path].parent;
            if (next < count && paths->paths[links->sorted[next]].parent == parent) {
                at = next;
                break;
            }
            path = parent;
        }
        if (path == YARN_DUMP_NONE)
            break;
    }
}

static int sort(struct yarn_paths *paths, const struct yarn_profile *profile)
{
    const size_t count = paths->count;
    struct links links = {
        .sorted = calloc(count + 1, sizeof *links.sorted),
        .first = calloc(2 * count + 2, sizeof *links.first),
    };
    bool is_whole = links.sorted && links.first;
    if (is_whole) {
        struct order order = {paths, profile};
        for (size_t i = 0; i < count; i++) {
            links.sorted[i] = (uint32_t)i;
            links.first[i] = (uint32_t)count;
        }
        qsort_r(links.sorted, count, sizeof *links.sorted, compare, &order);
        for (size_t i = count; i-- > 0;) {
            uint32_t parent = paths->paths[links.sorted[i]].parent;
            if (parent != YARN_DUMP_NONE)
                links.first[parent] = (uint32_t)i;
        }
        rank(paths, &links);
    }
    free(links.sorted);
    free(links.first);
    return is_whole ? 0 : -ENOMEM;
}

int yarn_paths_init(struct yarn_paths *paths, const struct yarn_profile *profile)
{
    *paths = (struct yarn_paths){
        .of_stack = calloc(profile->nr_stacks + 1, sizeof *paths->of_stack),
    };
    int err = paths->of_stack ? fill(paths, profile) : -ENOMEM;
    if (!err)
        err = sort(paths, profile);
    if (err)
        yarn_paths_fini(paths);
    return err;
}

void yarn_paths_fini(struct yarn_paths *paths)
{
    free(paths->paths);
    free(paths->of_stack);
    *paths = (struct yarn_paths){0};
}
