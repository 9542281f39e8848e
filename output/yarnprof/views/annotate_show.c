/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>

#include "core/base/text.h"
#include "output/text/legible.h"
#include "output/yarnprof/io/columns.h"
#include "output/yarnprof/io/numbers.h"
#include "output/yarnprof/show/table.h"
#include "output/yarnprof/views/annotate.h"

enum {
    NUMBERS_COLUMNS = 32,
    LINE_COLUMNS = 10,
    TAB = 4,
    TEXT_SIZE = 1024,
    PLACE_MOST = 32,
    PLACE_LEAST = 7,
    TEXT_LEAST = 17
};

/* The view of one event. */
struct view {
    const struct yarn_annotate *annotate;
    const struct yarn_out *out;
    const struct yarn_profile_event *event;
    const char *unit;
    const struct yarn_annotation_sums *sums;
};

/* A line or an instruction. Texts are NULL where nothing is known. */
struct spot {
    const char *event, *file, *source, *instruction, *inlined;
    uint32_t line; /* 0: unknown */
    uint64_t address;
    bool is_sampled; /* else it surrounds others */
    struct yarn_group sum;
};

static int by_heat(const void *a, const void *b, void *context)
{
    const struct yarn_group *sums = context;
    size_t i = *(const size_t *)a, j = *(const size_t *)b;
    const struct yarn_group *one = &sums[i], *other = &sums[j];
    if (one->self != other->self)
        return one->self > other->self ? -1 : 1;
    if (one->total != other->total)
        return one->total > other->total ? -1 : 1;
    return i < j ? -1 : i > j;
}

/* One byte an item, 1 where it is among the `limit` with most samples (0: has any), by itself and
 * then in total. To be freed; NULL: no memory. */
static uint8_t *find_hottest(const struct yarn_group *sums, size_t count, size_t limit)
{
    uint8_t *hottest = calloc(count + 1, 1);
    size_t *order = malloc((count + 1) * sizeof *order);
    size_t nr_sampled = 0;
    for (size_t i = 0; order && i < count; i++) {
        if (sums[i].total_samples || sums[i].samples)
            order[nr_sampled++] = i;
    }
    if (order)
        qsort_r(order, nr_sampled, sizeof *order, by_heat, (void *)sums);
    if (limit)
        nr_sampled = yarn_size_min(nr_sampled, limit);
    for (size_t i = 0; hottest && order && i < nr_sampled; i++)
        hottest[order[i]] = 1;
    if (!order) {
        free(hottest);
        hottest = NULL;
    }
    free(order);
    return hottest;
}

static const char *text_of(const struct view *view, uint32_t text)
{
    return yarn_profile_text(view->annotate->annotation.profile, text);
}

static void get_line(struct yarn_show_cell *cell)
{
    const struct spot *spot = cell->row;
    yarn_show_u64_if(cell, spot->line, spot->line);
    cell->paint = YARN_PAINT_FAINT;
}

static void get_address(struct yarn_show_cell *cell)
{
    const struct spot *spot = cell->row;
    yarn_show_add(cell, "%s%" PRIx64, cell->column->key ? "0x" : "", spot->address);
    cell->paint = YARN_PAINT_FAINT;
}

/* Of the event's total. */
static void get_percent(struct yarn_show_cell *cell)
{
    const struct view *view = cell->self;
    const struct spot *spot = cell->row;
    uint64_t part = cell->column->nth ? spot->sum.total : spot->sum.self;
    yarn_show_real(cell, yarn_percent(part, view->event->total));
}

/* Of what the function itself spent; text has blanks where it spent nothing there. */
static void get_share(struct yarn_show_cell *cell)
{
    const struct view *view = cell->self;
    const struct spot *spot = cell->row;
    if (view->out->json || (spot->is_sampled && spot->sum.samples))
        yarn_show_real(cell, yarn_percent(spot->sum.self, view->sums->whole.self));
    else
        yarn_show_text(cell, "");
}

static void get_amount(struct yarn_show_cell *cell)
{
    const struct view *view = cell->self;
    const struct spot *spot = cell->row;
    bool is_total = cell->column->nth;
    bool is_any = spot->is_sampled && (is_total ? spot->sum.total_samples : spot->sum.samples);
    uint64_t amount = is_total ? spot->sum.total : spot->sum.self;
    yarn_show_add(cell, "%s", is_any ? yarn_number_in_unit(amount, view->unit).text : "");
}

/* Tabs as an editor would show them. */
static void get_source_text(struct yarn_show_cell *cell)
{
    char text[TEXT_SIZE];
    size_t size = 0;
    const char *source = ((const struct spot *)cell->row)->source;
    if (!source || !source[0]) {
        cell->kind = YARN_SHOW_MISSING;
        return;
    }
    for (; *source && size + TAB < sizeof text; source++) {
        size_t blanks = *source == '\t' ? TAB - size % TAB : 0;
        if (*source == '\r')
            continue;
        if (!blanks)
            text[size++] = *source;
        for (; blanks; blanks--)
            text[size++] = ' ';
    }
    text[size] = 0;
    yarn_show_add(cell, "%s", text);
}

/* Where a place follows the instruction is filled up; where none does it has all the room. */
static void get_instruction_text(struct yarn_show_cell *cell)
{
    const struct spot *spot = cell->row;
    const char *text = spot->instruction;
    bool has_place = spot->line && spot->is_sampled;
    if (has_place != cell->column->nth || (!text && !spot->line))
        cell->kind = YARN_SHOW_MISSING;
    else
        yarn_show_text(cell, text ? text : "");
}

/* "split.c:20", and what is inlined there. */
static void get_place(struct yarn_show_cell *cell)
{
    const struct spot *spot = cell->row;
    const struct view *view = cell->self;
    cell->kind = YARN_SHOW_MISSING;
    if (!spot->line || !spot->is_sampled || (view->out->columns && !cell->column->width))
        return;
    cell->kind = YARN_SHOW_TEXT;
    yarn_show_add(cell, "%s:%u%s%s", yarn_path_base(spot->file), spot->line,
                  spot->inlined ? " " : "", spot->inlined ? spot->inlined : "");
    cell->paint = YARN_PAINT_FAINT;
}

#define MEMBER(name) YARN_SHOW_MEMBER(struct spot, name)

static const struct yarn_show_column sums[] = {
    YARN_SHOW_COLUMN("self", NULL, MEMBER(sum.self)),
    YARN_SHOW_COLUMN("total", NULL, MEMBER(sum.total)),
    YARN_SHOW_COLUMN("self_percent", NULL, .get = get_percent),
    YARN_SHOW_COLUMN("total_percent", NULL, .get = get_percent, .nth = 1),
    YARN_SHOW_COLUMN("function_percent", NULL, .get = get_share),
    YARN_SHOW_COLUMN("samples", NULL, MEMBER(sum.samples)),
    YARN_SHOW_COLUMN("total_samples", NULL, MEMBER(sum.total_samples)),
    {0},
};

static const struct yarn_show_column lines[] = {
    YARN_SHOW_COLUMN("event", NULL, MEMBER(event)),
    YARN_SHOW_COLUMN("file", NULL, MEMBER(file)),
    YARN_SHOW_COLUMN("line", NULL, .get = get_line),
    YARN_SHOW_COLUMN("source", NULL, MEMBER(source)),
    {0},
};

static const struct yarn_show_column instructions[] = {
    YARN_SHOW_COLUMN("event", NULL, MEMBER(event)),
    YARN_SHOW_COLUMN("address", NULL, .get = get_address),
    YARN_SHOW_COLUMN("instruction", NULL, MEMBER(instruction)),
    YARN_SHOW_COLUMN("file", NULL, MEMBER(file)),
    YARN_SHOW_COLUMN("line", NULL, .get = get_line),
    YARN_SHOW_COLUMN("inlined", NULL, MEMBER(inlined)),
    {0},
};

#define NUMBERS(of_unit)                                                                           \
    YARN_SHOW_COLUMN(NULL, "SHARE", .get = get_share, .unit = YARN_SHOW_SHARE, .width = 8),        \
        YARN_SHOW_COLUMN(NULL, strcmp(of_unit, "ns") == 0 ? "SELF" : "COUNT", .get = get_amount,   \
                         .gap = 2, .width = 10),                                                   \
        YARN_SHOW_COLUMN(NULL, "TOTAL", .get = get_amount, .nth = 1, .gap = 2, .width = 10)

static void print_gap(const struct view *view, int column)
{
    (void)fprintf(view->out->file, "%s%*s%s\n", yarn_out_paint(view->out, YARN_PAINT_FAINT),
                  column + 2, "…", yarn_out_plain(view->out));
}

/* ---- lines ---- */

/* `sum` NULL: the line was not sampled. */
static struct spot spot_of_line(const struct view *view, const struct yarn_annotate_file *file,
                                uint32_t number, const struct yarn_group *sum)
{
    return (struct spot){
        .event = text_of(view, view->event->name),
        .file = number ? file->path : NULL,
        .line = number,
        .source = yarn_source_text_line(&file->text, number),
        .is_sampled = sum != NULL,
        .sum = sum ? *sum : (struct yarn_group){0},
    };
}

/* NULL: the line of that number was not sampled. */
static const struct yarn_group *sum_of(const struct view *view,
                                       const struct yarn_annotate_file *file, const uint8_t *shown,
                                       uint32_t number)
{
    const struct yarn_annotation_line *all = view->annotate->annotation.lines;
    for (size_t i = file->first; i < file->first + file->count; i++)
        if (all[i].line == number && shown[i])
            return &view->sums->lines[i];
    return NULL;
}

/* The sampled lines of a file, with the lines around them. */
static void print_file(const struct view *view, const struct yarn_annotate_file *file,
                       const uint8_t *shown)
{
    const struct yarn_annotation_line *all = view->annotate->annotation.lines;
    size_t context = file->text.path ? view->annotate->context : 0;
    unsigned columns = (unsigned)view->out->columns, used = NUMBERS_COLUMNS + LINE_COLUMNS;
    uint32_t last = 0;
    const struct yarn_show_column texts[] = {
        NUMBERS(view->unit),
        YARN_SHOW_COLUMN(NULL, "LINE", .get = get_line, .gap = 2, .width = 6),
        YARN_SHOW_COLUMN(NULL, file->text.path ? "SOURCE" : "", .get = get_source_text,
                         .align = YARN_SHOW_TAIL, .gap = 2,
                         .width = columns > used + 1 ? columns - used
                                  : columns          ? 1
                                                     : 0),
        {0},
    };
    const struct yarn_show_table table = {
        .out = view->out, .self = view, .parts = {texts}, .has_paint = true};
    (void)fputc('\n', view->out->file);
    yarn_print_cut(view->out, file->text.path ? file->text.path : file->path, 0);
    (void)fputs("\n\n", view->out->file);
    yarn_show_head(&table);
    for (size_t i = file->first; i < file->first + file->count; i++) {
        if (!shown[i])
            continue;
        size_t from = all[i].line > context ? all[i].line - context : 1;
        size_t to = all[i].line + context;
        if (last && from > last + 1)
            print_gap(view, NUMBERS_COLUMNS + 6);
        for (size_t at = yarn_size_max(from, (size_t)last + 1); at <= to; at++) {
            if (at != all[i].line && !yarn_source_text_line(&file->text, at))
                break;
            last = (uint32_t)at;
            struct spot spot = spot_of_line(view, file, last, sum_of(view, file, shown, last));
            yarn_show_row(&table, &spot);
        }
    }
}

static void print_lines_of(const struct view *view, const struct yarn_annotate_file *file,
                           const uint8_t *shown)
{
    const struct yarn_group *first = &view->sums->lines[file->first];
    size_t nr_shown = 0;
    for (size_t i = file->first; i < file->first + file->count; i++)
        nr_shown += shown[i];
    if (nr_shown && file->path[0])
        print_file(view, file, shown);
    else if (nr_shown && view->annotate->nr_files > 1 && first->samples)
        (void)fprintf(view->out->file, "\n%s of the function are at no known line\n",
                      yarn_number_of_things(first->samples, "sample").text);
}

static int show_lines(const struct view *view)
{
    const struct yarn_annotate *annotate = view->annotate;
    const struct yarn_show_table table = {.out = view->out, .self = view, .parts = {lines, sums}};
    uint8_t *shown =
        find_hottest(view->sums->lines, annotate->annotation.nr_lines, annotate->limit);
    if (!shown)
        return -ENOMEM;
    for (size_t i = 0; i < annotate->nr_files; i++) {
        const struct yarn_annotate_file *file = &annotate->files[i];
        if (!view->out->json)
            print_lines_of(view, file, shown);
        for (size_t j = file->first; view->out->json && j < file->first + file->count; j++) {
            uint32_t number = annotate->annotation.lines[j].line;
            struct spot spot = spot_of_line(view, file, number, &view->sums->lines[j]);
            if (shown[j])
                yarn_show_row(&table, &spot);
        }
    }
    free(shown);
    return 0;
}

/* ---- instructions ---- */

static struct spot spot_of(const struct view *view, size_t number, bool is_sampled)
{
    const struct yarn_annotation *annotation = &view->annotate->annotation;
    const struct yarn_annotation_instruction *at = &annotation->instructions[number];
    const struct yarn_profile_function *function = &annotation->profile->functions[at->function];
    return (struct spot){
        .event = text_of(view, view->event->name),
        .file = at->line ? text_of(view, at->file) : NULL,
        .line = at->line,
        .address = at->address,
        .instruction = at->text && at->text[0] ? at->text : NULL,
        .inlined = at->function == annotation->function ? NULL : text_of(view, function->name),
        .is_sampled = is_sampled,
        .sum = view->sums->instructions[number],
    };
}

struct widths {
    size_t address;
    size_t text;  /* of an instruction with its place behind it */
    size_t alone; /* of one without */
    size_t place; /* 0: as long as it is */
};

static struct widths widths_of(const struct view *view, const uint8_t *shown)
{
    const struct yarn_annotation *annotation = &view->annotate->annotation;
    struct widths widths = {.address = 7};
    bool has_place = false;
    for (size_t i = 0; i < annotation->nr_instructions; i++) {
        const struct yarn_annotation_instruction *instruction = &annotation->instructions[i];
        char text[24];
        int size = snprintf(text, sizeof text, "%" PRIx64, instruction->address);
        widths.address = yarn_size_max(widths.address, (size_t)size);
        if (shown[i] && instruction->text)
            widths.text = yarn_size_max(widths.text, yarn_text_columns(instruction->text));
        has_place = has_place || (shown[i] && instruction->line);
    }
    size_t most = view->out->columns ? (size_t)view->out->columns : 120;
    size_t used = NUMBERS_COLUMNS + 4 + widths.address;
    widths.alone = most > used + TEXT_LEAST ? most - used : TEXT_LEAST;
    size_t beside = has_place ? PLACE_MOST + 2 : 0;
    widths.text = yarn_size_min(
        widths.text, widths.alone > beside + TEXT_LEAST ? widths.alone - beside : TEXT_LEAST);
    if (view->out->columns && widths.alone > widths.text + 2 + PLACE_LEAST)
        widths.place = yarn_size_min(PLACE_MOST, widths.alone - widths.text - 2);
    return widths;
}

static void print_instructions(const struct view *view, const uint8_t *shown)
{
    const struct yarn_annotation *annotation = &view->annotate->annotation;
    size_t context = view->annotate->context;
    struct widths widths = widths_of(view, shown);
    size_t next = 0; /* the first that is not printed yet */
    const struct yarn_show_column texts[] = {
        NUMBERS(view->unit),
        YARN_SHOW_COLUMN(NULL, "ADDRESS", .get = get_address, .gap = 2,
                         .width = (unsigned)widths.address),
        YARN_SHOW_COLUMN(NULL, view->annotate->disassembly.count ? "INSTRUCTION" : "",
                         .get = get_instruction_text, .nth = true, .align = YARN_SHOW_NAME,
                         .gap = 2, .width = (unsigned)widths.text),
        YARN_SHOW_COLUMN(NULL, "", .get = get_instruction_text, .align = YARN_SHOW_TAIL, .gap = 2,
                         .width = view->out->columns ? (unsigned)widths.alone : 0),
        YARN_SHOW_COLUMN(NULL, "", .get = get_place, .align = YARN_SHOW_TAIL, .gap = 2,
                         .width = (unsigned)widths.place),
        {0},
    };
    const struct yarn_show_table table = {
        .out = view->out, .self = view, .parts = {texts}, .has_paint = true};
    (void)fputc('\n', view->out->file);
    yarn_show_head(&table);
    for (size_t i = 0; i < annotation->nr_instructions; i++) {
        if (!shown[i])
            continue;
        size_t from = i > context ? i - context : 0;
        if (next && from > next)
            print_gap(view, NUMBERS_COLUMNS + (int)widths.address);
        for (size_t at = yarn_size_max(from, next);
             at <= i + context && at < annotation->nr_instructions; at++) {
            struct spot spot = spot_of(view, at, shown[at]);
            yarn_show_row(&table, &spot);
            next = at + 1;
        }
    }
}

/* Of JSON without a limit also those without a sample: the function as it is. */
static int show_instructions(const struct view *view)
{
    const struct yarn_annotate *annotate = view->annotate;
    const struct yarn_annotation *annotation = &annotate->annotation;
    const struct yarn_show_table table = {
        .out = view->out, .self = view, .parts = {instructions, sums}};
    uint8_t *shown =
        find_hottest(view->sums->instructions, annotation->nr_instructions, annotate->limit);
    if (!shown)
        return -ENOMEM;
    if (!view->out->json)
        print_instructions(view, shown);
    for (size_t i = 0; view->out->json && i < annotation->nr_instructions; i++) {
        struct spot spot = spot_of(view, i, true);
        if (shown[i] || (!annotate->limit && annotation->instructions[i].text))
            yarn_show_row(&table, &spot);
    }
    free(shown);
    return 0;
}

/* ---- all of it ---- */

static int put_event(const struct view *view)
{
    struct yarn_json *json = view->out->json;
    const struct spot whole = {.sum = view->sums->whole};
    yarn_json_begin_object(json, NULL);
    yarn_json_text(json, "name", text_of(view, view->event->name));
    yarn_json_text(json, "unit", view->unit);
    yarn_json_u64(json, "total", view->event->total);
    yarn_json_u64(json, "samples", view->event->samples);
    yarn_show_object(&(struct yarn_show_table){.out = view->out, .self = view, .parts = {sums}},
                     "function", &whole);
    yarn_json_end_object(json);
    return 0;
}

static int print_event(const struct view *view)
{
    const struct yarn_annotation *annotation = &view->annotate->annotation;
    const struct yarn_profile_function *function =
        &annotation->profile->functions[annotation->function];
    const struct yarn_group *whole = &view->sums->whole;
    FILE *file = view->out->file;
    (void)fputs(yarn_out_paint(view->out, YARN_PAINT_HEAD), file);
    yarn_print_cut(view->out, text_of(view, function->name), 0);
    (void)fputs(yarn_out_plain(view->out), file);
    (void)fputs(function->is_inlined ? " (inlined), in " : ", in ", file);
    yarn_print_cut(view->out, text_of(view, annotation->profile->modules[function->module].path),
                   0);
    (void)fputc('\n', file);
    yarn_print_cut(view->out, text_of(view, view->event->name), 0);
    (void)fprintf(file, ": %.2f %% in itself (%s), %.2f %% in total (%s)\n",
                  yarn_percent(whole->self, view->event->total),
                  yarn_number_in_unit(whole->self, view->unit).text,
                  yarn_percent(whole->total, view->event->total),
                  yarn_number_in_unit(whole->total, view->unit).text);
    for (size_t i = 0; i < view->annotate->nr_notes; i++) {
        (void)fprintf(file, "%snote: ", yarn_out_paint(view->out, YARN_PAINT_WARNING));
        yarn_print_cut(view->out, view->annotate->notes[i], 0);
        (void)fprintf(file, "%s\n", yarn_out_plain(view->out));
    }
    int err = show_lines(view);
    return err || function->is_inlined ? err : show_instructions(view);
}

/* Calls back for each event that the function has samples of. */
static int for_events(const struct yarn_annotate *annotate, const struct yarn_out *out,
                      int (*show)(const struct view *view))
{
    const struct yarn_annotation *annotation = &annotate->annotation;
    const struct yarn_profile *profile = annotation->profile;
    size_t nr_shown = 0;
    int err = 0;
    for (uint32_t i = 0; !err && i < profile->nr_events; i++) {
        struct yarn_annotation_sums of_event;
        if (!annotation->choice.events[i])
            continue;
        err = yarn_annotation_sum(annotation, i, &of_event);
        if (err)
            break;
        const struct yarn_profile_event *event = &profile->events[i];
        struct view view = {annotate, out, event, yarn_profile_text(profile, event->unit),
                            &of_event};
        if (of_event.whole.total_samples) {
            (void)fputs(!out->json && nr_shown++ ? "\n" : "", out->file);
            err = show(&view);
        }
        yarn_annotation_sums_fini(&of_event);
    }
    return err;
}

static void put_function(const struct yarn_annotate *annotate, struct yarn_json *json)
{
    const struct yarn_annotation *annotation = &annotate->annotation;
    const struct yarn_profile *profile = annotation->profile;
    const struct yarn_profile_function *function = &profile->functions[annotation->function];
    const struct yarn_profile_module *module = &profile->modules[function->module];
    char build_id[2 * 64 + 1];
    yarn_json_text(json, "function", yarn_profile_text(profile, function->name));
    yarn_json_text(json, "module", yarn_profile_text(profile, module->base));
    yarn_json_text(json, "module_path", yarn_profile_text(profile, module->path));
    yarn_json_text_or_null(json, "build_id",
                           yarn_hex_text(annotation->build_id, build_id, sizeof build_id));
    if (function->is_inlined)
        yarn_json_bool(json, "inlined", true);
}

static int put_json(const struct yarn_annotate *annotate, const struct yarn_out *out)
{
    static const struct {
        const char *key;
        int (*show)(const struct view *view);
    } parts[] = {{"events", put_event}, {"lines", show_lines}, {"instructions", show_instructions}};
    int err = 0;
    put_function(annotate, out->json);
    for (size_t i = 0; !err && i < YARN_COUNT_OF(parts); i++) {
        yarn_json_begin_array(out->json, parts[i].key);
        err = for_events(annotate, out, parts[i].show);
        yarn_json_end_array(out->json);
    }
    yarn_json_begin_array(out->json, "notes");
    for (size_t i = 0; i < annotate->nr_notes; i++)
        yarn_json_text(out->json, NULL, annotate->notes[i]);
    yarn_json_end_array(out->json);
    return err;
}

int yarn_annotate_print(const struct yarn_annotate *annotate, const struct yarn_out *out)
{
    return out->json ? put_json(annotate, out) : for_events(annotate, out, print_event);
}
