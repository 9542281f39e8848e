/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "core/base/table.h"
#include "output/yarnprof/io/columns.h"
#include "output/yarnprof/io/numbers.h"
#include "output/yarnprof/views/report.h"

enum { EVENT_COLUMNS = 20, NAME_LEAST = 16, KEYS_MAX = 1 << 30 };

/* One key, with its row of each event (NULL: it has none). */
struct side {
    const struct yarn_profile_report *report;
    uint32_t *events; /* owned; those with rows, in their order */
    size_t nr_events;
    const struct yarn_row **rows; /* owned; a line of nr_events for each key */
    size_t nr_keys;
};

static void side_fini(struct side *side)
{
    free(side->events);
    free(side->rows);
}

static void find_events(struct side *side)
{
    const struct yarn_rows *rows = &side->report->rows;
    for (size_t i = 0; i < rows->count; i++) {
        if (!i || rows->rows[i].event != rows->rows[i - 1].event)
            side->events[side->nr_events++] = rows->rows[i].event;
    }
}

/* In the order of the first event; what only later ones have follows in theirs. */
static int find_keys(struct side *side, struct yarn_table *keys)
{
    const struct yarn_rows *rows = &side->report->rows;
    size_t event = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const struct yarn_row *row = &rows->rows[i];
        event += row->event != side->events[event];
        uint32_t key = yarn_table_find(keys, row->key);
        if (key == YARN_TABLE_NONE) {
            key = (uint32_t)side->nr_keys++;
            int err = yarn_table_put(keys, row->key, key);
            if (err)
                return err;
        }
        side->rows[key * side->nr_events + event] = row;
    }
    return 0;
}

static int side_init(struct side *side, const struct yarn_profile_report *report)
{
    struct yarn_table keys = YARN_TABLE_CLOSED;
    *side = (struct side){
        .report = report,
        .events = calloc(report->profile->nr_events + 1, sizeof *side->events),
    };
    int err = side->events ? yarn_table_open(&keys, 1024, KEYS_MAX) : -ENOMEM;
    if (err)
        return err;
    find_events(side);
    side->rows = calloc(report->rows.count * side->nr_events + 1, sizeof(*side->rows));
    err = side->rows ? find_keys(side, &keys) : -ENOMEM;
    yarn_table_close(&keys);
    return err;
}

/* The event's row; NULL: the key has none. */
static const struct yarn_row *row_of_column(const struct yarn_show_cell *cell)
{
    const struct yarn_row *const *rows = cell->row;
    return rows[cell->column->nth];
}

static void show_share(struct yarn_show_cell *cell, const struct yarn_row *row, uint64_t part)
{
    const struct yarn_profile_report *report = cell->self;
    if (row)
        yarn_show_real(cell, yarn_percent(part, report->profile->events[row->event].total));
    else
        yarn_show_text(cell, "");
}

static void get_self(struct yarn_show_cell *cell)
{
    const struct yarn_row *row = row_of_column(cell);
    show_share(cell, row, row ? row->self : 0);
}

static void get_total(struct yarn_show_cell *cell)
{
    const struct yarn_row *row = row_of_column(cell);
    show_share(cell, row, row ? row->total : 0);
}

static void get_samples(struct yarn_show_cell *cell)
{
    const struct yarn_row *row = row_of_column(cell);
    if (row)
        yarn_show_u64(cell, row->samples);
    else
        yarn_show_text(cell, "");
}

/* The key's, of any of its rows. */
static void get_name(struct yarn_show_cell *cell)
{
    const struct yarn_row *const *rows = cell->row;
    while (!*rows)
        rows++;
    cell->row = *rows;
    yarn_report_get_name(cell);
}

static void get_detail(struct yarn_show_cell *cell)
{
    const struct yarn_row *const *rows = cell->row;
    while (!*rows)
        rows++;
    cell->row = *rows;
    yarn_report_get_detail(cell);
}

static void get_nothing(struct yarn_show_cell *cell)
{
    cell->kind = YARN_SHOW_MISSING;
}

/* Two of each event. The caller's to free; NULL: no memory. */
static struct yarn_show_column *make_columns(const struct side *side)
{
    bool is_one = yarn_report_is_one_share(side->report);
    struct yarn_show_column *columns = calloc(2 * side->nr_events + 1, sizeof *columns);
    for (size_t i = 0; columns && i < side->nr_events; i++) {
        columns[2 * i] = (struct yarn_show_column)YARN_SHOW_COLUMN(
            NULL, is_one ? "SHARE" : "SELF", .get = get_self, .unit = YARN_SHOW_SHARE,
            .gap = i ? 2 : 0, .width = 8, .nth = i);
        columns[2 * i + 1] = (struct yarn_show_column)YARN_SHOW_COLUMN(
            NULL, is_one ? "SAMPLES" : "TOTAL", .get = is_one ? get_samples : get_total,
            .unit = is_one ? YARN_SHOW_GROUPED : YARN_SHOW_SHARE, .gap = 2, .width = 8, .nth = i);
    }
    return columns;
}

static void print_titles(const struct side *side, const struct yarn_show_table *table)
{
    const struct yarn_profile *profile = side->report->profile;
    const struct yarn_out *out = table->out;
    (void)fputs(yarn_out_paint(out, YARN_PAINT_HEAD), out->file);
    for (size_t i = 0; i < side->nr_events; i++) {
        const char *name = yarn_profile_text(profile, profile->events[side->events[i]].name);
        size_t columns = yarn_size_min(yarn_text_columns(name), EVENT_COLUMNS - 2);
        (void)fprintf(out->file, "%*s", (int)(EVENT_COLUMNS - 2 - columns), "");
        yarn_print_cut(out, name, EVENT_COLUMNS - 2);
        (void)fputs(i + 1 < side->nr_events ? "  " : "", out->file);
    }
    (void)fputc('\n', out->file);
    yarn_show_titles(table);
    (void)fprintf(out->file, "%s\n", yarn_out_plain(out));
}

static size_t width_of(const struct side *side, const struct yarn_show_table *table,
                       size_t nr_shown, size_t room)
{
    size_t width = strlen(yarn_by_key(side->report->rows.by)->title);
    for (size_t i = 0; i < nr_shown; i++) {
        const char *name =
            yarn_show_text_of(table, &table->parts[1][0], &side->rows[i * side->nr_events]);
        width = yarn_size_max(width, yarn_text_columns(name));
    }
    return yarn_size_min(width, room ? yarn_size_max(room * 3 / 5, 1) : 100);
}

static void print_missing(const struct side *side, const struct yarn_out *out)
{
    static const char *const names[] = {"[lost]", "[kernel]", "[unsampled]"};
    for (size_t line = 0; !side->report->is_part && line < YARN_COUNT_OF(names); line++) {
        uint64_t sum = 0;
        for (size_t i = 0; i < 2 * side->nr_events; i++) {
            struct yarn_report_missing missing =
                yarn_report_missing_of(side->report, side->events[i % side->nr_events]);
            uint64_t weight = line == 0   ? missing.lost_weight
                              : line == 1 ? missing.kernel_ns
                                          : missing.unsampled_ns;
            const struct yarn_profile_event *event =
                &side->report->profile->events[side->events[i % side->nr_events]];
            /* The first time round it is only known whether there is any. */
            if (i < side->nr_events)
                sum += weight;
            else if (sum && weight)
                (void)fprintf(
                    out->file, "%6.2f %%%12s",
                    yarn_percent(weight, line ? side->report->trust.cpu_ns : event->total), "");
            else if (sum)
                (void)fprintf(out->file, "%*s", EVENT_COLUMNS, "");
        }
        if (sum)
            (void)fprintf(out->file, "%s%s%s\n", yarn_out_paint(out, YARN_PAINT_WARNING),
                          names[line], yarn_out_plain(out));
    }
}

static int print_side(const struct side *side, const struct yarn_out *out)
{
    const struct yarn_profile_report *report = side->report;
    enum yarn_by by = report->rows.by;
    size_t shown = report->limit ? yarn_size_min(report->limit, side->nr_keys) : side->nr_keys;
    size_t columns = (size_t)out->columns;
    size_t room = columns ? columns - side->nr_events * EVENT_COLUMNS : 0;
    struct yarn_show_column *shares = make_columns(side);
    struct yarn_show_column names[] = {
        YARN_SHOW_COLUMN(NULL, yarn_by_key(by)->title, .get = get_name,
                         .align = yarn_report_name_align(by), .gap = 2),
        YARN_SHOW_COLUMN(NULL, yarn_by_key(by)->detail_title, .get = get_detail,
                         .align = YARN_SHOW_TAIL, .gap = 2),
        {0},
    };
    struct yarn_show_table table = {.out = out, .self = report, .parts = {shares, names}};
    if (!shares)
        return -ENOMEM;
    size_t width = width_of(side, &table, shown, room);
    names[0].width = (unsigned)width;
    names[1].width = room > width + 2 ? (unsigned)(room - width - 2) : 0;
    if (room && room <= width + 2)
        names[1].get = get_nothing;
    (void)fputc('\n', out->file);
    for (size_t i = 0; i < side->nr_events; i++)
        yarn_report_print_event(report, out, side->events[i]);
    (void)fputc('\n', out->file);
    print_titles(side, &table);
    for (size_t i = 0; i < shown; i++)
        yarn_show_row(&table, &side->rows[i * side->nr_events]);
    if (shown < side->nr_keys)
        (void)fprintf(
            out->file, "%s… and %s; --limit=0 shows all%s\n", yarn_out_paint(out, YARN_PAINT_FAINT),
            yarn_number_of_things(side->nr_keys - shown, "more row").text, yarn_out_plain(out));
    print_missing(side, out);
    free(shares);
    return 0;
}

int yarn_report_print_side(const struct yarn_profile_report *report, const struct yarn_out *out,
                           bool *ret_fits)
{
    struct side side;
    int err = side_init(&side, report);
    size_t columns = (size_t)out->columns;
    *ret_fits = !columns || columns >= side.nr_events * EVENT_COLUMNS + NAME_LEAST;
    if (!err && *ret_fits)
        err = print_side(&side, out);
    side_fini(&side);
    return err;
}
