/* SPDX-License-Identifier: Apache-2.0 */
#include "output/text/json.h"
#include "output/yarnprof/events/list.h"
#include "output/yarnprof/show/table.h"

const char *yarn_list_excluded(const struct yarn_event_spec *spec, size_t number)
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

int yarn_list_data(const struct yarn_catalogue *catalogue, const struct yarn_out *out)
{
    struct yarn_show_table table = {.out = out, .parts = {columns}};
    return yarn_show_alone(&table, "events", catalogue->rows, catalogue->count,
                           sizeof *catalogue->rows);
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
    for (size_t i = 0; (word = yarn_list_excluded(spec, i)); i++)
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

int yarn_list_answers_json(const struct yarn_list_answer *answers, size_t count,
                           const struct yarn_out *out)
{
    struct yarn_json *json = yarn_json_new(out->file);
    if (!json)
        return -ENOMEM;
    yarn_json_begin_object(json, NULL);
    yarn_json_begin_array(json, "events");
    for (size_t i = 0; i < count; i++) {
        if (answers[i].error.why)
            put_fault(json, &answers[i]);
        for (size_t j = 0; j < answers[i].list.count; j++)
            put_spec(json, &answers[i], &answers[i].list.specs[j]);
    }
    yarn_json_end_array(json);
    yarn_json_end_object(json);
    yarn_json_free(json);
    return 0;
}
