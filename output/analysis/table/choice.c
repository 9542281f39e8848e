/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/table/choice.h"

#include <stdlib.h>

#include "output/analysis/table/stack_sums.h"

int yarn_choice_stacks(const struct yarn_profile *profile, const struct yarn_filter *filter,
                       uint8_t **ret_stacks)
{
    if (!yarn_filter_is_by_function(filter))
        return 0;
    uint8_t *functions = yarn_filter_functions(filter, profile);
    if (functions)
        *ret_stacks = yarn_stacks_with(profile, functions);
    free(functions);
    return *ret_stacks ? 0 : -ENOMEM;
}

int yarn_choice_init(struct yarn_choice *choice, const struct yarn_profile *profile,
                     const struct yarn_filter *filter)
{
    *choice = (struct yarn_choice){
        .events = yarn_filter_events(filter, profile),
        .threads = yarn_filter_threads(filter, profile),
    };
    int err = choice->events && choice->threads
                  ? yarn_choice_stacks(profile, filter, &choice->stacks)
                  : -ENOMEM;
    if (err) {
        yarn_choice_fini(choice);
        return err;
    }
    choice->has_all_threads = !yarn_filter_is_by_thread(filter);
    choice->has_records = !filter->events && !yarn_filter_is_by_function(filter);
    return 0;
}

void yarn_choice_fini(struct yarn_choice *choice)
{
    free(choice->events);
    free(choice->threads);
    free(choice->stacks);
    *choice = (struct yarn_choice){0};
}
