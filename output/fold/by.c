/* SPDX-License-Identifier: Apache-2.0 */
#include "output/fold/by.h"

static const struct yarn_by_key keys[YARN_BY_COUNT] = {
    [YARN_BY_FUNCTION] = {"function", "FUNCTION", "MODULE", .is_of_frame = true},
    [YARN_BY_LINE] = {"line", "LINE", "FUNCTION", .is_of_frame = true},
    [YARN_BY_MODULE] = {"module", "MODULE", "PATH", .is_of_frame = true},
    [YARN_BY_THREAD] = {"thread", "THREAD", "TID", .needs_threads = true},
    [YARN_BY_PROCESS] = {"process", "PROCESS", "PID", .needs_threads = true},
    [YARN_BY_PROGRAM] = {"program", "PROGRAM", "", .needs_threads = true},
    [YARN_BY_COMMAND] = {"command", "COMMAND", "", .needs_threads = true},
    [YARN_BY_HOST] = {"host", "HOST", "", .needs_threads = true},
    [YARN_BY_RANK] = {"rank", "RANK", "", .needs_threads = true},
    [YARN_BY_CPU] = {"cpu", "CPU", ""},
    [YARN_BY_EVENT] = {"event", "EVENT", ""},
    [YARN_BY_ADDRESS] = {"address", "ADDRESS", ""},
    [YARN_BY_FIELD] = {NULL, "VALUE", ""},
};

const struct yarn_by_key *yarn_by_key(enum yarn_by by)
{
    return &keys[by];
}

size_t yarn_by_count(const struct yarn_profile *profile, enum yarn_by by)
{
    switch (by) {
    case YARN_BY_FUNCTION:
        return profile->nr_functions;
    case YARN_BY_LINE:
        return profile->places.count;
    case YARN_BY_MODULE:
        return profile->nr_modules;
    case YARN_BY_THREAD:
        return profile->nr_threads;
    case YARN_BY_PROCESS:
        return profile->nr_dumps;
    case YARN_BY_CPU:
        return (size_t)UINT16_MAX + 1;
    case YARN_BY_EVENT:
        return profile->nr_events;
    default:
        return profile->strings.count;
    }
}

uint32_t yarn_by_of_stack(const struct yarn_profile *profile, enum yarn_by by,
                          const struct yarn_profile_stack *stack)
{
    return by == YARN_BY_FUNCTION ? stack->function
           : by == YARN_BY_LINE   ? profile->frames[stack->frame].place
                                  : profile->functions[stack->function].module;
}

uint32_t yarn_by_of_cell(const struct yarn_profile *profile, enum yarn_by by,
                         const struct yarn_cell *cell)
{
    if (by == YARN_BY_THREAD)
        return cell->thread;
    if (by == YARN_BY_CPU)
        return cell->cpu;
    if (by == YARN_BY_EVENT)
        return cell->event;
    if (by == YARN_BY_ADDRESS || by == YARN_BY_FIELD)
        return cell->value;
    uint32_t number = profile->threads[cell->thread].dump;
    const struct yarn_profile_dump *dump = &profile->dumps[number];
    return by == YARN_BY_PROCESS   ? number
           : by == YARN_BY_PROGRAM ? dump->program
           : by == YARN_BY_COMMAND ? dump->command
           : by == YARN_BY_HOST    ? dump->host
                                   : dump->rank;
}

static uint32_t text_of(const struct yarn_profile *profile, enum yarn_by by, uint32_t key)
{
    switch (by) {
    case YARN_BY_FUNCTION:
        return profile->functions[key].name;
    case YARN_BY_LINE:
        return profile->places.places[key].name;
    case YARN_BY_MODULE:
        return profile->modules[key].base;
    case YARN_BY_THREAD:
        return profile->threads[key].comm;
    case YARN_BY_PROCESS:
        return profile->dumps[key].comm;
    case YARN_BY_EVENT:
        return profile->events[key].name;
    default:
        return key;
    }
}

const char *yarn_by_name(const struct yarn_profile *profile, enum yarn_by by, uint32_t key)
{
    return by == YARN_BY_CPU ? "" : yarn_profile_text(profile, text_of(profile, by, key));
}

bool yarn_by_parse(const char *word, enum yarn_by *ret_by)
{
    for (size_t i = 0; i < YARN_BY_COUNT; i++) {
        if (keys[i].word && strcmp(keys[i].word, word) == 0) {
            *ret_by = (enum yarn_by)i;
            return true;
        }
    }
    return false;
}
