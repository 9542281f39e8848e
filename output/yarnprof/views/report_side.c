/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "core/base/table.h"
#include "output/yarnprof/stream/columns.h"
#include "output/yarnprof/stream/numbers.h"
#include "output/yarnprof/views/report.h"

enum { EVENT_COLUMNS = 20, NAME_LEAST = 16, TEXT_SIZE = 16384, KEYS_MAX = 1 << 30 };

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

static const struct yarn_row *row_of(const struct side *side, size_t key)
{
    const struct yarn_row *const *rows = &side->rows[key * side->nr_events];
    while (!*rows)
        rows++;
    return *rows;
}

static void print_percent(const struct yarn_out *out, double percent)
{
    (void)fprintf(out->file, "%s%6.2f %%%s  ", yarn_out_paint(out, yarn_report_paint_of(percent)),
                  percent, yarn_out_plain(out));
}

static void print_shares(const struct side *side, const struct yarn_out *out, size_t key)
{
    for (size_t i = 0; i < side->nr_events; i++) {
        const struct yarn_row *row = side->rows[key * side->nr_events + i];
        if (!row) {
            (void)fprintf(out->file, "%*s", EVENT_COLUMNS, "");
            continue;
        }
        uint64_t whole = side->report->profile->events[row->event].total;
        print_percent(out, yarn_percent(row->self, whole));
        if (yarn_report_is_one_share(side->report))
            (void)fprintf(out->file, "%8s  ", yarn_number_grouped(row->samples).text);
        else
            print_percent(out, yarn_percent(row->total, whole));
    }
}

static void print_titles(const struct side *side, const struct yarn_out *out, size_t width)
{
    const struct yarn_profile *profile = side->report->profile;
    const char *detail = yarn_report_detail_title(side->report->rows.by);
    bool is_one = yarn_report_is_one_share(side->report);
    (void)fputs(yarn_out_paint(out, YARN_PAINT_HEAD), out->file);
    for (size_t i = 0; i < side->nr_events; i++) {
        const char *name = yarn_profile_text(profile, profile->events[side->events[i]].name);
        size_t columns = yarn_size_min(yarn_text_columns(name), EVENT_COLUMNS - 2);
        (void)fprintf(out->file, "%*s", (int)(EVENT_COLUMNS - 2 - columns), "");
        yarn_print_cut(out, name, EVENT_COLUMNS - 2);
        (void)fputs(i + 1 < side->nr_events ? "  " : "", out->file);
    }
    (void)fputc('\n', out->file);
    for (size_t i = 0; i < side->nr_events; i++)
        (void)fprintf(out->file, "%8s  %8s  ", is_one ? "SHARE" : "SELF",
                      is_one ? "SAMPLES" : "TOTAL");
    (void)fprintf(out->file, "%-*s%s%s%s\n", detail[0] ? (int)width : 0,
                  yarn_report_title(side->report->rows.by), detail[0] ? "  " : "", detail,
                  yarn_out_plain(out));
}

static void print_names(const struct side *side, const struct yarn_out *out, size_t key,
                        size_t width, size_t room)
{
    static char text[TEXT_SIZE];
    const struct yarn_row *row = row_of(side, key);
    yarn_report_name(side->report, row, text, sizeof text);
    yarn_print_cell(out, text, room || yarn_text_columns(text) <= width ? width : 0);
    yarn_report_detail(side->report, row, text, sizeof text);
    if (text[0] && (!room || room > width + 2)) {
        (void)fprintf(out->file, "  %s", yarn_out_paint(out, YARN_PAINT_FAINT));
        yarn_print_cut(out, text, room ? room - width - 2 : 0);
        (void)fputs(yarn_out_plain(out), out->file);
    }
    (void)fputc('\n', out->file);
}

static size_t width_of(const struct side *side, size_t nr_shown, size_t room)
{
    static char text[TEXT_SIZE];
    size_t width = strlen(yarn_report_title(side->report->rows.by));
    for (size_t i = 0; i < nr_shown; i++) {
        yarn_report_name(side->report, row_of(side, i), text, sizeof text);
        width = yarn_size_max(width, yarn_text_columns(text));
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

static void print_side(const struct side *side, const struct yarn_out *out)
{
    const struct yarn_profile_report *report = side->report;
    size_t shown = report->limit ? yarn_size_min(report->limit, side->nr_keys) : side->nr_keys;
    size_t numbers = side->nr_events * EVENT_COLUMNS;
    size_t columns = (size_t)out->columns;
    size_t room = columns ? columns - numbers : 0;
    size_t width = width_of(side, shown, room);
    (void)fputc('\n', out->file);
    for (size_t i = 0; i < side->nr_events; i++)
        yarn_report_print_event(report, out, side->events[i]);
    (void)fputc('\n', out->file);
    print_titles(side, out, width);
    for (size_t i = 0; i < shown; i++) {
        print_shares(side, out, i);
        print_names(side, out, i, width, room);
    }
    if (shown < side->nr_keys)
        (void)fprintf(
            out->file, "%s… and %s; --limit=0 shows all%s\n", yarn_out_paint(out, YARN_PAINT_FAINT),
            yarn_number_of_things(side->nr_keys - shown, "more row").text, yarn_out_plain(out));
    print_missing(side, out);
}

int yarn_report_print_side(const struct yarn_profile_report *report, const struct yarn_out *out,
                           bool *ret_fits)
{
    struct side side;
    int err = side_init(&side, report);
    size_t columns = (size_t)out->columns;
    *ret_fits = !columns || columns >= side.nr_events * EVENT_COLUMNS + NAME_LEAST;
    if (!err && *ret_fits)
        print_side(&side, out);
    side_fini(&side);
    return err;
}
