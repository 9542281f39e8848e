/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/table/choice.h"

#include <stdlib.h>

#include "output/analysis/table/stack_sums.h"

int yarn_choice_init(struct yarn_choice *choice, const struct yarn_profile *profile,
                     const struct yarn_filter *filter)
{
    *choice = (struct yarn_choice){
        .events = yarn_filter_events(filter, profile),
        .threads = yarn_filter_threads(filter, profile),
    };
    bool is_whole = choice->events && choice->threads;
    if (is_whole && yarn_filter_is_by_function(filter)) {
        uint8_t *functions = yarn_filter_functions(filter, profile);
        choice->stacks = functions ? yarn_stacks_with(profile, functions) : NULL;
        free(functions);
        is_whole = choice->stacks;
    }
    if (!is_whole)
        yarn_choice_fini(choice);
    return is_whole ? 0 : -ENOMEM;
}

void yarn_choice_fini(struct yarn_choice *choice)
{
    free(choice->events);
    free(choice->threads);
    free(choice->stacks);
    *choice = (struct yarn_choice){0};
}
