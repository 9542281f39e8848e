/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>

#include "core/event/parse.h"
#include "output/text/json.h"
#include "output/yarnprof/events/catalogue.h"
#include "output/yarnprof/events/encode.h"
#include "output/yarnprof/events/hint.h"
#include "output/yarnprof/events/usable.h"
#include "output/yarnprof/io/columns.h"
#include "output/yarnprof/io/out.h"
#include "output/yarnprof/io/status.h"
#include "output/yarnprof/options/arguments.h"
#include "output/yarnprof/show/table.h"
#include "output/yarnprof/verbs/verb.h"

/*
 * What yarnprof list prints: the catalogue, or what strings become. Threads: one.
 */

/* A string and what it became; `error.why` NULL: it was understood. */
struct yarn_list_answer {
    const char *asked; /* borrowed */
    struct yarn_event_list list;
    struct yarn_parse_error error;
};

static const char *excluded_side(const struct yarn_event_spec *spec, size_t number)
{
    const struct {
        bool is_excluded;
        const char *word;
    } sides[] = {
        {spec->exclude_user, "user"}, {spec->exclude_kernel, "kernel"},
        {spec->exclude_hv, "hv"},     {spec->exclude_idle, "idle"},
        {spec->exclude_host, "host"}, {spec->exclude_guest, "guest"},
    };
    for (size_t i = 0; i < YARN_COUNT_OF(sides); i++)
        if (sides[i].is_excluded && number-- == 0)
            return sides[i].word;
    return NULL;
}

static void get_why(struct yarn_show_cell *cell)
{
    yarn_show_text_if(cell, ((const struct yarn_catalogue_row *)cell->row)->why);
}

#define MEMBER(name) YARN_SHOW_MEMBER(struct yarn_catalogue_row, name)

static const struct yarn_show_column columns[] = {
    YARN_SHOW_COLUMN("name", NULL, MEMBER(name)),
    YARN_SHOW_COLUMN("kind", NULL, MEMBER(kind)),
    YARN_SHOW_COLUMN("usable", NULL, MEMBER(is_usable), .unit = YARN_SHOW_WORD),
    YARN_SHOW_COLUMN("why", NULL, .get = get_why),
    {0},
};

static void put_catalogue(const struct yarn_catalogue *catalogue, const struct yarn_out *out)
{
    struct yarn_show_table table = {.out = out, .parts = {columns}};
    yarn_show_rows(&table, "events", catalogue->rows, catalogue->count, sizeof *catalogue->rows, 0);
}

static void u64_or_null(struct yarn_json *json, const char *key, uint64_t value)
{
    if (value)
        yarn_json_u64(json, key, value);
    else
        yarn_json_null(json, key);
}

static void put_numbers(struct yarn_json *json, const struct yarn_event_spec *spec)
{
    yarn_json_u64(json, "type", spec->type);
    yarn_json_u64(json, "config", spec->config);
    yarn_json_u64(json, "config1", spec->config1);
    yarn_json_u64(json, "config2", spec->config2);
    yarn_json_u64(json, "bp_type", spec->breakpoint);
    u64_or_null(json, "period", spec->period);
    u64_or_null(json, "frequency", spec->frequency);
    yarn_json_begin_array(json, "excluded");
    const char *word;
    for (size_t i = 0; (word = excluded_side(spec, i)); i++)
        yarn_json_text(json, NULL, word);
    yarn_json_end_array(json);
    yarn_json_u64(json, "precise", spec->precise);
    yarn_json_bool(json, "most_precise", spec->is_most_precise);
    yarn_json_u64(json, "branches", spec->branches);
}

static void put_spec(struct yarn_json *json, const struct yarn_list_answer *answer,
                     const struct yarn_event_spec *spec)
{
    struct yarn_usable usable;
    yarn_usable_ask(spec, &usable);
    yarn_json_begin_object(json, NULL);
    yarn_json_text(json, "name", spec->name);
    yarn_json_text(json, "asked", answer->asked);
    yarn_json_text(json, "event", spec->event);
    yarn_json_text(json, "kind", yarn_catalogue_kinds[spec->kind]);
    yarn_json_bool(json, "usable", usable.is_usable);
    yarn_json_text_or_null(json, "why", usable.why);
    put_numbers(json, spec);
    yarn_json_text_or_null(json, "pmu", spec->pmu ? spec->pmu : "");
    yarn_json_text_or_null(json, "cpus", spec->cpus ? spec->cpus : "");
    yarn_json_text(json, "unit", spec->unit);
    yarn_json_factor(json, "scale", spec->scale);
    yarn_json_text_or_null(json, "filter", spec->filter ? spec->filter : "");
    u64_or_null(json, "group", spec->group);
    yarn_json_bool(json, "reads_group", spec->reads_group);
    yarn_json_bool(json, "pinned", spec->is_pinned);
    yarn_json_bool(json, "exclusive", spec->is_exclusive);
    yarn_json_bool(json, "weak", spec->is_weak);
    yarn_json_end_object(json);
}

static void put_fault(struct yarn_json *json, const struct yarn_list_answer *answer)
{
    yarn_json_begin_object(json, NULL);
    yarn_json_text(json, "name", answer->asked);
    yarn_json_text(json, "asked", answer->asked);
    yarn_json_null(json, "kind");
    yarn_json_bool(json, "usable", false);
    yarn_json_text(json, "why", answer->error.why);
    yarn_json_u64(json, "at", answer->error.at);
    yarn_json_u64(json, "size", answer->error.size);
    yarn_json_end_object(json);
}

static void put_answers(const struct yarn_list_answer *answers, size_t count,
                        const struct yarn_out *out)
{
    struct yarn_json *json = out->json;
    yarn_json_begin_array(json, "events");
    for (size_t i = 0; i < count; i++) {
        if (answers[i].error.why)
            put_fault(json, &answers[i]);
        for (size_t j = 0; j < answers[i].list.count; j++)
            put_spec(json, &answers[i], &answers[i].list.specs[j]);
    }
    yarn_json_end_array(json);
}

enum { NAME_COLUMNS = 34 };

static const char *headline_of(const char *kind)
{
    static const char *const headlines[YARN_EVENT_KIND_COUNT] = {
        [YARN_EVENT_CLOCK] = "Clocks",
        [YARN_EVENT_SOFTWARE] = "Events of the kernel's own",
        [YARN_EVENT_HARDWARE] = "Hardware, by generic names",
        [YARN_EVENT_CACHE] = "Caches",
        [YARN_EVENT_RAW] = "By number",
        [YARN_EVENT_PMU] = "Events of PMUs",
        [YARN_EVENT_TRACEPOINT] = "Tracepoints",
        [YARN_EVENT_BREAKPOINT] = "Breakpoints",
        [YARN_EVENT_PROBE] = "Probes",
        [YARN_EVENT_OFF_CPU] = "Looks at blocked threads",
    };
    for (size_t i = 0; i < YARN_EVENT_KIND_COUNT; i++)
        if (yarn_catalogue_kinds[i] == kind)
            return headlines[i];
    return kind;
}

static void print_row(const struct yarn_catalogue_row *row, const struct yarn_out *out)
{
    const char *paint = row->is_usable ? "" : yarn_out_paint(out, YARN_PAINT_FAINT);
    const char *help = row->help ? row->help : "";
    bool has_more = help[0] || row->why[0];
    (void)fprintf(out->file, "  %s", paint);
    yarn_print_cell(out, row->name, has_more ? NAME_COLUMNS : 0);
    (void)fprintf(out->file, "%s%s%s%s%s\n", has_more ? " " : "", help,
                  help[0] && row->why[0] ? "; " : "", row->why,
                  paint[0] ? yarn_out_plain(out) : "");
}

/* Whether the rows of that kind agree on usable and why: then the headline says it. */
static bool is_alike(const struct yarn_catalogue *catalogue, size_t first, size_t *ret_end)
{
    const struct yarn_catalogue_row *rows = catalogue->rows;
    size_t end = first + 1;
    bool is_alike = true;
    for (; end < catalogue->count && rows[end].kind == rows[first].kind; end++)
        is_alike &= rows[end].is_usable == rows[first].is_usable &&
                    strcmp(rows[end].why, rows[first].why) == 0;
    *ret_end = end;
    return is_alike && end > first + 1;
}

static void print_catalogue(const struct yarn_catalogue *catalogue, const struct yarn_out *out)
{
    for (size_t i = 0, end; i < catalogue->count; i = end) {
        const struct yarn_catalogue_row *first = &catalogue->rows[i];
        bool alike = is_alike(catalogue, i, &end);
        (void)fprintf(out->file, "%s%s%s%s", i ? "\n" : "", yarn_out_paint(out, YARN_PAINT_HEAD),
                      headline_of(first->kind), yarn_out_plain(out));
        if (alike && first->why[0])
            (void)fprintf(out->file, " (%s%s)", first->is_usable ? "" : "not usable: ", first->why);
        (void)fputc('\n', out->file);
        for (size_t j = i; j < end; j++) {
            struct yarn_catalogue_row row = catalogue->rows[j];
            char why[400];
            (void)snprintf(why, sizeof why, "%s%s", row.is_usable ? "" : "not usable: ", row.why);
            row.why = alike ? "" : why;
            print_row(&row, out);
        }
    }
}

static void print_rate(const struct yarn_event_spec *spec, const struct yarn_out *out)
{
    if (spec->period)
        (void)fprintf(out->file, "  period    %" PRIu64 "%s\n", spec->period,
                      spec->is_clock ? " ns" : "");
    else
        (void)fprintf(out->file, "  frequency %" PRIu64 " samples a second\n", spec->frequency);
}

static void print_sides(const struct yarn_event_spec *spec, const struct yarn_out *out)
{
    const char *word = excluded_side(spec, 0);
    (void)fprintf(out->file, "  excluded  %s", word ? word : "nothing");
    for (size_t i = 1; (word = excluded_side(spec, i)); i++)
        (void)fprintf(out->file, ", %s", word);
    (void)fputc('\n', out->file);
}

static void print_spec(const struct yarn_event_spec *spec, const struct yarn_out *out)
{
    struct yarn_usable usable;
    yarn_usable_ask(spec, &usable);
    (void)fprintf(out->file, "%s", yarn_out_paint(out, YARN_PAINT_HEAD));
    yarn_print_cell(out, spec->name, 0);
    (void)fprintf(out->file, "%s\n", yarn_out_plain(out));
    (void)fprintf(out->file, "  usable    %s%s%s\n", usable.is_usable ? "yes" : "no",
                  usable.why[0] ? ": " : "", usable.why);
    (void)fprintf(out->file, "  type      %" PRIu32 " (%s)\n", spec->type,
                  yarn_catalogue_kinds[spec->kind]);
    (void)fprintf(out->file, "  config    0x%" PRIx64 "\n", spec->config);
    (void)fprintf(out->file, "  config1   0x%" PRIx64 "\n", spec->config1);
    (void)fprintf(out->file, "  config2   0x%" PRIx64 "\n", spec->config2);
    print_rate(spec, out);
    print_sides(spec, out);
    (void)fprintf(out->file, "  precise   %u%s\n", yarn_event_spec_precise(spec),
                  spec->is_most_precise ? " or as much as the kernel takes" : "");
    (void)fprintf(out->file, "  cpus      %s\n", spec->cpus ? spec->cpus : "all");
    if (spec->group)
        (void)fprintf(out->file, "  group     %u\n", spec->group);
    if (spec->filter) {
        (void)fputs("  filter    ", out->file);
        yarn_print_cell(out, spec->filter, 0);
        (void)fputc('\n', out->file);
    }
}

/* The string, with its words at fault marked below. */
static void print_fault(const struct yarn_list_answer *answer, const struct yarn_out *out)
{
    char front[256];
    (void)snprintf(front, sizeof front, "%.*s", (int)yarn_size_min(answer->error.at, 255),
                   answer->asked);
    yarn_print_cell(out, answer->asked, 0);
    (void)fprintf(out->file, "\n%*s", (int)yarn_text_columns(front), "");
    for (size_t i = 0; i < yarn_size_max(answer->error.size, 1); i++)
        (void)fputc('^', out->file);
    (void)fputc(' ', out->file);
    yarn_print_cell(out, answer->error.why, 0);
    (void)fputc('\n', out->file);
}

static void print_answers(const struct yarn_list_answer *answers, size_t count,
                          const struct yarn_out *out)
{
    for (size_t i = 0; i < count; i++) {
        if (answers[i].error.why)
            print_fault(&answers[i], out);
        for (size_t j = 0; j < answers[i].list.count; j++)
            print_spec(&answers[i].list.specs[j], out);
    }
}

static void show_rows(const struct yarn_catalogue *catalogue, const struct yarn_out *out)
{
    if (out->format == YARN_OUT_TEXT)
        print_catalogue(catalogue, out);
    else
        put_catalogue(catalogue, out);
}

static void show_all_answers(const struct yarn_list_answer *answers, size_t count,
                             const struct yarn_out *out)
{
    if (out->json)
        put_answers(answers, count, out);
    else
        print_answers(answers, count, out);
}

enum { FREQUENCY_HZ = 999 }; /* YARN_FREQUENCY's default */

static const struct yarn_argument arguments[] = {
    YARN_OUT_FORMAT_ARGUMENT,
    YARN_OUT_ARGUMENTS,
    {0},
};

static int show_catalogue(struct yarn_out *out)
{
    struct yarn_catalogue catalogue;
    int err = yarn_catalogue_make(&catalogue);
    if (err) {
        yarn_complain("list", "%s", strerror(-err));
        return YARN_STATUS_FAILED;
    }
    int status = yarn_out_open(out, "list");
    if (status < 0) {
        show_rows(&catalogue, out);
        status = yarn_out_finish(out, "list", 0);
    }
    yarn_catalogue_fini(&catalogue);
    return status;
}

/* `auto` is what a recording here makes of it. */
static void rate(struct yarn_event_spec *spec)
{
    struct yarn_usable usable = {.is_usable = true};
    struct yarn_event_spec cycles = *spec;
    yarn_event_spec_apply_rate(&cycles, FREQUENCY_HZ);
    if (spec->is_auto)
        yarn_usable_ask(&cycles, &usable);
    if (!usable.is_usable)
        yarn_event_spec_fall_back(spec);
    yarn_event_spec_apply_rate(spec, FREQUENCY_HZ);
}

/* False where the string is at fault. */
static bool answer(struct yarn_list_answer *answer, struct yarn_arena *arena, const char *text)
{
    *answer = (struct yarn_list_answer){.asked = text};
    int err = yarn_events_understand(text, arena, &answer->list, &answer->error);
    if (err)
        yarn_complain("list", "%s: at %zu: %s", text, answer->error.at + 1, answer->error.why);
    for (size_t i = 0; i < answer->list.count; i++)
        rate(&answer->list.specs[i]);
    return !err;
}

static int show_answers(struct yarn_out *out, char *const strings[])
{
    struct yarn_arena arena;
    size_t count = 0;
    bool is_understood = true;
    while (strings[count])
        count++;
    struct yarn_list_answer *answers = calloc(count, sizeof *answers);
    if (!answers)
        return YARN_STATUS_FAILED;
    yarn_arena_open(&arena, YARN_MIB(256));
    for (size_t i = 0; i < count; i++)
        is_understood &= answer(&answers[i], &arena, strings[i]);
    int status = yarn_out_open(out, "list");
    if (status < 0) {
        show_all_answers(answers, count, out);
        status = yarn_out_finish(out, "list", 0);
    }
    yarn_arena_close(&arena);
    free(answers);
    return status == YARN_STATUS_OK && !is_understood ? YARN_STATUS_USAGE : status;
}

static int run(void *self, char **operands)
{
    struct yarn_out *out = self;
    if (operands[0] && out->format == YARN_OUT_CSV) {
        yarn_complain("list", "--format=csv: of strings, text or json would be right");
        return YARN_STATUS_USAGE;
    }
    return operands[0] ? show_answers(out, operands) : show_catalogue(out);
}

const struct yarn_command yarn_verb_list = {
    .verb = "list",
    .operands = "[STRING...]",
    .about = "Every event that can be named here, whether this user can have it, and if not, why "
             "and what would\nchange it. Of each STRING: what it becomes, without recording.",
    .arguments = arguments,
    .take = yarn_out_take,
    .request_bytes = sizeof(struct yarn_out),
    .run = run,
};
