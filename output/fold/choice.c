/* SPDX-License-Identifier: Apache-2.0 */
#include "output/fold/choice.h"

#include <regex.h>
#include <stdlib.h>

typedef bool yarn_filter_test_fn(const struct yarn_filter *filter,
                                 const struct yarn_profile *profile, uint32_t number);

static uint8_t *test_each(const struct yarn_filter *filter, const struct yarn_profile *profile,
                          size_t count, yarn_filter_test_fn *test)
{
    uint8_t *passes = calloc(count + 1, 1);
    for (size_t i = 0; passes && i < count; i++)
        passes[i] = test(filter, profile, (uint32_t)i);
    return passes;
}

uint8_t *yarn_stacks_with(const struct yarn_profile *profile, const uint8_t *functions)
{
    uint8_t *stacks = calloc(profile->nr_stacks + 1, 1);
    for (size_t i = 0; stacks && i < profile->nr_stacks; i++) {
        const struct yarn_profile_stack *stack = &profile->stacks[i];
        stacks[i] = functions[stack->function] ||
                    (stack->parent != YARN_DUMP_NONE && stacks[stack->parent]);
    }
    return stacks;
}

int yarn_choice_init(struct yarn_choice *choice, const struct yarn_profile *profile,
                     const struct yarn_filter *filter)
{
    *choice = (struct yarn_choice){
        .profile = profile,
        .events = test_each(filter, profile, profile->nr_events, yarn_filter_has_event),
        .threads = test_each(filter, profile, profile->nr_threads, yarn_filter_has_thread),
        .functions = test_each(filter, profile, profile->nr_functions, yarn_filter_has_function),
        .root = YARN_CHOICE_ANY_ROOT,
        .has_all_threads = !yarn_filter_is_by_thread(filter),
        .has_all_functions = !yarn_filter_is_by_function(filter),
        .has_records = !filter->lists[YARN_FILTER_EVENT] && !yarn_filter_is_by_function(filter),
    };
    if (choice->functions)
        choice->stacks = yarn_stacks_with(profile, choice->functions);
    if (choice->events && choice->threads && choice->stacks)
        return 0;
    yarn_choice_fini(choice);
    return -ENOMEM;
}

void yarn_choice_fini(struct yarn_choice *choice)
{
    free(choice->events);
    free(choice->threads);
    free(choice->functions);
    free(choice->stacks);
    *choice = (struct yarn_choice){0};
}

const struct yarn_cell *yarn_choice_next(const struct yarn_choice *choice, uint32_t event,
                                         size_t *at)
{
    const struct yarn_cells *cells = &choice->profile->cells;
    while (*at < cells->count) {
        const struct yarn_cell *cell = &cells->cells[(*at)++];
        if ((cell->event == event || event == YARN_DUMP_NONE) && yarn_choice_has_cell(choice, cell))
            return cell;
    }
    return NULL;
}

static bool has_any(const struct yarn_filter *filter, const struct yarn_profile *profile,
                    size_t count, yarn_filter_test_fn *test)
{
    size_t i = 0;
    while (i < count && !test(filter, profile, (uint32_t)i))
        i++;
    return i < count;
}

const char *yarn_filter_in_vain(const struct yarn_filter *filter,
                                const struct yarn_profile *const profiles[], size_t count)
{
    for (int i = 0; i <= YARN_FILTER_FUNCTION; i++) {
        bool is_list = i < YARN_FILTER_FUNCTION;
        bool is_met = is_list ? !filter->lists[i] : !filter->has_function;
        struct yarn_filter alone = {.function = filter->function, .has_function = !is_list};
        if (is_list)
            alone.lists[i] = filter->lists[i];
        for (size_t at = 0; at < count && !is_met; at++) {
            const struct yarn_profile *of = profiles[at];
            is_met = i == YARN_FILTER_EVENT
                         ? has_any(&alone, of, of->nr_events, yarn_filter_has_event)
                     : i < YARN_FILTER_MODULE
                         ? has_any(&alone, of, of->nr_threads, yarn_filter_has_thread)
                         : has_any(&alone, of, of->nr_functions, yarn_filter_has_function);
        }
        if (!is_met)
            return yarn_filter_names[i];
    }
    return NULL;
}

/* Whole or without its parameters. */
static bool is_called(const char *name, const char *wanted)
{
    size_t size = strlen(wanted);
    return strncmp(name, wanted, size) == 0 && (!name[size] || name[size] == '(');
}

static const char *name_of(const struct yarn_profile *profile, size_t function)
{
    return yarn_profile_text(profile, profile->functions[function].name);
}

static void mark_matching(const struct yarn_profile *profile, const char *wanted,
                          const uint8_t *functions, uint8_t *called)
{
    regex_t regex;
    if (regcomp(&regex, wanted, REG_EXTENDED | REG_NOSUB))
        return;
    for (size_t i = 0; i < profile->nr_functions; i++)
        called[i] =
            (!functions || functions[i]) && regexec(&regex, name_of(profile, i), 0, NULL, 0) == 0;
    regfree(&regex);
}

uint8_t *yarn_functions_called(const struct yarn_profile *profile, const char *wanted,
                               const uint8_t *functions)
{
    uint8_t *called = calloc(profile->nr_functions + 1, 1);
    size_t count = 0;
    for (size_t i = 0; called && i < profile->nr_functions; i++) {
        called[i] = (!functions || functions[i]) && is_called(name_of(profile, i), wanted);
        count += called[i];
    }
    if (called && !count)
        mark_matching(profile, wanted, functions, called);
    return called;
}
