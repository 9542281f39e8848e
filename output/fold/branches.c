/* SPDX-License-Identifier: Apache-2.0 */
#include "output/fold/branches.h"

#include <stdlib.h>

#include "output/base/array.h"

static int compare_numbers(uint64_t one, uint64_t other)
{
    return one < other ? -1 : one > other;
}

static int compare_ends(const void *a, const void *b)
{
    const struct yarn_profile_branch *one = a, *other = b;
    int order = compare_numbers(one->event, other->event);
    if (!order)
        order = compare_numbers(one->from, other->from);
    return order ? order : compare_numbers(one->to, other->to);
}

static int compare_counts(const void *a, const void *b)
{
    const struct yarn_profile_branch *one = a, *other = b;
    int order = compare_numbers(one->event, other->event);
    if (!order)
        order = compare_numbers(other->count, one->count);
    return order ? order : compare_ends(a, b);
}

/* Branches of the same ends and event become one. */
static void join(struct yarn_branches *branches)
{
    size_t count = 0;
    for (size_t i = 0; i < branches->count; i++) {
        const struct yarn_profile_branch *branch = &branches->rows[i];
        struct yarn_profile_branch *last = count ? &branches->rows[count - 1] : NULL;
        if (!last || compare_ends(last, branch)) {
            branches->rows[count++] = *branch;
            continue;
        }
        last->count += branch->count;
        last->mispredicted += branch->mispredicted;
        last->cycles += branch->cycles;
    }
    branches->count = count;
}

static bool is_in(const struct yarn_choice *choice, uint32_t frame)
{
    return frame != YARN_DUMP_NONE && choice->functions[choice->profile->frames[frame].function];
}

static int collect(const struct yarn_choice *choice, struct yarn_branches *branches)
{
    const struct yarn_profile *profile = choice->profile;
    int err = 0;
    for (size_t i = 0; !err && i < profile->nr_branches; i++) {
        const struct yarn_profile_branch *branch = &profile->branches[i];
        bool has_function =
            choice->has_all_functions || is_in(choice, branch->from) || is_in(choice, branch->to);
        if (choice->events[branch->event] && choice->threads[branch->thread] && has_function)
            err = YARN_ARRAY_PUT(&branches->rows, &branches->count, &branches->capacity, branch);
    }
    return err;
}

int yarn_branches_build(const struct yarn_choice *choice, struct yarn_branches *ret_branches)
{
    *ret_branches = (struct yarn_branches){.rows = NULL};
    int err = collect(choice, ret_branches);
    if (!err && ret_branches->count) {
        qsort(ret_branches->rows, ret_branches->count, sizeof ret_branches->rows[0], compare_ends);
        join(ret_branches);
        qsort(ret_branches->rows, ret_branches->count, sizeof ret_branches->rows[0],
              compare_counts);
    }
    if (err)
        yarn_branches_fini(ret_branches);
    return err;
}

void yarn_branches_fini(struct yarn_branches *branches)
{
    free(branches->rows);
    *branches = (struct yarn_branches){.rows = NULL};
}
