/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "output/analysis/load/loader.h"

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

static int take(struct yarn_loader *loader, const struct yarn_unnamed *unnamed,
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
    uint32_t at = yarn_number_map_find(&loader->module_at, unnamed->symbol.module);
    for (size_t i = 0; i < count; i++)
        questions[i] = (struct yarn_symbol_question){
            .vaddr = loader->profile->frames[unnamed[i].frame].address,
            .start = unnamed[i].symbol.start,
            .end = unnamed[i].symbol.end,
        };
    if (at == YARN_NUMBER_NONE)
        return 0;
    const struct yarn_dump_module *module = &yarn_loader_dump(loader)->modules[at];
    int err = yarn_build_names_ask(loader->files, module->path, module->build_id, questions, count);
    if (err)
        return err == -ENOMEM ? err : 0;
    for (size_t i = 0; !err && i < count; i++)
        err = take(loader, &unnamed[i], &questions[i]);
    return err;
}

int yarn_loader_name_files(struct yarn_loader *loader)
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
