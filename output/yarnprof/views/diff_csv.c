/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/stream/csv.h"
#include "output/yarnprof/views/diff.h"

static void put_head(struct yarn_csv *csv)
{
    static const char *const names[] = {"event", "function", "module"};
    static const char *const parts[] = {[YARN_DIFF_SELF] = "self", [YARN_DIFF_TOTAL] = "total"};
    static const char *const columns[] = {
        "before",           "after",
        "samples_before",   "samples_after",
        "percent_before",   "percent_after",
        "percent_change",   "percent_low",
        "percent_high",     "per_second_before",
        "per_second_after", "per_second_change",
        "per_second_low",   "per_second_high",
        "within_noise",
    };
    for (size_t i = 0; i < YARN_COUNT_OF(names); i++)
        yarn_csv_text(csv, names[i]);
    for (size_t part = 0; part < YARN_DIFF_PART_COUNT; part++) {
        for (size_t i = 0; i < YARN_COUNT_OF(columns); i++) {
            char name[64];
            (void)snprintf(name, sizeof name, "%s_%s", parts[part], columns[i]);
            yarn_csv_text(csv, name);
        }
    }
    yarn_csv_end_line(csv);
}

static void put_part(struct yarn_csv *csv, const struct yarn_diff_view *view,
                     const struct yarn_diff_row *row, enum yarn_diff_part part)
{
    yarn_csv_u64(csv, row->sums[part][0].weight);
    yarn_csv_u64(csv, row->sums[part][1].weight);
    yarn_csv_u64(csv, row->sums[part][0].samples);
    yarn_csv_u64(csv, row->sums[part][1].samples);
    for (size_t scale = 0; scale < YARN_DIFF_SCALE_COUNT; scale++) {
        const struct yarn_change *change = &row->changes[scale][part];
        yarn_csv_real(csv, change->values[0]);
        yarn_csv_real(csv, change->values[1]);
        yarn_csv_real(csv, change->change);
        yarn_csv_real(csv, change->low);
        yarn_csv_real(csv, change->high);
    }
    yarn_csv_u64(csv, row->changes[view->options->scale][part].is_noise);
}

void yarn_diff_csv(const struct yarn_diff_view *view, const struct yarn_out *out)
{
    struct yarn_csv csv = {.file = out->file};
    size_t nr_shown = 0;
    put_head(&csv);
    for (size_t i = 0; i < view->diff->count; i++) {
        const struct yarn_diff_row *row = &view->diff->rows[i];
        if (!yarn_diff_is_shown(view, i, &nr_shown))
            continue;
        yarn_csv_text(&csv, view->diff->events[row->event].name);
        yarn_csv_text(&csv, view->diff->match.functions[row->function].name);
        yarn_csv_text(&csv, yarn_diff_module(view, row, false));
        put_part(&csv, view, row, YARN_DIFF_SELF);
        put_part(&csv, view, row, YARN_DIFF_TOTAL);
        yarn_csv_end_line(&csv);
    }
}
