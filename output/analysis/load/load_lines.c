/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "output/analysis/load/loader.h"
#include "output/analysis/value/name.h"
#include "output/base/array.h"

int yarn_loader_note_lines(struct yarn_loader *loader, const struct yarn_dump_module *module,
                           uint32_t *ret_lines)
{
    struct yarn_lines *lines = loader->options->lines;
    char path[4096];
    uint32_t number;
    if (!lines || module->path.size >= sizeof path)
        return 0;
    if (module->path.size)
        memcpy(path, module->path.data, module->path.size);
    path[module->path.size] = 0;
    int err = yarn_lines_module(lines, path, module->build_id, module->file_bytes, &number);
    *ret_lines = err ? 0 : number + 1;
    return err;
}

static int intern(struct yarn_profile *profile, const char *text, uint32_t *ret_number)
{
    return yarn_strings_intern(&profile->strings, yarn_span_of_text(text ? text : ""), ret_number);
}

static int intern_file(struct yarn_profile *profile, const struct yarn_line *line,
                       uint32_t *ret_number)
{
    char path[4096];
    if (!line->line || !line->folder)
        return intern(profile, line->line ? line->file : NULL, ret_number);
    int size = snprintf(path, sizeof path, "%s/%s", line->folder, line->file);
    return intern(profile, size > 0 && (size_t)size < sizeof path ? path : line->file, ret_number);
}

static int name_function(struct yarn_profile *profile, const char *mangled, uint32_t *ret_name)
{
    return yarn_name_demangle(&profile->strings, yarn_span_of_text(mangled), ret_name);
}

/* The frame as it was recorded gets a place in the source and, if need be, a name. */
static int place_frame(struct yarn_profile *profile, uint32_t number, const struct yarn_line *outer,
                       const struct yarn_line *line)
{
    struct yarn_profile_frame *frame = &profile->frames[number];
    const struct yarn_profile_function *function = &profile->functions[frame->function];
    uint32_t name;
    int err = 0;
    if (line->line)
        err = intern_file(profile, line, &frame->file);
    frame->line = frame->file ? line->line : 0;
    if (err || !function->is_nameless || !outer->function)
        return err;
    err = name_function(profile, outer->function, &name);
    return err ? err : yarn_profile_function(profile, function->module, name, &frame->function);
}

static int add_inlined(struct yarn_profile *profile, uint32_t around, const struct yarn_line *line)
{
    struct yarn_profile_frame frame = profile->frames[around];
    uint32_t name;
    int err = name_function(profile, line->function ? line->function : "[unknown]", &name);
    if (!err)
        err = yarn_profile_inlined(profile, profile->functions[frame.function].module, name,
                                   &frame.function);
    if (!err)
        err = intern_file(profile, line, &frame.file);
    if (err)
        return err;
    frame.line = frame.file ? line->line : 0;
    frame.start = UINT64_MAX;
    return YARN_ARRAY_PUT(&profile->frames, &profile->nr_frames, &profile->frames_capacity, &frame);
}

int yarn_loader_add_inlined(struct yarn_loader *loader, const struct yarn_dump_frame *record)
{
    struct yarn_profile *profile = loader->profile;
    uint32_t around = (uint32_t)profile->nr_frames - 1;
    uint32_t lines = yarn_loader_module(loader, loader->symbols[record->symbol].module).lines;
    struct yarn_line_chain chain;
    if (!lines)
        return 0;
    int err = yarn_lines_find(loader->options->lines, lines - 1, record->address, &chain);
    if (err || !chain.count)
        return err;
    const struct yarn_line *outer = &chain.lines[chain.count - 1];
    bool is_flat = loader->options->has_no_inlines;
    err = place_frame(profile, around, outer, is_flat ? &chain.lines[0] : outer);
    for (size_t i = chain.count - 1; !err && !is_flat && i-- > 0;)
        err = add_inlined(profile, around, &chain.lines[i]);
    if (!err)
        profile->frames[around].nr_inlined = (uint32_t)profile->nr_frames - 1 - around;
    return err;
}

/* "[main]", and what is called by its address as it is. */
static int place_function(struct yarn_profile *profile, uint32_t number, uint32_t *ret_place)
{
    const struct yarn_profile_function *function = &profile->functions[number];
    const char *name = yarn_profile_text(profile, function->name);
    char text[512];
    uint32_t shown = function->name;
    int err = 0;
    if (!function->is_nameless && name[0] != '[') {
        (void)snprintf(text, sizeof text, "[%.500s]", name);
        err = intern(profile, text, &shown);
    }
    return err ? err : yarn_places_function(&profile->places, number, shown, ret_place);
}

/* A line is the same whether its function was inlined or not. */
static int place_line(struct yarn_profile *profile, const struct yarn_profile_frame *frame,
                      uint32_t *ret_place)
{
    const struct yarn_profile_function *function = &profile->functions[frame->function];
    struct yarn_place line = {.file = frame->file, .line = frame->line};
    int err = yarn_profile_function(profile, function->module, function->name, &line.function);
    return err ? err : yarn_places_line(&profile->places, &profile->strings, &line, ret_place);
}

int yarn_loader_place_frames(struct yarn_loader *loader)
{
    struct yarn_profile *profile = loader->profile;
    int err = 0;
    if (!loader->options->lines)
        return 0;
    for (size_t i = loader->first_frame; !err && i < profile->nr_frames; i++) {
        struct yarn_profile_frame *frame = &profile->frames[i];
        err = frame->line ? place_line(profile, frame, &frame->place)
                          : place_function(profile, frame->function, &frame->place);
    }
    return err;
}
