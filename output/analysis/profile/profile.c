/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/profile/profile.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/text.h"
#include "output/analysis/value/name.h"
#include "output/base/array.h"

#define INDEX_MAX ((size_t)1 << 31)

static const char *const pseudo_names[YARN_FUNCTION_PSEUDO_COUNT] = {
    [YARN_FUNCTION_NO_STACK] = "[no stack]",
    [YARN_FUNCTION_TRUNCATED] = "[truncated]",
    [YARN_FUNCTION_NO_UNWIND_INFO] = "[no unwind information]",
    [YARN_FUNCTION_FAILED] = "[unwinding failed]",
};

uint32_t yarn_profile_root_of(uint32_t stack, uint32_t stack_end)
{
    if (stack == YARN_DUMP_NONE)
        return YARN_FUNCTION_NO_STACK;
    switch (stack_end) {
    case YARN_DUMP_STACK_TRUNCATED:
        return YARN_FUNCTION_TRUNCATED;
    case YARN_DUMP_STACK_NO_UNWIND_INFO:
        return YARN_FUNCTION_NO_UNWIND_INFO;
    case YARN_DUMP_STACK_FAILED:
        return YARN_FUNCTION_FAILED;
    default:
        return YARN_DUMP_NONE;
    }
}

static int add_fixed(struct yarn_profile *profile)
{
    uint32_t number;
    int err = yarn_profile_module(profile, yarn_span_of_text("[unknown]"), &number);
    for (size_t i = 0; !err && i < YARN_COUNT_OF(pseudo_names); i++) {
        uint32_t name;
        err = yarn_strings_intern(&profile->strings, yarn_span_of_text(pseudo_names[i]), &name);
        if (!err)
            err = yarn_profile_function(profile, 0, name, &number);
        if (!err)
            err = yarn_places_function(&profile->places, number, name, &number);
    }
    return err;
}

int yarn_profile_init(struct yarn_profile *profile)
{
    *profile = (struct yarn_profile){
        .kernel_names = YARN_KERNEL_NAMES_CLOSED,
        .event_index = YARN_TABLE_CLOSED,
        .raw_comms = YARN_TABLE_CLOSED,
        .module_index = YARN_TABLE_CLOSED,
        .function_index = YARN_TABLE_CLOSED,
    };
    int err = yarn_strings_init(&profile->strings);
    if (err)
        return err;
    err = yarn_table_open(&profile->event_index, 64, INDEX_MAX);
    if (!err)
        err = yarn_table_open(&profile->module_index, 64, INDEX_MAX);
    if (!err)
        err = yarn_table_open(&profile->function_index, 1024, INDEX_MAX);
    if (!err)
        err = yarn_table_open(&profile->frame_index, 1024, INDEX_MAX);
    if (!err)
        err = yarn_table_open(&profile->access_index, 64, INDEX_MAX);
    if (!err)
        err = yarn_places_init(&profile->places);
    if (!err)
        err = add_fixed(profile);
    if (err)
        yarn_profile_fini(profile);
    return err;
}

static void free_dump(struct yarn_profile_dump *dump)
{
    for (size_t i = 0; i < dump->nr_events; i++)
        free(dump->events[i].fields);
    free(dump->events);
    free(dump->modules);
    free(dump->counts);
    free(dump->tree_programs);
#define YARN_KEPT_EACH(NAME, name, names) free(dump->names);
#include "output/dump/format.def"
}

void yarn_profile_fini(struct yarn_profile *profile)
{
    yarn_machines_fini(&profile->machines);
    for (size_t i = 0; i < profile->nr_dumps; i++)
        free_dump(&profile->dumps[i]);
    free(profile->dumps);
    free(profile->events);
    free(profile->modules);
    free(profile->functions);
    free(profile->frames);
    free(profile->stacks);
    free(profile->threads);
    free(profile->details);
    free(profile->branches);
    free(profile->accesses);
    free(profile->phases);
    yarn_cells_fini(&profile->cells);
    yarn_comms_fini(&profile->comms);
    yarn_symbols_fini(&profile->symbols);
    yarn_places_fini(&profile->places);
    yarn_strings_fini(&profile->strings);
    yarn_table_close(&profile->event_index);
    yarn_table_close(&profile->raw_comms);
    yarn_table_close(&profile->module_index);
    yarn_table_close(&profile->function_index);
    yarn_table_close(&profile->frame_index);
    yarn_table_close(&profile->access_index);
    yarn_table_close(&profile->detail_index);
    yarn_stack_index_fini(&profile->stack_index);
    yarn_kernel_names_close(&profile->kernel_names);
    *profile = (struct yarn_profile){.kernel_names = YARN_KERNEL_NAMES_CLOSED};
}

int yarn_profile_event(struct yarn_profile *profile, const struct yarn_profile_event *event,
                       uint32_t *ret_event)
{
    uint64_t key = (uint64_t)event->words << 32 | event->unit;
    uint32_t found = yarn_table_find(&profile->event_index, key);
    if (found != YARN_TABLE_NONE) {
        *ret_event = found;
        return 0;
    }
    if (profile->nr_events >= UINT16_MAX)
        return -E2BIG;
    if (YARN_ARRAY_RESERVE(&profile->events, &profile->events_capacity, profile->nr_events + 1))
        return -ENOMEM;
    int err = yarn_table_put(&profile->event_index, key, (uint32_t)profile->nr_events);
    if (err)
        return err;
    profile->events[profile->nr_events] = *event;
    *ret_event = (uint32_t)profile->nr_events++;
    return 0;
}

int yarn_profile_module(struct yarn_profile *profile, struct yarn_span path, uint32_t *ret_module)
{
    uint32_t text, base;
    int err = yarn_strings_intern(&profile->strings,
                                  path.size ? path : yarn_span_of_text("[anonymous]"), &text);
    if (err)
        return err;
    uint32_t found = yarn_table_find(&profile->module_index, text);
    if (found != YARN_TABLE_NONE) {
        *ret_module = found;
        return 0;
    }
    const char *name = yarn_path_base(yarn_profile_text(profile, text));
    struct yarn_span shown = yarn_span_of_text(name);
    shown = yarn_span_sub(shown, 0, yarn_size_min(shown.size, NAME_MAX));
    err = yarn_strings_intern(&profile->strings, shown, &base);
    if (err)
        return err;
    if (YARN_ARRAY_RESERVE(&profile->modules, &profile->modules_capacity, profile->nr_modules + 1))
        return -ENOMEM;
    err = yarn_table_put(&profile->module_index, text, (uint32_t)profile->nr_modules);
    if (err)
        return err;
    const char *file = yarn_strings_keep(&profile->strings, path);
    if (!file)
        return -ENOMEM;
    profile->modules[profile->nr_modules] =
        (struct yarn_profile_module){.path = text, .base = base, .file = file};
    *ret_module = (uint32_t)profile->nr_modules++;
    return 0;
}

static int add_function(struct yarn_profile *profile, struct yarn_profile_function function,
                        uint32_t *ret_function)
{
    uint64_t key =
        (uint64_t)function.is_inlined << 63 | (uint64_t)function.module << 32 | function.name;
    uint32_t found = yarn_table_find(&profile->function_index, key);
    if (found != YARN_TABLE_NONE) {
        *ret_function = found;
        return 0;
    }
    if (YARN_ARRAY_RESERVE(&profile->functions, &profile->functions_capacity,
                           profile->nr_functions + 1))
        return -ENOMEM;
    int err = yarn_table_put(&profile->function_index, key, (uint32_t)profile->nr_functions);
    if (err)
        return err;
    profile->functions[profile->nr_functions] = function;
    *ret_function = (uint32_t)profile->nr_functions++;
    return 0;
}

int yarn_profile_function(struct yarn_profile *profile, uint32_t module, uint32_t name,
                          uint32_t *ret_function)
{
    struct yarn_profile_function function = {.name = name, .module = module};
    return add_function(profile, function, ret_function);
}

int yarn_profile_inlined(struct yarn_profile *profile, uint32_t module, uint32_t name,
                         uint32_t *ret_function)
{
    struct yarn_profile_function function = {.name = name, .module = module, .is_inlined = true};
    return add_function(profile, function, ret_function);
}

static bool has_run_in(const struct yarn_profile_dump *dump, const struct yarn_profile_dump *chief)
{
    return chief->process.start_ns <= dump->process.start_ns && chief->last_ns >= dump->last_ns;
}

const struct yarn_profile_dump *yarn_profile_chief(const struct yarn_profile *profile)
{
    const struct yarn_profile_dump *busiest = NULL, *widest = NULL;
    bool is_around = true;
    for (size_t i = 0; i < profile->nr_dumps; i++) {
        const struct yarn_profile_dump *dump = &profile->dumps[i];
        if (!busiest || dump->trust.samples > busiest->trust.samples)
            busiest = dump;
        if (dump->has_process && (!widest || has_run_in(widest, dump)))
            widest = dump;
    }
    for (size_t i = 0; widest && is_around && i < profile->nr_dumps; i++)
        is_around = has_run_in(&profile->dumps[i], widest);
    return widest && is_around ? widest : busiest;
}

char *yarn_profile_phase_text(const struct yarn_profile *profile,
                              const struct yarn_profile_phase *phase)
{
    char *text = NULL;
    int size = asprintf(
        &text,
        "%s of pid %u has %.1f %% of %s by one of two periods that took turns and %.1f %% by the "
        "other",
        yarn_profile_text(profile, profile->functions[phase->function].name),
        profile->dumps[phase->dump].process.pid, 100 * phase->shares[0],
        yarn_profile_text(profile, profile->events[phase->event].name), 100 * phase->shares[1]);
    return size < 0 ? NULL : text;
}
