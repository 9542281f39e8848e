/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>

#include "output/text/json.h"
#include "output/yarnprof/io/numbers.h"
#include "output/yarnprof/views/annotate.h"

/* What is put for one event. */
struct view {
    const struct yarn_annotate *annotate;
    const struct yarn_profile_event *event;
    const struct yarn_annotation_sums *sums;
    struct yarn_json *json;
};

static const char *text_of(const struct view *view, uint32_t text)
{
    return yarn_profile_text(view->annotate->annotation.profile, text);
}

static void put_sum(const struct view *view, const struct yarn_group *sum)
{
    uint64_t whole = view->event->total;
    yarn_json_u64(view->json, "self", sum->self);
    yarn_json_u64(view->json, "total", sum->total);
    yarn_json_real(view->json, "self_percent", yarn_percent(sum->self, whole));
    yarn_json_real(view->json, "total_percent", yarn_percent(sum->total, whole));
    yarn_json_real(view->json, "function_percent", yarn_percent(sum->self, view->sums->whole.self));
    yarn_json_u64(view->json, "samples", sum->samples);
    yarn_json_u64(view->json, "total_samples", sum->total_samples);
}

static void put_place(const struct view *view, uint32_t file, uint32_t line)
{
    if (line) {
        yarn_json_text(view->json, "file", text_of(view, file));
        yarn_json_u64(view->json, "line", line);
    } else {
        yarn_json_null(view->json, "file");
        yarn_json_null(view->json, "line");
    }
}

static void put_event(const struct view *view)
{
    yarn_json_begin_object(view->json, NULL);
    yarn_json_text(view->json, "name", text_of(view, view->event->name));
    yarn_json_text(view->json, "unit", text_of(view, view->event->unit));
    yarn_json_u64(view->json, "total", view->event->total);
    yarn_json_u64(view->json, "samples", view->event->samples);
    yarn_json_begin_object(view->json, "function");
    put_sum(view, &view->sums->whole);
    yarn_json_end_object(view->json);
    yarn_json_end_object(view->json);
}

static void put_line(const struct view *view, const struct yarn_annotate_file *file, size_t number)
{
    const struct yarn_annotation_line *line = &view->annotate->annotation.lines[number];
    yarn_json_begin_object(view->json, NULL);
    yarn_json_text(view->json, "event", text_of(view, view->event->name));
    put_place(view, line->file, line->line);
    const char *source = yarn_source_text_line(&file->text, line->line);
    if (source)
        yarn_json_text(view->json, "source", source);
    else
        yarn_json_null(view->json, "source");
    put_sum(view, &view->sums->lines[number]);
    yarn_json_end_object(view->json);
}

static int put_lines(const struct view *view)
{
    const struct yarn_annotate *annotate = view->annotate;
    uint8_t *shown =
        yarn_annotate_hottest(view->sums->lines, annotate->annotation.nr_lines, annotate->limit);
    if (!shown)
        return -ENOMEM;
    for (size_t i = 0; i < annotate->nr_files; i++) {
        const struct yarn_annotate_file *file = &annotate->files[i];
        for (size_t j = file->first; j < file->first + file->count; j++) {
            if (shown[j])
                put_line(view, file, j);
        }
    }
    free(shown);
    return 0;
}

static void put_instruction(const struct view *view, size_t number)
{
    const struct yarn_annotation *annotation = &view->annotate->annotation;
    const struct yarn_annotation_instruction *instruction = &annotation->instructions[number];
    const struct yarn_profile_function *function =
        &annotation->profile->functions[instruction->function];
    char address[24];
    (void)snprintf(address, sizeof address, "0x%" PRIx64, instruction->address);
    yarn_json_begin_object(view->json, NULL);
    yarn_json_text(view->json, "event", text_of(view, view->event->name));
    yarn_json_text(view->json, "address", address);
    yarn_json_text_or_null(view->json, "instruction", instruction->text ? instruction->text : "");
    put_place(view, instruction->file, instruction->line);
    yarn_json_text_or_null(
        view->json, "inlined",
        instruction->function == annotation->function ? "" : text_of(view, function->name));
    put_sum(view, &view->sums->instructions[number]);
    yarn_json_end_object(view->json);
}

/* Without a limit also those without a sample: the function as it is. */
static int put_instructions(const struct view *view)
{
    const struct yarn_annotate *annotate = view->annotate;
    const struct yarn_annotation *annotation = &annotate->annotation;
    uint8_t *shown = yarn_annotate_hottest(view->sums->instructions, annotation->nr_instructions,
                                           annotate->limit);
    if (!shown)
        return -ENOMEM;
    for (size_t i = 0; i < annotation->nr_instructions; i++) {
        if (shown[i] || (!annotate->limit && annotation->instructions[i].text))
            put_instruction(view, i);
    }
    free(shown);
    return 0;
}

enum part { EVENT, LINES, INSTRUCTIONS };

static int put_part(struct view *view, enum part part)
{
    switch (part) {
    case LINES:
        return put_lines(view);
    case INSTRUCTIONS:
        return put_instructions(view);
    default:
        put_event(view);
        return 0;
    }
}

static int put_part_of_events(const struct yarn_annotate *annotate, struct yarn_json *json,
                              const char *key, enum part part)
{
    const struct yarn_annotation *annotation = &annotate->annotation;
    int err = 0;
    yarn_json_begin_array(json, key);
    for (uint32_t i = 0; !err && i < annotation->profile->nr_events; i++) {
        struct yarn_annotation_sums sums;
        if (!annotation->choice.events[i])
            continue;
        err = yarn_annotation_sum(annotation, i, &sums);
        if (err)
            break;
        struct view view = {annotate, &annotation->profile->events[i], &sums, json};
        if (sums.whole.total_samples)
            err = put_part(&view, part);
        yarn_annotation_sums_fini(&sums);
    }
    yarn_json_end_array(json);
    return err;
}

static void put_function(const struct yarn_annotate *annotate, struct yarn_json *json)
{
    const struct yarn_annotation *annotation = &annotate->annotation;
    const struct yarn_profile *profile = annotation->profile;
    const struct yarn_profile_function *function = &profile->functions[annotation->function];
    const struct yarn_profile_module *module = &profile->modules[function->module];
    char build_id[2 * 64 + 1] = "";
    for (size_t i = 0; i < yarn_size_min(annotation->build_id.size, 64); i++)
        (void)snprintf(build_id + 2 * i, 3, "%02x", annotation->build_id.data[i]);
    yarn_json_text(json, "function", yarn_profile_text(profile, function->name));
    yarn_json_text(json, "module", yarn_profile_text(profile, module->base));
    yarn_json_text(json, "module_path", yarn_profile_text(profile, module->path));
    yarn_json_text_or_null(json, "build_id", build_id);
    if (function->is_inlined)
        yarn_json_bool(json, "inlined", true);
}

int yarn_annotate_json(const struct yarn_annotate *annotate, const struct yarn_out *out)
{
    struct yarn_json *json = out->json;
    put_function(annotate, json);
    int err = put_part_of_events(annotate, json, "events", EVENT);
    if (!err)
        err = put_part_of_events(annotate, json, "lines", LINES);
    if (!err)
        err = put_part_of_events(annotate, json, "instructions", INSTRUCTIONS);
    yarn_json_begin_array(json, "notes");
    for (size_t i = 0; i < annotate->nr_notes; i++)
        yarn_json_text(json, NULL, annotate->notes[i]);
    yarn_json_end_array(json);
    return err;
}
