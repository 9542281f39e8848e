/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>

#include "core/event/parse.h"
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
    const char *kind; /* of what was not understood: NULL, and false */
    bool is_usable;
};

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

/* An event that a string became. */
struct event_row {
    struct yarn_event_spec spec;
    const char *name, *asked, *kind;
    struct yarn_usable usable;
};

static void get_usable(struct yarn_show_cell *cell)
{
    const struct yarn_usable *usable = &((const struct event_row *)cell->row)->usable;
    yarn_show_bool(cell, usable->is_usable);
    yarn_show_add(cell, "%s%s%s", usable->is_usable ? "yes" : "no", usable->why[0] ? ": " : "",
                  usable->why);
}

static void get_reason(struct yarn_show_cell *cell)
{
    yarn_show_text_if(cell, ((const struct event_row *)cell->row)->usable.why);
}

static void get_type(struct yarn_show_cell *cell)
{
    const struct event_row *row = cell->row;
    yarn_show_u64(cell, row->spec.type);
    yarn_show_add(cell, "%" PRIu32 " (%s)", row->spec.type, row->kind);
}

/* The member, unless it is 0 or empty. */
static void get_known(struct yarn_show_cell *cell)
{
    yarn_show_member(cell);
    if (cell->kind == YARN_SHOW_U64 ? !cell->number : !cell->text || !cell->text[0])
        cell->kind = YARN_SHOW_NONE;
}

static void get_period(struct yarn_show_cell *cell)
{
    const struct yarn_event_spec *spec = &((const struct event_row *)cell->row)->spec;
    yarn_show_u64_if(cell, spec->period, spec->period);
    if (spec->period)
        yarn_show_add(cell, "%" PRIu64 "%s", spec->period, spec->is_clock ? " ns" : "");
}

static void get_frequency(struct yarn_show_cell *cell)
{
    get_known(cell);
    if (cell->number)
        yarn_show_add(cell, "%" PRIu64 " samples a second", cell->number);
}

static void get_excluded(struct yarn_show_cell *cell)
{
    static char words[64];
    const struct yarn_event_spec *spec = &((const struct event_row *)cell->row)->spec;
    const char *sides[] = {
        spec->exclude_user ? "user" : NULL, spec->exclude_kernel ? "kernel" : NULL,
        spec->exclude_hv ? "hv" : NULL,     spec->exclude_idle ? "idle" : NULL,
        spec->exclude_host ? "host" : NULL, spec->exclude_guest ? "guest" : NULL,
    };
    size_t used = 0;
    for (size_t i = 0; i < YARN_COUNT_OF(sides); i++)
        if (sides[i])
            used += (size_t)snprintf(words + used, sizeof words - used, "%s", sides[i]) + 1;
    yarn_show_words(cell, (struct yarn_span){(const unsigned char *)words, used});
}

static void get_precise(struct yarn_show_cell *cell)
{
    const struct yarn_event_spec *spec = &((const struct event_row *)cell->row)->spec;
    yarn_show_u64(cell, spec->precise);
    yarn_show_add(cell, "%u%s", yarn_event_spec_precise(spec),
                  spec->is_most_precise ? " or as much as the kernel takes" : "");
}

static void get_cpus(struct yarn_show_cell *cell)
{
    get_known(cell);
    cell->text = cell->text ? cell->text : "all";
}

#define ROW(name) YARN_SHOW_MEMBER(struct event_row, name)
#define SPEC(name) YARN_SHOW_MEMBER(struct event_row, spec.name)

/* Text has each as a line. */
static const struct yarn_show_column event_columns[] = {
    YARN_SHOW_COLUMN("name", NULL, ROW(name)),
    YARN_SHOW_COLUMN("asked", NULL, ROW(asked)),
    YARN_SHOW_COLUMN("event", NULL, SPEC(event)),
    YARN_SHOW_COLUMN("kind", NULL, ROW(kind)),
    YARN_SHOW_COLUMN("usable", "usable", .get = get_usable, .unit = YARN_SHOW_WORD),
    YARN_SHOW_COLUMN("why", NULL, .get = get_reason),
    YARN_SHOW_COLUMN("type", "type", .get = get_type),
    YARN_SHOW_COLUMN("config", "config", SPEC(config), .unit = YARN_SHOW_HEX),
    YARN_SHOW_COLUMN("config1", "config1", SPEC(config1), .unit = YARN_SHOW_HEX),
    YARN_SHOW_COLUMN("config2", "config2", SPEC(config2), .unit = YARN_SHOW_HEX),
    YARN_SHOW_COLUMN("bp_type", NULL, SPEC(breakpoint)),
    YARN_SHOW_COLUMN("period", "period", .get = get_period),
    YARN_SHOW_COLUMN("frequency", "frequency", .get = get_frequency, SPEC(frequency)),
    YARN_SHOW_COLUMN("excluded", "excluded", .get = get_excluded),
    YARN_SHOW_COLUMN("precise", "precise", .get = get_precise),
    YARN_SHOW_COLUMN("most_precise", NULL, SPEC(is_most_precise), .unit = YARN_SHOW_WORD),
    YARN_SHOW_COLUMN("branches", NULL, SPEC(branches)),
    YARN_SHOW_COLUMN("pmu", NULL, .get = get_known, SPEC(pmu)),
    YARN_SHOW_COLUMN("cpus", "cpus", .get = get_cpus, SPEC(cpus)),
    YARN_SHOW_COLUMN("unit", NULL, SPEC(unit)),
    YARN_SHOW_COLUMN("scale", NULL, SPEC(scale), .unit = YARN_SHOW_EXACT),
    YARN_SHOW_COLUMN("filter", "filter", .get = get_known, SPEC(filter)),
    YARN_SHOW_COLUMN("group", "group", .get = get_known, SPEC(group)),
    YARN_SHOW_COLUMN("reads_group", NULL, SPEC(reads_group), .unit = YARN_SHOW_WORD),
    YARN_SHOW_COLUMN("pinned", NULL, SPEC(is_pinned), .unit = YARN_SHOW_WORD),
    YARN_SHOW_COLUMN("exclusive", NULL, SPEC(is_exclusive), .unit = YARN_SHOW_WORD),
    YARN_SHOW_COLUMN("weak", NULL, SPEC(is_weak), .unit = YARN_SHOW_WORD),
    {0},
};

#define FAULT(name) YARN_SHOW_MEMBER(struct yarn_list_answer, name)

/* A string that was not understood: of no kind, and not usable. */
static const struct yarn_show_column fault_columns[] = {
    YARN_SHOW_COLUMN("name", NULL, FAULT(asked)),
    YARN_SHOW_COLUMN("asked", NULL, FAULT(asked)),
    YARN_SHOW_COLUMN("kind", NULL, FAULT(kind)),
    YARN_SHOW_COLUMN("usable", NULL, FAULT(is_usable)),
    YARN_SHOW_COLUMN("why", NULL, FAULT(error.why)),
    YARN_SHOW_COLUMN("at", NULL, FAULT(error.at)),
    YARN_SHOW_COLUMN("size", NULL, FAULT(error.size)),
    {0},
};

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

static void print_event(const struct yarn_show_table *table, const struct event_row *row)
{
    const struct yarn_out *out = table->out;
    (void)fprintf(out->file, "%s", yarn_out_paint(out, YARN_PAINT_HEAD));
    yarn_print_cell(out, row->name, 0);
    (void)fprintf(out->file, "%s\n", yarn_out_plain(out));
    for (const struct yarn_show_column *column = event_columns; column->key; column++) {
        const char *text = column->title ? yarn_show_text_of(table, column, row) : "-";
        if (strcmp(text, "-") == 0)
            continue;
        (void)fprintf(out->file, "  %-9s ", column->title);
        yarn_print_cell(out, text, 0);
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

static void show_rows(const struct yarn_catalogue *catalogue, const struct yarn_out *out)
{
    if (out->format == YARN_OUT_TEXT)
        print_catalogue(catalogue, out);
    else
        put_catalogue(catalogue, out);
}

/* CSV has those that were understood. */
static void show_fault(const struct yarn_list_answer *answer, const struct yarn_out *out)
{
    const struct yarn_show_table table = {.out = out, .parts = {fault_columns}};
    if (out->format == YARN_OUT_TEXT)
        print_fault(answer, out);
    if (out->format == YARN_OUT_JSON)
        yarn_show_row(&table, answer);
}

static void show_event(const struct yarn_show_table *table, const struct yarn_event_spec *spec,
                       const char *asked)
{
    struct event_row row = {*spec, spec->name, asked, yarn_catalogue_kinds[spec->kind], {0}};
    yarn_usable_ask(spec, &row.usable);
    if (table->out->format == YARN_OUT_TEXT)
        print_event(table, &row);
    else
        yarn_show_row(table, &row);
}

static void show_all_answers(const struct yarn_list_answer *answers, size_t count,
                             const struct yarn_out *out)
{
    const struct yarn_show_table table = {.out = out, .parts = {event_columns}, .is_bare = true};
    yarn_show_begin(&table, "events");
    for (size_t i = 0; i < count; i++) {
        if (answers[i].error.why)
            show_fault(&answers[i], out);
        for (size_t j = 0; j < answers[i].list.count; j++)
            show_event(&table, &answers[i].list.specs[j], answers[i].asked);
    }
    yarn_show_end(&table);
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
