/* SPDX-License-Identifier: Apache-2.0 */
#include "output/export/firefox_tables.h"

#include <stdlib.h>

#include "output/base/array.h"

/*
 * A stack of the profile is, for each pseudo-function that may be around it, another stack here:
 * thing (root + 1) * nr_stacks + stack. Behind all those stand the pseudo-functions alone.
 */
static uint32_t thing_of_stack(const struct yarn_firefox_tables *tables, uint32_t stack,
                               uint32_t root)
{
    uint32_t nr_stacks = (uint32_t)tables->export->profile->nr_stacks;
    return (root + 1) * nr_stacks + stack;
}

static uint32_t thing_of_root(const struct yarn_firefox_tables *tables, uint32_t root)
{
    return thing_of_stack(tables, root, YARN_FUNCTION_PSEUDO_COUNT);
}

/* Pseudo-functions are frames too, behind all others. */
static uint32_t frame_of_root(const struct yarn_firefox_tables *tables, uint32_t root)
{
    return (uint32_t)tables->export->profile->nr_frames + root;
}

static int number_things(struct yarn_firefox_tables *tables)
{
    const struct yarn_profile *profile = tables->export->profile;
    size_t nr_stacks = profile->nr_stacks * (YARN_FUNCTION_PSEUDO_COUNT + 2);
    if (nr_stacks > UINT32_MAX - YARN_FUNCTION_PSEUDO_COUNT)
        return -E2BIG;
    int err = yarn_numbering_init(&tables->stacks, nr_stacks + YARN_FUNCTION_PSEUDO_COUNT);
    if (!err)
        err = yarn_numbering_init(&tables->frames, profile->nr_frames + YARN_FUNCTION_PSEUDO_COUNT);
    if (!err)
        err = yarn_numbering_init(&tables->functions, profile->nr_functions);
    if (!err)
        err = yarn_numbering_init(&tables->symbols, profile->nr_functions);
    if (!err)
        err = yarn_numbering_init(&tables->resources, profile->nr_modules);
    if (!err)
        err = yarn_numbering_init(&tables->libs, profile->nr_modules);
    return err ? err : yarn_numbering_init(&tables->sources, profile->strings.count);
}

/* Inlined functions follow their frame. */
static void look_at_frames(struct yarn_firefox_tables *tables)
{
    const struct yarn_profile *profile = tables->export->profile;
    uint32_t outer = 0;
    for (uint32_t i = 0; i < profile->nr_frames; i++) {
        const struct yarn_profile_frame *frame = &profile->frames[i];
        if (i > outer + profile->frames[outer].nr_inlined || i == 0)
            outer = i;
        tables->outer[i] = outer;
        if (!tables->files[frame->function])
            tables->files[frame->function] = frame->file;
        if (outer == i && tables->mappings.homes[i].mapping != YARN_DUMP_NONE)
            tables->symbol_frames[frame->function] = i;
    }
}

int yarn_firefox_tables_init(struct yarn_firefox_tables *tables, const struct yarn_export *export)
{
    const struct yarn_profile *profile = export->profile;
    *tables = (struct yarn_firefox_tables){
        .export = export,
        .files = calloc(profile->nr_functions + 1, sizeof *tables->files),
        .outer = calloc(profile->nr_frames + 1, sizeof *tables->outer),
        .symbol_frames = calloc(profile->nr_functions + 1, sizeof *tables->symbol_frames),
    };
    int err = tables->files && tables->outer && tables->symbol_frames
                  ? yarn_export_mappings_init(&tables->mappings, export)
                  : -ENOMEM;
    if (!err)
        err = yarn_strings_init(&tables->strings);
    if (!err)
        err = number_things(tables);
    if (err) {
        yarn_firefox_tables_fini(tables);
        return err;
    }
    look_at_frames(tables);
    return 0;
}

void yarn_firefox_tables_fini(struct yarn_firefox_tables *tables)
{
    yarn_export_mappings_fini(&tables->mappings);
    yarn_strings_fini(&tables->strings);
    yarn_numbering_fini(&tables->sources);
    yarn_numbering_fini(&tables->libs);
    yarn_numbering_fini(&tables->stacks);
    yarn_numbering_fini(&tables->frames);
    yarn_numbering_fini(&tables->functions);
    yarn_numbering_fini(&tables->resources);
    yarn_numbering_fini(&tables->symbols);
    free(tables->files);
    free(tables->outer);
    free(tables->symbol_frames);
    free(tables->path);
    *tables = (struct yarn_firefox_tables){0};
}

int yarn_firefox_string(struct yarn_firefox_tables *tables, const char *text, uint32_t *ret_string)
{
    return yarn_strings_intern(&tables->strings, yarn_span_of_text(text), ret_string);
}

/* Outer stacks first, so that a prefix has the smaller number. */
int yarn_firefox_stack(struct yarn_firefox_tables *tables, const struct yarn_export_sample *sample,
                       uint32_t *ret_stack)
{
    const struct yarn_profile *profile = tables->export->profile;
    size_t depth = 0;
    int err = 0;
    for (uint32_t stack = sample->stack; stack != YARN_DUMP_NONE;
         stack = profile->stacks[stack].parent) {
        uint32_t thing = thing_of_stack(tables, stack, sample->root);
        if (YARN_ARRAY_RESERVE(&tables->path, &tables->path_capacity, depth + 1))
            return -ENOMEM;
        tables->path[depth++] = thing;
        if (yarn_numbering_has(&tables->stacks, thing))
            break;
    }
    if (sample->root != YARN_DUMP_NONE)
        err = yarn_numbering_of(&tables->stacks, thing_of_root(tables, sample->root), ret_stack);
    while (!err && depth-- > 0)
        err = yarn_numbering_of(&tables->stacks, tables->path[depth], ret_stack);
    return err;
}

struct yarn_firefox_node yarn_firefox_node_of(const struct yarn_firefox_tables *tables,
                                              uint32_t thing)
{
    const struct yarn_profile *profile = tables->export->profile;
    uint32_t first_root = thing_of_root(tables, 0);
    if (thing >= first_root)
        return (struct yarn_firefox_node){frame_of_root(tables, thing - first_root),
                                          YARN_DUMP_NONE};
    uint32_t root = thing / (uint32_t)profile->nr_stacks - 1;
    const struct yarn_profile_stack *stack = &profile->stacks[thing % profile->nr_stacks];
    struct yarn_firefox_node node = {stack->frame, YARN_DUMP_NONE};
    if (stack->parent != YARN_DUMP_NONE)
        node.prefix = thing_of_stack(tables, stack->parent, root);
    else if (root != YARN_DUMP_NONE)
        node.prefix = thing_of_root(tables, root);
    return node;
}

void yarn_firefox_clear_thread(struct yarn_firefox_tables *tables)
{
    yarn_numbering_clear(&tables->stacks);
    yarn_numbering_clear(&tables->frames);
    yarn_numbering_clear(&tables->functions);
    yarn_numbering_clear(&tables->symbols);
    yarn_numbering_clear(&tables->resources);
}
