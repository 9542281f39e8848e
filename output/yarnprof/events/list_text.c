/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "output/yarnprof/events/list.h"
#include "output/yarnprof/io/columns.h"

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

void yarn_list_text(const struct yarn_catalogue *catalogue, const struct yarn_out *out)
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
    const char *word = yarn_list_excluded(spec, 0);
    (void)fprintf(out->file, "  excluded  %s", word ? word : "nothing");
    for (size_t i = 1; (word = yarn_list_excluded(spec, i)); i++)
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

void yarn_list_answers_text(const struct yarn_list_answer *answers, size_t count,
                            const struct yarn_out *out)
{
    for (size_t i = 0; i < count; i++) {
        if (answers[i].error.why)
            print_fault(&answers[i], out);
        for (size_t j = 0; j < answers[i].list.count; j++)
            print_spec(&answers[i].list.specs[j], out);
    }
}
