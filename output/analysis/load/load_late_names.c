/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/load/loader.h"
#include "output/analysis/value/name.h"
#include "output/store/array.h"

int yarn_loader_on_code_name(void *self, const struct yarn_dump_code_name *record)
{
    struct yarn_loader *loader = self;
    struct yarn_late_name late = {
        .address = record->address, .start = record->start, .function = YARN_NUMBER_NONE};
    uint32_t name;
    int err = 0;
    late.module = yarn_number_map_find(&loader->modules, record->module);
    if (late.module == YARN_NUMBER_NONE)
        late.module = 0;
    if (record->name.size)
        err = yarn_name_demangle(&loader->profile->strings, record->name, &name);
    if (!err && record->name.size)
        err = yarn_profile_function(loader->profile, late.module, name, &late.function);
    if (err)
        return err;
    return YARN_ARRAY_PUT(&loader->late_names, &loader->nr_late_names, &loader->late_names_capacity,
                          &late);
}

static uint64_t key_of(uint32_t module, uint64_t address)
{
    return yarn_hash_u64(address) + module;
}

static int fill_index(const struct yarn_loader *loader, struct yarn_table *index)
{
    int err = 0;
    for (size_t i = 0; !err && i < loader->nr_late_names; i++) {
        const struct yarn_late_name *late = &loader->late_names[i];
        err = yarn_table_put(index, key_of(late->module, late->address), (uint32_t)i);
    }
    return err;
}

/* Names of kernel functions come for no module, as their addresses are in none. */
static uint32_t late_name_of(const struct yarn_loader *loader, const struct yarn_table *index,
                             const struct yarn_profile_frame *frame)
{
    const struct yarn_profile_function *function = &loader->profile->functions[frame->function];
    uint32_t module = frame->flags & YARN_DUMP_FRAME_KERNEL ? 0 : function->module;
    return function->is_nameless ? yarn_table_find(index, key_of(module, frame->address))
                                 : YARN_TABLE_NONE;
}

static int rename_frame(struct yarn_loader *loader, const struct yarn_late_name *late,
                        struct yarn_profile_frame *frame)
{
    struct yarn_trust *trust = &yarn_loader_dump(loader)->trust;
    uint32_t function = late->function;
    bool is_named = function != YARN_NUMBER_NONE;
    bool was_unnamed = frame->flags & YARN_DUMP_FRAME_UNNAMED;
    frame->flags &= ~(uint32_t)YARN_DUMP_FRAME_UNNAMED;
    if (is_named && !was_unnamed)
        trust->leaves_named_late += frame->leaf_samples;
    if (!is_named && was_unnamed)
        trust->leaves_without_name += frame->leaf_samples;
    if (!is_named)
        return 0;
    int err = frame->flags & YARN_DUMP_FRAME_KERNEL
                  ? yarn_loader_kernel_function(loader->profile, function, &function)
                  : 0;
    frame->function = function;
    frame->start = late->start;
    return err;
}

static int rename_frames(struct yarn_loader *loader, const struct yarn_table *index)
{
    struct yarn_profile *profile = loader->profile;
    int err = 0;
    for (size_t i = loader->first_frame; !err && i < profile->nr_frames; i++) {
        uint32_t found = late_name_of(loader, index, &profile->frames[i]);
        if (found != YARN_TABLE_NONE)
            err = rename_frame(loader, &loader->late_names[found], &profile->frames[i]);
    }
    if (err)
        return err;
    for (size_t i = loader->first_stack; i < profile->nr_stacks; i++)
        profile->stacks[i].function = profile->frames[profile->stacks[i].frame].function;
    return 0;
}

int yarn_loader_apply_late_names(struct yarn_loader *loader)
{
    struct yarn_table index = YARN_TABLE_CLOSED;
    if (!loader->nr_late_names)
        return 0;
    int err = yarn_table_open(&index, loader->nr_late_names * 2, (size_t)1 << 31);
    if (!err)
        err = fill_index(loader, &index);
    if (!err)
        err = rename_frames(loader, &index);
    yarn_table_close(&index);
    loader->nr_late_names = 0;
    return err;
}
