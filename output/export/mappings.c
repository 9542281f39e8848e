/* SPDX-License-Identifier: Apache-2.0 */
#include "output/export/mappings.h"

#include <stdlib.h>

#include "output/base/array.h"
#include "output/export/samples.h"

enum { KIND_FILE = 0 };

/* The modules of all dumps by their number in the profile. */
struct modules {
    struct yarn_strings paths;
    uint32_t *of_path; /* owned: text of `paths` to module */
    uint32_t **of;     /* owned: of each dump and module there; YARN_DUMP_NONE: none */
    size_t nr_dumps;
};

static void modules_fini(struct modules *modules)
{
    for (size_t i = 0; modules->of && i < modules->nr_dumps; i++)
        free(modules->of[i]);
    free((void *)modules->of);
    free(modules->of_path);
    yarn_strings_fini(&modules->paths);
}

static int index_paths(struct modules *modules, const struct yarn_profile *profile)
{
    modules->of_path = calloc(profile->nr_modules + 2, sizeof *modules->of_path);
    if (!modules->of_path)
        return -ENOMEM;
    int err = 0;
    for (size_t i = 0; !err && i < profile->nr_modules; i++) {
        const char *path = yarn_profile_text(profile, profile->modules[i].path);
        uint32_t text;
        err = yarn_strings_intern(&modules->paths, yarn_span_of_text(path), &text);
        if (!err)
            modules->of_path[text] = (uint32_t)i;
    }
    return err;
}

static int number_modules(struct modules *modules, const struct yarn_profile_dump *dump,
                          size_t nr_modules, uint32_t **ret_of)
{
    uint32_t *of = calloc(dump->nr_modules + 1, sizeof *of);
    if (!of)
        return -ENOMEM;
    *ret_of = of;
    for (size_t i = 0; i < dump->nr_modules; i++) {
        uint32_t text;
        int err = yarn_strings_intern(&modules->paths, dump->modules[i].path, &text);
        if (err)
            return err;
        /* Why the bound: each module's path is there already; another text is none of them. */
        of[i] = text <= nr_modules ? modules->of_path[text] : YARN_DUMP_NONE;
    }
    return 0;
}

static int modules_init(struct modules *modules, const struct yarn_profile *profile)
{
    *modules = (struct modules){.nr_dumps = profile->nr_dumps};
    int err = yarn_strings_init(&modules->paths);
    if (err)
        return err;
    err = index_paths(modules, profile);
    modules->of = calloc(profile->nr_dumps + 1, sizeof *modules->of);
    if (!err && !modules->of)
        err = -ENOMEM;
    for (size_t i = 0; !err && i < profile->nr_dumps; i++)
        err = number_modules(modules, &profile->dumps[i], profile->nr_modules, &modules->of[i]);
    if (err)
        modules_fini(modules);
    return err;
}

static bool is_same(const struct yarn_export_mapping *one, const struct yarn_export_mapping *other)
{
    return one->module == other->module && one->start == other->start && one->end == other->end &&
           one->file_offset == other->file_offset &&
           yarn_span_equal(one->build_id, other->build_id);
}

static int find_or_add(struct yarn_export_mappings *mappings,
                       const struct yarn_export_mapping *mapping, uint32_t *ret_mapping)
{
    for (size_t i = 0; i < mappings->count; i++) {
        if (is_same(&mappings->list[i], mapping)) {
            *ret_mapping = (uint32_t)i;
            return 0;
        }
    }
    if (YARN_ARRAY_RESERVE(&mappings->list, &mappings->capacity, mappings->count + 1))
        return -ENOMEM;
    *ret_mapping = (uint32_t)mappings->count;
    mappings->list[mappings->count++] = *mapping;
    return 0;
}

/* The last module that fits: one that is mapped again at its old address is recorded again. */
static int place_frame(struct yarn_export_mappings *mappings, const struct yarn_profile *profile,
                       const struct modules *modules, size_t frame)
{
    struct yarn_frame_home *home = &mappings->homes[frame];
    const struct yarn_profile_dump *dump = &profile->dumps[home->dump];
    uint64_t address = profile->frames[frame].address;
    uint32_t module = profile->functions[profile->frames[frame].function].module;
    for (size_t i = module ? dump->nr_modules : 0; i-- > 0;) {
        const struct yarn_dump_module *piece = &dump->modules[i];
        if (modules->of[home->dump][i] != module || address < piece->start - piece->bias ||
            address >= piece->end - piece->bias)
            continue;
        struct yarn_export_mapping mapping = {
            .module = module,
            .kind = piece->kind,
            .start = piece->start - piece->bias,
            .end = piece->end - piece->bias,
            .file_offset = piece->file_offset,
            .is_fixed = piece->kind == KIND_FILE && !piece->bias,
            .build_id = piece->build_id,
        };
        return find_or_add(mappings, &mapping, &home->mapping);
    }
    return 0;
}

static void mark_stacks(struct yarn_export_mappings *mappings, const struct yarn_export *export)
{
    const struct yarn_profile *profile = export->profile;
    struct yarn_export_samples samples = YARN_EXPORT_SAMPLES(export);
    struct yarn_export_sample sample;
    for (size_t i = 0; i < profile->nr_frames; i++)
        mappings->homes[i] = (struct yarn_frame_home){YARN_DUMP_NONE, YARN_DUMP_NONE};
    while (yarn_export_next(&samples, &sample)) {
        uint32_t stack = sample.stack;
        while (stack != YARN_DUMP_NONE && !mappings->stacks[stack]) {
            mappings->stacks[stack] = 1;
            mappings->homes[profile->stacks[stack].frame].dump = sample.dump;
            stack = profile->stacks[stack].parent;
        }
    }
}

int yarn_export_mappings_init(struct yarn_export_mappings *mappings,
                              const struct yarn_export *export)
{
    const struct yarn_profile *profile = export->profile;
    struct modules modules;
    *mappings = (struct yarn_export_mappings){
        .homes = calloc(profile->nr_frames + 1, sizeof *mappings->homes),
        .stacks = calloc(profile->nr_stacks + 1, sizeof *mappings->stacks),
    };
    int err = mappings->homes && mappings->stacks ? modules_init(&modules, profile) : -ENOMEM;
    if (!err) {
        mark_stacks(mappings, export);
        for (size_t i = 0; !err && i < profile->nr_frames; i++) {
            if (mappings->homes[i].dump != YARN_DUMP_NONE)
                err = place_frame(mappings, profile, &modules, i);
        }
        modules_fini(&modules);
    }
    if (err)
        yarn_export_mappings_fini(mappings);
    return err;
}

void yarn_export_mappings_fini(struct yarn_export_mappings *mappings)
{
    free(mappings->list);
    free(mappings->homes);
    free(mappings->stacks);
    *mappings = (struct yarn_export_mappings){0};
}

size_t yarn_export_mappings_main(const struct yarn_export_mappings *mappings,
                                 const struct yarn_profile *profile)
{
    uint32_t dump = yarn_export_main_dump(profile);
    for (size_t i = 0; dump != YARN_DUMP_NONE && i < mappings->count; i++) {
        const char *path =
            yarn_profile_text(profile, profile->modules[mappings->list[i].module].path);
        if (yarn_span_equal(yarn_span_of_text(path), profile->dumps[dump].process.exe))
            return i;
    }
    return mappings->count;
}
