/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "core/sys/kernel_names.h"
#include "output/analysis/load/loader.h"
#include "output/analysis/value/name.h"
#include "output/base/array.h"

static const char kernel_module[] = "[kernel.kallsyms]";

/* "nf_hook [netfilter]": of a loadable module, whose name is the last word. The rest is the
 * function's. */
static struct yarn_span split_module(struct yarn_span *name)
{
    const char *text = (const char *)name->data;
    const char *bracket = name->size && text[name->size - 1] == ']' ? strrchr(text, '[') : NULL;
    if (!bracket || bracket == text || bracket[-1] != ' ')
        return yarn_span_of_text(kernel_module);
    size_t at = (size_t)(bracket - text);
    struct yarn_span module = yarn_span_from(*name, at);
    name->size = at - 1;
    return module;
}

int yarn_loader_kernel_function(struct yarn_profile *profile, uint32_t function,
                                uint32_t *ret_function)
{
    uint32_t module, other, text = profile->functions[function].name;
    struct yarn_span name = yarn_span_of_text(yarn_profile_text(profile, text));
    struct yarn_span home = split_module(&name);
    int err = yarn_profile_module(profile, home, &module);
    if (!err)
        err = yarn_strings_intern(&profile->strings, name, &text);
    if (!err)
        err = yarn_profile_function(profile, module, text, &other);
    if (err)
        return err;
    profile->functions[other].is_nameless = profile->functions[function].is_nameless;
    profile->functions[other].is_unknown = profile->functions[function].is_unknown;
    profile->functions[other].is_made = profile->functions[function].is_made;
    *ret_function = other;
    return 0;
}

static bool is_of_this_boot(const struct yarn_dump_process *process)
{
    char here[YARN_BOOT_ID_SIZE];
    yarn_kernel_boot_id(here);
    return here[0] && yarn_span_equal(process->boot_id, yarn_span_of_text(here));
}

static bool lacks_name(const struct yarn_profile *profile, const struct yarn_profile_frame *frame)
{
    return (frame->flags & YARN_DUMP_FRAME_KERNEL) &&
           profile->functions[frame->function].is_nameless;
}

/* Not of a loadable module: another may be at its place by now. */
static int add_kernel_name(struct yarn_loader *loader, uint64_t address)
{
    struct yarn_kernel_name found;
    if (!yarn_kernel_names_find(&loader->profile->kernel_names, address, &found) ||
        found.text.data[found.text.size - 1] == ']')
        return 0;
    struct yarn_dump_code_name record = {
        .module = YARN_DUMP_NONE,
        .address = address,
        .start = found.start,
        .end = found.end,
        .name = found.text,
    };
    return yarn_loader_on_code_name(loader, &record);
}

/* The process may have ended before the kernel's names were read: where the dump is of this very
 * boot, this machine's are added to those that came late. */
static int name_kernel(struct yarn_loader *loader)
{
    struct yarn_profile *profile = loader->profile;
    size_t first = loader->first_frame;
    while (first < profile->nr_frames && !lacks_name(profile, &profile->frames[first]))
        first++;
    if (first == profile->nr_frames || !is_of_this_boot(&yarn_loader_dump(loader)->process))
        return 0;
    while (!yarn_kernel_names_step(&profile->kernel_names, "/proc/kallsyms"))
        continue;
    int err = 0;
    for (size_t i = first; !err && i < profile->nr_frames; i++)
        if (lacks_name(profile, &profile->frames[i]))
            err = add_kernel_name(loader, profile->frames[i].address);
    return err;
}

int yarn_loader_on_code_name(void *self, const struct yarn_dump_code_name *record)
{
    struct yarn_loader *loader = self;
    struct yarn_late_name late = {
        .address = record->address,
        .start = record->start,
        .module = yarn_loader_module(loader, record->module).module,
        .function = YARN_NUMBER_NONE,
    };
    uint32_t name;
    int err = 0;
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

static int apply_late_names(struct yarn_loader *loader)
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

static int compare_modules(const void *a, const void *b)
{
    uint32_t one = ((const struct yarn_unnamed *)a)->symbol.module;
    uint32_t other = ((const struct yarn_unnamed *)b)->symbol.module;
    return one < other ? -1 : one > other;
}

/* Neither a record of the dump nor its lines have said it. */
static bool is_unnamed(const struct yarn_loader *loader, const struct yarn_unnamed *unnamed)
{
    const struct yarn_profile *profile = loader->profile;
    const struct yarn_profile_frame *frame = &profile->frames[unnamed->frame];
    return (frame->flags & YARN_DUMP_FRAME_UNNAMED) &&
           profile->functions[frame->function].is_nameless;
}

static int take_answer(struct yarn_loader *loader, const struct yarn_unnamed *unnamed,
                       const struct yarn_symbol_question *question)
{
    const struct yarn_dump_code_name record = {
        .module = unnamed->symbol.module,
        .address = question->vaddr,
        .start = question->answer.start,
        .end = question->answer.end,
        .name = question->answer.name,
    };
    const struct yarn_load_options *options = loader->options;
    int err = question->is_answered ? yarn_loader_on_code_name(loader, &record) : 0;
    return !err && question->is_answered && options->take_name
               ? options->take_name(options->names_self, &record)
               : err;
}

/* All are of one module. */
static int name_some(struct yarn_loader *loader, const struct yarn_unnamed *unnamed, size_t count,
                     struct yarn_symbol_question *questions)
{
    uint32_t at = yarn_loader_module(loader, unnamed->symbol.module).at;
    for (size_t i = 0; i < count; i++)
        questions[i] = (struct yarn_symbol_question){
            .vaddr = loader->profile->frames[unnamed[i].frame].address,
            .start = unnamed[i].symbol.start,
            .end = unnamed[i].symbol.end,
        };
    if (!at)
        return 0;
    const struct yarn_dump_module *module = &yarn_loader_dump(loader)->modules[at - 1];
    int err = yarn_build_names_ask(loader->files, module->path, module->build_id, questions, count);
    if (err)
        return err == -ENOMEM ? err : 0;
    for (size_t i = 0; !err && i < count; i++)
        err = take_answer(loader, &unnamed[i], &questions[i]);
    return err;
}

/* Adds to the names that came late what files at hand say of frames that were not asked for. */
static int name_files(struct yarn_loader *loader)
{
    struct yarn_unnamed *unnamed = loader->unnamed;
    size_t count = loader->nr_unnamed, kept = 0;
    loader->nr_unnamed = 0;
    int err = 0;
    for (size_t i = 0; i < count; i++)
        if (is_unnamed(loader, &unnamed[i]))
            unnamed[kept++] = unnamed[i];
    struct yarn_symbol_question *questions = kept ? malloc(kept * sizeof *questions) : NULL;
    if (!questions)
        return kept ? -ENOMEM : 0;
    qsort(unnamed, kept, sizeof *unnamed, compare_modules);
    for (size_t at = 0, end = 0; !err && at < kept; at = end) {
        while (end < kept && unnamed[end].symbol.module == unnamed[at].symbol.module)
            end++;
        err = name_some(loader, &unnamed[at], end - at, questions);
    }
    free(questions);
    return err;
}

int yarn_loader_name_code(struct yarn_loader *loader)
{
    if (loader->options->has_no_files)
        return apply_late_names(loader);
    /* Who takes the names for a dump takes those of files, and the kernel's cost 40 ms. */
    int err = loader->options->take_name ? 0 : name_kernel(loader);
    if (!err)
        err = apply_late_names(loader);
    if (!err)
        err = name_files(loader);
    return err ? err : apply_late_names(loader);
}
