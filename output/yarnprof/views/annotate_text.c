/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>

#include "output/yarnprof/io/columns.h"
#include "output/yarnprof/io/numbers.h"
#include "output/yarnprof/show/table.h"
#include "output/yarnprof/views/annotate.h"

enum {
    NUMBERS_COLUMNS = 32,
    TAB = 4,
    TEXT_SIZE = 1024,
    PLACE_MOST = 32,
    PLACE_LEAST = 7,
    TEXT_LEAST = 17
};

/* What is printed of one event. */
struct view {
    const struct yarn_annotate *annotate;
    const struct yarn_out *out;
    const struct yarn_profile_event *event;
    const char *unit;
    const struct yarn_annotation_sums *sums;
};

static const char *text_of(const struct view *view, uint32_t text)
{
    return yarn_profile_text(view->annotate->annotation.profile, text);
}

/* Share of what the function itself spent, self and total; blanks where nothing was sampled. */
static void print_numbers(const struct view *view, const struct yarn_group *sum)
{
    FILE *file = view->out->file;
    if (!sum || !sum->total_samples) {
        (void)fprintf(file, "%*s", NUMBERS_COLUMNS, "");
        return;
    }
    double percent = yarn_percent(sum->self, view->sums->whole.self);
    if (sum->samples)
        (void)fprintf(file, "%s%6.2f %%%s  %10s",
                      yarn_out_paint(view->out, yarn_show_paint_of(percent)), percent,
                      yarn_out_plain(view->out), yarn_number_in_unit(sum->self, view->unit).text);
    else
        (void)fprintf(file, "%20s", "");
    (void)fprintf(file, "  %10s", yarn_number_in_unit(sum->total, view->unit).text);
}

/* Tabs as an editor would show them. */
static void print_source(const struct view *view, const char *source, size_t used)
{
    char text[TEXT_SIZE];
    size_t size = 0;
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
    size_t columns = (size_t)view->out->columns;
    yarn_print_cut(view->out, text, columns > used + 1 ? columns - used : columns ? 1 : 0);
}

static void print_titles(const struct view *view, const char *place, const char *what)
{
    const char *self = strcmp(view->unit, "ns") == 0 ? "SELF" : "COUNT";
    (void)fprintf(view->out->file, "%s%8s  %10s  %10s  %s%s%s%s\n",
                  yarn_out_paint(view->out, YARN_PAINT_HEAD), "SHARE", self, "TOTAL", place,
                  what[0] ? "  " : "", what, yarn_out_plain(view->out));
}

static void print_gap(const struct view *view, int column)
{
    (void)fprintf(view->out->file, "%s%*s%s\n", yarn_out_paint(view->out, YARN_PAINT_FAINT),
                  column + 2, "…", yarn_out_plain(view->out));
}

/* The annotated line of that number, or NULL: it was not sampled. */
static const struct yarn_group *sum_of(const struct view *view,
                                       const struct yarn_annotate_file *file, const uint8_t *shown,
                                       uint32_t number)
{
    const struct yarn_annotation_line *lines = view->annotate->annotation.lines;
    for (size_t i = file->first; i < file->first + file->count; i++) {
        if (lines[i].line == number && shown[i])
            return &view->sums->lines[i];
    }
    return NULL;
}

static void print_line(const struct view *view, const struct yarn_annotate_file *file,
                       const struct yarn_group *sum, uint32_t number)
{
    const char *source = yarn_source_text_line(&file->text, number);
    print_numbers(view, sum);
    (void)fprintf(view->out->file, "  %s%6" PRIu32 "%s",
                  yarn_out_paint(view->out, YARN_PAINT_FAINT), number, yarn_out_plain(view->out));
    if (source && source[0]) {
        (void)fputs("  ", view->out->file);
        print_source(view, source, NUMBERS_COLUMNS + 10);
    }
    (void)fputc('\n', view->out->file);
}

/* The sampled lines of a file, with the lines around them. */
static void print_file(const struct view *view, const struct yarn_annotate_file *file,
                       const uint8_t *shown)
{
    const struct yarn_annotation_line *lines = view->annotate->annotation.lines;
    size_t context = file->text.path ? view->annotate->context : 0;
    uint32_t last = 0;
    (void)fputc('\n', view->out->file);
    yarn_print_cut(view->out, file->text.path ? file->text.path : file->path, 0);
    (void)fputs("\n\n", view->out->file);
    print_titles(view, "  LINE", file->text.path ? "SOURCE" : "");
    for (size_t i = file->first; i < file->first + file->count; i++) {
        if (!shown[i])
            continue;
        size_t from = lines[i].line > context ? lines[i].line - context : 1;
        size_t to = lines[i].line + context;
        if (last && from > last + 1)
            print_gap(view, NUMBERS_COLUMNS + 6);
        for (size_t at = yarn_size_max(from, (size_t)last + 1); at <= to; at++) {
            if (at != lines[i].line && !yarn_source_text_line(&file->text, at))
                break;
            print_line(view, file, sum_of(view, file, shown, (uint32_t)at), (uint32_t)at);
            last = (uint32_t)at;
        }
    }
}

static void print_unknown(const struct view *view, size_t number)
{
    const struct yarn_group *sum = &view->sums->lines[number];
    (void)fprintf(view->out->file, "\n%s of the function are at no known line\n",
                  yarn_number_of_things(sum->samples, "sample").text);
}

static int print_lines(const struct view *view)
{
    const struct yarn_annotate *annotate = view->annotate;
    uint8_t *shown =
        yarn_annotate_hottest(view->sums->lines, annotate->annotation.nr_lines, annotate->limit);
    if (!shown)
        return -ENOMEM;
    for (size_t i = 0; i < annotate->nr_files; i++) {
        const struct yarn_annotate_file *file = &annotate->files[i];
        size_t nr_shown = 0;
        for (size_t j = file->first; j < file->first + file->count; j++)
            nr_shown += shown[j];
        if (!nr_shown)
            continue;
        if (file->path[0])
            print_file(view, file, shown);
        else if (annotate->nr_files > 1 && view->sums->lines[file->first].samples)
            print_unknown(view, file->first);
    }
    free(shown);
    return 0;
}

/* "split.c:20", and what is inlined there. */
static void print_place(const struct view *view,
                        const struct yarn_annotation_instruction *instruction, size_t room)
{
    const struct yarn_annotation *annotation = &view->annotate->annotation;
    char text[TEXT_SIZE];
    if (!instruction->line)
        return;
    const char *path = text_of(view, instruction->file);
    const char *slash = strrchr(path, '/');
    const struct yarn_profile_function *function =
        &annotation->profile->functions[instruction->function];
    (void)snprintf(text, sizeof text, "%s:%u%s%s", slash ? slash + 1 : path, instruction->line,
                   instruction->function == annotation->function ? "" : " ",
                   instruction->function == annotation->function ? ""
                                                                 : text_of(view, function->name));
    (void)fprintf(view->out->file, "  %s", yarn_out_paint(view->out, YARN_PAINT_FAINT));
    yarn_print_cut(view->out, text, room);
    (void)fputs(yarn_out_plain(view->out), view->out->file);
}

struct widths {
    int address;
    size_t text;  /* of an instruction with its place behind it */
    size_t alone; /* of one without */
    size_t place; /* 0: as long as it is */
};

static void print_instruction(const struct view *view, size_t number, struct widths widths,
                              bool has_sum)
{
    const struct yarn_annotation_instruction *instruction =
        &view->annotate->annotation.instructions[number];
    print_numbers(view, has_sum ? &view->sums->instructions[number] : NULL);
    (void)fprintf(view->out->file, "  %s%*" PRIx64 "%s",
                  yarn_out_paint(view->out, YARN_PAINT_FAINT), widths.address, instruction->address,
                  yarn_out_plain(view->out));
    if (instruction->text || instruction->line)
        (void)fputs("  ", view->out->file);
    const char *text = instruction->text ? instruction->text : "";
    bool has_place = instruction->line && has_sum;
    /* Where the output is no terminal a long instruction moves the rest of its line only. */
    if (has_place && (view->out->columns || yarn_text_columns(text) <= widths.text))
        yarn_print_cell(view->out, text, widths.text);
    else
        yarn_print_cut(view->out, text, view->out->columns ? widths.alone : 0);
    if (has_place && (!view->out->columns || widths.place))
        print_place(view, instruction, widths.place);
    (void)fputc('\n', view->out->file);
}

static struct widths widths_of(const struct view *view, const uint8_t *shown)
{
    const struct yarn_annotation *annotation = &view->annotate->annotation;
    struct widths widths = {.address = 7};
    bool has_place = false;
    for (size_t i = 0; i < annotation->nr_instructions; i++) {
        const struct yarn_annotation_instruction *instruction = &annotation->instructions[i];
        char text[24];
        int size = snprintf(text, sizeof text, "%" PRIx64, instruction->address);
        widths.address = size > widths.address ? size : widths.address;
        if (shown[i] && instruction->text)
            widths.text = yarn_size_max(widths.text, yarn_text_columns(instruction->text));
        has_place = has_place || (shown[i] && instruction->line);
    }
    size_t most = view->out->columns ? (size_t)view->out->columns : 120;
    size_t used = NUMBERS_COLUMNS + 4 + (size_t)widths.address;
    widths.alone = most > used + TEXT_LEAST ? most - used : TEXT_LEAST;
    size_t beside = has_place ? PLACE_MOST + 2 : 0;
    widths.text = yarn_size_min(
        widths.text, widths.alone > beside + TEXT_LEAST ? widths.alone - beside : TEXT_LEAST);
    if (view->out->columns && widths.alone > widths.text + 2 + PLACE_LEAST)
        widths.place = yarn_size_min(PLACE_MOST, widths.alone - widths.text - 2);
    return widths;
}

static int print_instructions(const struct view *view)
{
    const struct yarn_annotation *annotation = &view->annotate->annotation;
    size_t context = view->annotate->context;
    uint8_t *shown = yarn_annotate_hottest(view->sums->instructions, annotation->nr_instructions,
                                           view->annotate->limit);
    if (!shown)
        return -ENOMEM;
    struct widths widths = widths_of(view, shown);
    char title[32];
    size_t next = 0; /* the first that is not printed yet */
    (void)snprintf(title, sizeof title, "%*s", widths.address, "ADDRESS");
    (void)fputc('\n', view->out->file);
    print_titles(view, title, view->annotate->disassembly.count ? "INSTRUCTION" : "");
    for (size_t i = 0; i < annotation->nr_instructions; i++) {
        if (!shown[i])
            continue;
        size_t from = i > context ? i - context : 0;
        if (next && from > next)
            print_gap(view, NUMBERS_COLUMNS + 2 + widths.address - 2);
        for (size_t at = yarn_size_max(from, next);
             at <= i + context && at < annotation->nr_instructions; at++) {
            print_instruction(view, at, widths, shown[at]);
            next = at + 1;
        }
    }
    free(shown);
    return 0;
}

static void print_notes(const struct view *view)
{
    for (size_t i = 0; i < view->annotate->nr_notes; i++) {
        (void)fprintf(view->out->file, "%snote: ", yarn_out_paint(view->out, YARN_PAINT_WARNING));
        yarn_print_cut(view->out, view->annotate->notes[i], 0);
        (void)fprintf(view->out->file, "%s\n", yarn_out_plain(view->out));
    }
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
    print_notes(view);
    int err = print_lines(view);
    return err || function->is_inlined ? err : print_instructions(view);
}

int yarn_annotate_text(const struct yarn_annotate *annotate, const struct yarn_out *out)
{
    const struct yarn_annotation *annotation = &annotate->annotation;
    const struct yarn_profile *profile = annotation->profile;
    size_t nr_printed = 0;
    int err = 0;
    for (uint32_t i = 0; !err && i < profile->nr_events; i++) {
        struct yarn_annotation_sums sums;
        if (!annotation->choice.events[i])
            continue;
        err = yarn_annotation_sum(annotation, i, &sums);
        if (err)
            break;
        const struct yarn_profile_event *event = &profile->events[i];
        struct view view = {annotate, out, event, yarn_profile_text(profile, event->unit), &sums};
        if (sums.whole.total_samples) {
            if (nr_printed++)
                (void)fputc('\n', out->file);
            err = print_event(&view);
        }
        yarn_annotation_sums_fini(&sums);
    }
    return err;
}
