/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/stream/csv.h"
#include "output/yarnprof/stream/numbers.h"
#include "output/yarnprof/views/report.h"

enum { NAME_SIZE = 33 * 1024 }; /* holds the longest demangled name */

static void put_names(struct yarn_csv *csv, const char *const *names)
{
    for (; *names; names++)
        yarn_csv_text(csv, *names);
    yarn_csv_end_line(csv);
}

static const char *const *head_of(enum yarn_by by)
{
#define SUMS "self", "total", "self_percent", "total_percent", "samples", NULL
    static const char *const heads[YARN_BY_COUNT][12] = {
        [YARN_BY_FUNCTION] = {"event", "function", "module", SUMS},
        [YARN_BY_LINE] = {"event", "file", "line", "function", "module", SUMS},
        [YARN_BY_MODULE] = {"event", "module", "module_path", SUMS},
        [YARN_BY_THREAD] = {"event", "thread", "tid", "process", "pid", SUMS},
        [YARN_BY_PROCESS] = {"event", "process", "pid", SUMS},
        [YARN_BY_CPU] = {"event", "cpu", SUMS},
        [YARN_BY_EVENT] = {"event", SUMS},
        [YARN_BY_ADDRESS] = {"event", "address", SUMS},
        [YARN_BY_FIELD] = {"event", "value", SUMS},
    };
#undef SUMS
    return heads[by];
}

static void put_process(const struct yarn_profile *profile, struct yarn_csv *csv, uint32_t number)
{
    yarn_csv_text(csv, yarn_profile_text(profile, profile->dumps[number].comm));
    yarn_csv_u64(csv, profile->dumps[number].process.pid);
}

static void put_function(const struct yarn_profile *profile, struct yarn_csv *csv, uint32_t number)
{
    const struct yarn_profile_function *function = &profile->functions[number];
    static char name[NAME_SIZE];
    (void)snprintf(name, sizeof name, "%s%s", yarn_profile_text(profile, function->name),
                   yarn_report_inlined_of(profile, number));
    yarn_csv_text(csv, name);
    yarn_csv_text(csv, yarn_profile_text(profile, profile->modules[function->module].base));
}

static void put_line(struct yarn_csv *csv, const struct yarn_profile *profile,
                     const struct yarn_place *place)
{
    yarn_csv_text(csv, yarn_profile_text(profile, place->file));
    if (place->line)
        yarn_csv_u64(csv, place->line);
    else
        yarn_csv_text(csv, "");
    put_function(profile, csv, place->function);
}

static void put_key(const struct yarn_profile *profile, struct yarn_csv *csv, enum yarn_by by,
                    uint32_t key)
{
    switch (by) {
    case YARN_BY_FUNCTION:
        put_function(profile, csv, key);
        break;
    case YARN_BY_LINE:
        put_line(csv, profile, &profile->places.places[key]);
        break;
    case YARN_BY_MODULE:
        yarn_csv_text(csv, yarn_profile_text(profile, profile->modules[key].base));
        yarn_csv_text(csv, yarn_profile_text(profile, profile->modules[key].path));
        break;
    case YARN_BY_THREAD:
        yarn_csv_text(csv, yarn_profile_text(profile, profile->threads[key].comm));
        yarn_csv_u64(csv, profile->threads[key].tid);
        put_process(profile, csv, profile->threads[key].dump);
        break;
    case YARN_BY_PROCESS:
        put_process(profile, csv, key);
        break;
    case YARN_BY_CPU:
        yarn_csv_u64(csv, key);
        break;
    case YARN_BY_ADDRESS:
    case YARN_BY_FIELD:
        yarn_csv_text(csv, yarn_profile_text(profile, key));
        break;
    default:
        break;
    }
}

static void put_sums(const struct yarn_profile *profile, struct yarn_csv *csv, uint32_t event,
                     uint64_t self, uint64_t total)
{
    uint64_t whole = profile->events[event].total;
    yarn_csv_u64(csv, self);
    yarn_csv_u64(csv, total);
    yarn_csv_real(csv, yarn_percent(self, whole));
    yarn_csv_real(csv, yarn_percent(total, whole));
}

static void put_rows(const struct yarn_profile_report *report, struct yarn_csv *csv)
{
    const struct yarn_profile *profile = report->profile;
    size_t nr_shown = 0;
    put_names(csv, head_of(report->rows.by));
    for (size_t i = 0; i < report->rows.count; i++) {
        const struct yarn_row *row = &report->rows.rows[i];
        nr_shown = i && row[-1].event == row->event ? nr_shown + 1 : 1;
        if (report->limit && nr_shown > report->limit)
            continue;
        yarn_csv_text(csv, yarn_profile_text(profile, profile->events[row->event].name));
        put_key(profile, csv, report->rows.by, row->key);
        put_sums(profile, csv, row->event, row->self, row->total);
        yarn_csv_u64(csv, row->samples);
        yarn_csv_end_line(csv);
    }
}

static void put_node(const struct yarn_profile *profile, struct yarn_csv *csv,
                     const struct yarn_tree_node *node, uint32_t number)
{
    bool is_root = node->function == YARN_DUMP_NONE;
    yarn_csv_u64(csv, number);
    if (node->parent == YARN_DUMP_NONE)
        yarn_csv_text(csv, "");
    else
        yarn_csv_u64(csv, node->parent);
    yarn_csv_u64(csv, node->depth);
    yarn_csv_text(csv, yarn_profile_text(profile, profile->events[node->event].name));
    if (is_root) {
        yarn_csv_text(csv, "");
        yarn_csv_text(csv, yarn_profile_text(profile, profile->modules[0].base));
    } else {
        put_function(profile, csv, node->function);
    }
    put_sums(profile, csv, node->event, node->self, node->total);
    yarn_csv_u64(csv, node->samples);
    yarn_csv_end_line(csv);
}

static void put_tree(const struct yarn_profile_report *report, struct yarn_csv *csv)
{
    static const char *const head[] = {"id",           "parent",        "depth",   "event",
                                       "function",     "module",        "self",    "total",
                                       "self_percent", "total_percent", "samples", NULL};
    const struct yarn_profile *profile = report->profile;
    size_t nr_shown = 0;
    put_names(csv, head);
    uint32_t number = report->tree.count ? 0 : YARN_DUMP_NONE;
    for (; number != YARN_DUMP_NONE; number = yarn_tree_next(&report->tree, number)) {
        const struct yarn_tree_node *node = &report->tree.nodes[number];
        if (report->limit && nr_shown++ >= report->limit)
            break;
        put_node(profile, csv, node, number);
    }
}

void yarn_report_csv(const struct yarn_profile_report *report, const struct yarn_out *out)
{
    struct yarn_csv csv = {.file = out->file};
    if (report->view == YARN_REPORT_ROWS)
        put_rows(report, &csv);
    else
        put_tree(report, &csv);
}
