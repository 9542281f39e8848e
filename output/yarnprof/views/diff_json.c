/* SPDX-License-Identifier: Apache-2.0 */
#include "output/text/json.h"
#include "output/yarnprof/views/diff.h"

static const char *const sides[] = {"before", "after"};
static const char *const parts[] = {[YARN_DIFF_SELF] = "self", [YARN_DIFF_TOTAL] = "total"};
static const char *const scales[] = {
    [YARN_DIFF_SHARES] = "percent",
    [YARN_DIFF_SECONDS] = "per_second",
};

static void put_event(const struct yarn_diff_view *view, struct yarn_json *json,
                      const struct yarn_diff_event *event)
{
    yarn_json_begin_object(json, NULL);
    yarn_json_text(json, "name", event->name);
    yarn_json_text(json, "unit", event->unit);
    for (size_t side = 0; side < 2; side++) {
        yarn_json_begin_object(json, sides[side]);
        yarn_json_u64(json, "total", event->totals[side].weight);
        yarn_json_u64(json, "samples", event->totals[side].samples);
        yarn_json_real(json, "seconds", view->diff->times[side].seconds);
        yarn_json_end_object(json);
    }
    yarn_json_end_object(json);
}

static void put_change(struct yarn_json *json, const char *key, const struct yarn_change *change)
{
    yarn_json_begin_object(json, key);
    yarn_json_real(json, "before", change->values[0]);
    yarn_json_real(json, "after", change->values[1]);
    yarn_json_real(json, "change", change->change);
    yarn_json_real(json, "low", change->low);
    yarn_json_real(json, "high", change->high);
    yarn_json_bool(json, "within_noise", change->is_noise);
    yarn_json_end_object(json);
}

static void put_part(struct yarn_json *json, const struct yarn_diff_row *row,
                     enum yarn_diff_part part)
{
    yarn_json_begin_object(json, parts[part]);
    for (size_t side = 0; side < 2; side++) {
        yarn_json_begin_object(json, sides[side]);
        yarn_json_u64(json, "weight", row->sums[part][side].weight);
        yarn_json_u64(json, "samples", row->sums[part][side].samples);
        yarn_json_end_object(json);
    }
    for (size_t scale = 0; scale < YARN_DIFF_SCALE_COUNT; scale++)
        put_change(json, scales[scale], &row->changes[scale][part]);
    yarn_json_end_object(json);
}

static void put_row(const struct yarn_diff_view *view, struct yarn_json *json,
                    const struct yarn_diff_row *row)
{
    yarn_json_begin_object(json, NULL);
    yarn_json_text(json, "event", view->diff->events[row->event].name);
    yarn_json_text(json, "function", view->diff->match.functions[row->function].name);
    yarn_json_text(json, "module", yarn_diff_module(view, row, false));
    yarn_json_text(json, "module_path", yarn_diff_module(view, row, true));
    put_part(json, row, YARN_DIFF_SELF);
    put_part(json, row, YARN_DIFF_TOTAL);
    yarn_json_end_object(json);
}

int yarn_diff_json(const struct yarn_diff_view *view, const struct yarn_out *out)
{
    struct yarn_json *json = yarn_json_new(out->file);
    size_t nr_shown = 0;
    if (!json)
        return -ENOMEM;
    yarn_json_begin_object(json, NULL);
    yarn_json_begin_array(json, "events");
    for (size_t i = 0; i < view->diff->nr_events; i++)
        put_event(view, json, &view->diff->events[i]);
    yarn_json_end_array(json);
    yarn_json_begin_array(json, "rows");
    for (size_t i = 0; i < view->diff->count; i++) {
        if (yarn_diff_is_shown(view, i, &nr_shown))
            put_row(view, json, &view->diff->rows[i]);
    }
    yarn_json_end_array(json);
    yarn_json_end_object(json);
    yarn_json_free(json);
    return 0;
}
