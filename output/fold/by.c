/* SPDX-License-Identifier: Apache-2.0 */
#include "output/fold/by.h"

/* ---- keys of a stack's frames ---- */

static uint32_t function_of(const struct yarn_profile *profile,
                            const struct yarn_profile_stack *stack)
{
    (void)profile;
    return stack->function;
}

static uint32_t place_of(const struct yarn_profile *profile, const struct yarn_profile_stack *stack)
{
    return profile->frames[stack->frame].place;
}

static uint32_t module_of(const struct yarn_profile *profile,
                          const struct yarn_profile_stack *stack)
{
    return profile->functions[stack->function].module;
}

/* ---- of a cell ---- */

static uint32_t thread_of(const struct yarn_profile *profile, const struct yarn_cell *cell)
{
    (void)profile;
    return cell->thread;
}

static uint32_t dump_of(const struct yarn_profile *profile, const struct yarn_cell *cell)
{
    return profile->threads[cell->thread].dump;
}

static uint32_t program_of(const struct yarn_profile *profile, const struct yarn_cell *cell)
{
    return profile->dumps[dump_of(profile, cell)].program;
}

static uint32_t command_of(const struct yarn_profile *profile, const struct yarn_cell *cell)
{
    return profile->dumps[dump_of(profile, cell)].command;
}

static uint32_t host_of(const struct yarn_profile *profile, const struct yarn_cell *cell)
{
    return profile->dumps[dump_of(profile, cell)].host;
}

static uint32_t rank_of(const struct yarn_profile *profile, const struct yarn_cell *cell)
{
    return profile->dumps[dump_of(profile, cell)].rank;
}

static uint32_t cpu_of(const struct yarn_profile *profile, const struct yarn_cell *cell)
{
    (void)profile;
    return cell->cpu;
}

static uint32_t event_of(const struct yarn_profile *profile, const struct yarn_cell *cell)
{
    (void)profile;
    return cell->event;
}

static uint32_t value_of(const struct yarn_profile *profile, const struct yarn_cell *cell)
{
    (void)profile;
    return cell->value;
}

/* ---- how many there are ---- */

static size_t count_functions(const struct yarn_profile *profile)
{
    return profile->nr_functions;
}

static size_t count_places(const struct yarn_profile *profile)
{
    return profile->places.count;
}

static size_t count_modules(const struct yarn_profile *profile)
{
    return profile->nr_modules;
}

static size_t count_threads(const struct yarn_profile *profile)
{
    return profile->nr_threads;
}

static size_t count_dumps(const struct yarn_profile *profile)
{
    return profile->nr_dumps;
}

static size_t count_cpus(const struct yarn_profile *profile)
{
    (void)profile;
    return (size_t)UINT16_MAX + 1;
}

static size_t count_events(const struct yarn_profile *profile)
{
    return profile->nr_events;
}

static size_t count_texts(const struct yarn_profile *profile)
{
    return profile->strings.count;
}

/* ---- their names ---- */

static uint32_t name_of_function(const struct yarn_profile *profile, uint32_t key)
{
    return profile->functions[key].name;
}

static uint32_t name_of_place(const struct yarn_profile *profile, uint32_t key)
{
    return profile->places.places[key].name;
}

static uint32_t name_of_module(const struct yarn_profile *profile, uint32_t key)
{
    return profile->modules[key].base;
}

static uint32_t name_of_thread(const struct yarn_profile *profile, uint32_t key)
{
    return profile->threads[key].comm;
}

static uint32_t name_of_dump(const struct yarn_profile *profile, uint32_t key)
{
    return profile->dumps[key].comm;
}

static uint32_t name_of_event(const struct yarn_profile *profile, uint32_t key)
{
    return profile->events[key].name;
}

static uint32_t name_of_text(const struct yarn_profile *profile, uint32_t key)
{
    (void)profile;
    return key;
}

/* ---- all of it ---- */

#define KEY(the_word, the_title, the_detail, ...)                                                  \
    {                                                                                              \
        .word = the_word, .title = the_title, .detail_title = the_detail, __VA_ARGS__              \
    }
#define BY_STACK(of, some, its) .of_stack = of, .count = some, .name = its
#define BY_CELL(of, some, its) .of_cell = of, .count = some, .name = its
#define BY_DUMP(of) BY_CELL(of, count_texts, name_of_text), .needs_threads = true

static const struct yarn_by_key keys[YARN_BY_COUNT] = {
    [YARN_BY_FUNCTION] = KEY("function", "FUNCTION", "MODULE",
                             BY_STACK(function_of, count_functions, name_of_function)),
    [YARN_BY_LINE] =
        KEY("line", "LINE", "FUNCTION", BY_STACK(place_of, count_places, name_of_place)),
    [YARN_BY_MODULE] =
        KEY("module", "MODULE", "PATH", BY_STACK(module_of, count_modules, name_of_module)),
    [YARN_BY_THREAD] =
        KEY("thread", "THREAD", "TID", BY_CELL(thread_of, count_threads, name_of_thread),
            .needs_threads = true),
    [YARN_BY_PROCESS] = KEY("process", "PROCESS", "PID",
                            BY_CELL(dump_of, count_dumps, name_of_dump), .needs_threads = true),
    [YARN_BY_PROGRAM] = KEY("program", "PROGRAM", "", BY_DUMP(program_of)),
    [YARN_BY_COMMAND] = KEY("command", "COMMAND", "", BY_DUMP(command_of)),
    [YARN_BY_HOST] = KEY("host", "HOST", "", BY_DUMP(host_of)),
    [YARN_BY_RANK] = KEY("rank", "RANK", "", BY_DUMP(rank_of)),
    [YARN_BY_CPU] = KEY("cpu", "CPU", "", BY_CELL(cpu_of, count_cpus, NULL)),
    [YARN_BY_EVENT] = KEY("event", "EVENT", "", BY_CELL(event_of, count_events, name_of_event)),
    [YARN_BY_ADDRESS] = KEY("address", "ADDRESS", "", BY_CELL(value_of, count_texts, name_of_text)),
    [YARN_BY_FIELD] = KEY(NULL, "VALUE", "", BY_CELL(value_of, count_texts, name_of_text)),
};

const struct yarn_by_key *yarn_by_key(enum yarn_by by)
{
    return &keys[by];
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
