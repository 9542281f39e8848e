/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/io/numbers.h"
#include "output/yarnprof/show/table.h"
#include "output/yarnprof/views/report.h"

/* Rows, and nodes of a tree, as CSV and JSON; the columns that they have in text, too. */

/* A node reads as a row of its function. */
struct node {
    struct yarn_row row; /* `key` is YARN_DUMP_NONE of an event's root */
    uint32_t number, parent, depth;
};

static const struct yarn_profile *profile_of(const struct yarn_show_cell *cell)
{
    return ((const struct yarn_profile_report *)cell->self)->profile;
}

static uint32_t key_of(const struct yarn_show_cell *cell)
{
    return ((const struct yarn_row *)cell->row)->key;
}

static void show_string(struct yarn_show_cell *cell, uint32_t text)
{
    yarn_show_text(cell, yarn_profile_text(profile_of(cell), text));
}

static void get_event(struct yarn_show_cell *cell)
{
    const struct yarn_row *row = cell->row;
    show_string(cell, profile_of(cell)->events[row->event].name);
}

static double percent_of(const struct yarn_show_cell *cell, uint64_t part)
{
    const struct yarn_row *row = cell->row;
    return yarn_percent(part, profile_of(cell)->events[row->event].total);
}

static void get_self_percent(struct yarn_show_cell *cell)
{
    yarn_show_real(cell, percent_of(cell, ((const struct yarn_row *)cell->row)->self));
}

static void get_total_percent(struct yarn_show_cell *cell)
{
    yarn_show_real(cell, percent_of(cell, ((const struct yarn_row *)cell->row)->total));
}

static bool is_one_share(const void *self)
{
    return yarn_report_is_one_share(self);
}

static bool is_two_shares(const void *self)
{
    return !yarn_report_is_one_share(self);
}

#define MEMBER(name) YARN_SHOW_MEMBER(struct yarn_row, name)
#define SHARE .unit = YARN_SHOW_SHARE, .width = 8

const struct yarn_show_column yarn_report_sums[] = {
    YARN_SHOW_COLUMN("self", NULL, MEMBER(self)),
    YARN_SHOW_COLUMN("total", NULL, MEMBER(total)),
    YARN_SHOW_COLUMN("self_percent", "SELF", .get = get_self_percent, SHARE,
                     .is_wanted = is_two_shares),
    YARN_SHOW_COLUMN(NULL, "SHARE", .get = get_self_percent, SHARE, .is_wanted = is_one_share),
    YARN_SHOW_COLUMN("total_percent", "TOTAL", .get = get_total_percent, SHARE, .gap = 2,
                     .is_wanted = is_two_shares),
    YARN_SHOW_COLUMN("samples", "SAMPLES", MEMBER(samples), .unit = YARN_SHOW_GROUPED, .gap = 2,
                     .width = 10, .is_wanted = is_one_share),
    YARN_SHOW_COLUMN("total_samples", NULL, MEMBER(total_samples)),
    {0},
};

/* ---- what a row stands for ---- */

static const struct yarn_place *place_of(const struct yarn_show_cell *cell)
{
    return &profile_of(cell)->places.places[key_of(cell)];
}

/* NULL: of an event's root. */
static const struct yarn_profile_function *function_of(const struct yarn_show_cell *cell)
{
    const struct yarn_profile_report *report = cell->self;
    uint32_t key = key_of(cell);
    if (key == YARN_DUMP_NONE)
        return NULL;
    return &profile_of(cell)
                ->functions[report->rows.by == YARN_BY_LINE ? place_of(cell)->function : key];
}

static void get_function(struct yarn_show_cell *cell)
{
    const struct yarn_profile_function *function = function_of(cell);
    if (function)
        show_string(cell, function->name);
}

static void get_marked_function(struct yarn_show_cell *cell)
{
    const struct yarn_profile_function *function = function_of(cell);
    if (function)
        yarn_show_add(cell, "%s%s", yarn_profile_text(profile_of(cell), function->name),
                      function->is_inlined ? " (inlined)" : "");
}

static void get_module(struct yarn_show_cell *cell)
{
    const struct yarn_profile_function *function = function_of(cell);
    if (function)
        show_string(cell, profile_of(cell)->modules[function->module].base);
}

static void get_module_or_unknown(struct yarn_show_cell *cell)
{
    const struct yarn_profile_function *function = function_of(cell);
    show_string(cell, profile_of(cell)->modules[function ? function->module : 0].base);
}

static void get_module_path(struct yarn_show_cell *cell)
{
    const struct yarn_profile_function *function = function_of(cell);
    if (function)
        show_string(cell, profile_of(cell)->modules[function->module].path);
    else
        cell->kind = YARN_SHOW_MISSING;
}

static void get_inlined(struct yarn_show_cell *cell)
{
    const struct yarn_profile_function *function = function_of(cell);
    if (function && function->is_inlined)
        yarn_show_bool(cell, true);
    else
        cell->kind = YARN_SHOW_MISSING;
}

static void get_file(struct yarn_show_cell *cell)
{
    show_string(cell, place_of(cell)->file);
}

static void get_known_file(struct yarn_show_cell *cell)
{
    if (place_of(cell)->line)
        get_file(cell);
}

static void get_line(struct yarn_show_cell *cell)
{
    yarn_show_u64_if(cell, place_of(cell)->line, place_of(cell)->line);
}

static void get_base(struct yarn_show_cell *cell)
{
    show_string(cell, profile_of(cell)->modules[key_of(cell)].base);
}

static void get_path(struct yarn_show_cell *cell)
{
    show_string(cell, profile_of(cell)->modules[key_of(cell)].path);
}

static void get_thread(struct yarn_show_cell *cell)
{
    show_string(cell, profile_of(cell)->threads[key_of(cell)].comm);
}

static void get_tid(struct yarn_show_cell *cell)
{
    yarn_show_u64(cell, profile_of(cell)->threads[key_of(cell)].tid);
}

/* Of a thread its own. */
static const struct yarn_profile_dump *dump_of(const struct yarn_show_cell *cell)
{
    const struct yarn_profile_report *report = cell->self;
    const struct yarn_profile *profile = report->profile;
    uint32_t key = key_of(cell);
    return &profile->dumps[report->rows.by == YARN_BY_THREAD ? profile->threads[key].dump : key];
}

static void get_process(struct yarn_show_cell *cell)
{
    show_string(cell, dump_of(cell)->comm);
}

static void get_program(struct yarn_show_cell *cell)
{
    show_string(cell, dump_of(cell)->program);
}

static void get_pid(struct yarn_show_cell *cell)
{
    yarn_show_u64(cell, dump_of(cell)->process.pid);
}

/* NULL: samples about no memory. */
static const struct yarn_profile_access *access_of(const struct yarn_show_cell *cell)
{
    const struct yarn_profile *profile = profile_of(cell);
    uint32_t number = yarn_table_find(&profile->access_index, key_of(cell));
    return number == YARN_TABLE_NONE ? NULL : &profile->accesses[number];
}

static void get_address(struct yarn_show_cell *cell)
{
    const struct yarn_profile_access *access = access_of(cell);
    show_string(cell, access ? access->address : key_of(cell));
}

static void get_data_source(struct yarn_show_cell *cell)
{
    const struct yarn_profile_access *access = access_of(cell);
    if (access && access->source)
        show_string(cell, access->source);
}

static void get_latency(struct yarn_show_cell *cell)
{
    const struct yarn_row *row = cell->row;
    if (row->latency)
        yarn_show_real(cell, (double)row->latency / (double)row->total_samples);
}

static void get_field(struct yarn_show_cell *cell)
{
    yarn_show_text(cell, ((const struct yarn_profile_report *)cell->self)->field);
}

static void get_text(struct yarn_show_cell *cell)
{
    show_string(cell, key_of(cell));
}

#define CSV_ONLY .flags = YARN_SHOW_NOT_JSON
#define JSON_ONLY .flags = YARN_SHOW_NOT_CSV
#define EVENT YARN_SHOW_COLUMN("event", NULL, .get = get_event)
#define FUNCTION                                                                                   \
    YARN_SHOW_COLUMN("function", NULL, .get = get_function, JSON_ONLY),                            \
        YARN_SHOW_COLUMN("function", NULL, .get = get_marked_function, CSV_ONLY),                  \
        YARN_SHOW_COLUMN("module", NULL, .get = get_module, JSON_ONLY),                            \
        YARN_SHOW_COLUMN("module", NULL, .get = get_module_or_unknown, CSV_ONLY),                  \
        YARN_SHOW_COLUMN("module_path", NULL, .get = get_module_path, JSON_ONLY),                  \
        YARN_SHOW_COLUMN("inlined", NULL, .get = get_inlined, JSON_ONLY)
/* In JSON each row has them. */
#define NO_FUNCTION YARN_SHOW_COLUMN("function", NULL, JSON_ONLY)
#define NO_MODULE YARN_SHOW_COLUMN("module", NULL, JSON_ONLY)
#define PROCESS                                                                                    \
    YARN_SHOW_COLUMN("process", NULL, .get = get_process),                                         \
        YARN_SHOW_COLUMN("program", NULL, .get = get_program, JSON_ONLY),                          \
        YARN_SHOW_COLUMN("pid", NULL, .get = get_pid)

enum { KEY_COLUMNS = 12 };

static const struct yarn_show_column keys[YARN_BY_COUNT][KEY_COLUMNS] = {
    [YARN_BY_FUNCTION] = {EVENT, FUNCTION},
    [YARN_BY_LINE] = {EVENT, YARN_SHOW_COLUMN("file", NULL, .get = get_file, CSV_ONLY),
                      YARN_SHOW_COLUMN("line", NULL, .get = get_line, CSV_ONLY), FUNCTION,
                      YARN_SHOW_COLUMN("file", NULL, .get = get_known_file, JSON_ONLY),
                      YARN_SHOW_COLUMN("line", NULL, .get = get_line, JSON_ONLY)},
    [YARN_BY_MODULE] = {EVENT, NO_FUNCTION, YARN_SHOW_COLUMN("module", NULL, .get = get_base),
                        YARN_SHOW_COLUMN("module_path", NULL, .get = get_path)},
    [YARN_BY_THREAD] = {EVENT, NO_FUNCTION, NO_MODULE,
                        YARN_SHOW_COLUMN("thread", NULL, .get = get_thread),
                        YARN_SHOW_COLUMN("comm", NULL, .get = get_thread, JSON_ONLY),
                        YARN_SHOW_COLUMN("tid", NULL, .get = get_tid), PROCESS},
    [YARN_BY_PROCESS] = {EVENT, NO_FUNCTION, NO_MODULE, PROCESS},
    [YARN_BY_PROGRAM] = {EVENT, NO_FUNCTION, NO_MODULE,
                         YARN_SHOW_COLUMN("program", NULL, .get = get_text)},
    [YARN_BY_COMMAND] = {EVENT, NO_FUNCTION, NO_MODULE,
                         YARN_SHOW_COLUMN("command", NULL, .get = get_text)},
    [YARN_BY_HOST] = {EVENT, NO_FUNCTION, NO_MODULE,
                      YARN_SHOW_COLUMN("host", NULL, .get = get_text)},
    [YARN_BY_RANK] = {EVENT, NO_FUNCTION, NO_MODULE,
                      YARN_SHOW_COLUMN("rank", NULL, .get = get_text)},
    [YARN_BY_CPU] = {EVENT, NO_FUNCTION, NO_MODULE, YARN_SHOW_COLUMN("cpu", NULL, MEMBER(key))},
    [YARN_BY_EVENT] = {EVENT, NO_FUNCTION, NO_MODULE},
    [YARN_BY_ADDRESS] = {EVENT, NO_FUNCTION, NO_MODULE,
                         YARN_SHOW_COLUMN("address", NULL, .get = get_address),
                         YARN_SHOW_COLUMN("data_src", NULL, .get = get_data_source),
                         YARN_SHOW_COLUMN("weight", NULL, .get = get_latency)},
    [YARN_BY_FIELD] = {EVENT, NO_FUNCTION, NO_MODULE,
                       YARN_SHOW_COLUMN("field", NULL, .get = get_field, JSON_ONLY),
                       YARN_SHOW_COLUMN("value", NULL, .get = get_text)},
};

/* CSV has them last: each column keeps its place. */
static const struct yarn_show_column csv_of_function[] = {
    YARN_SHOW_COLUMN("module_path", NULL, .get = get_module_path, CSV_ONLY),
    YARN_SHOW_COLUMN("inlined", NULL, .get = get_inlined, .unit = YARN_SHOW_WORD, CSV_ONLY),
    {0},
};

void yarn_report_rows(const struct yarn_profile_report *report, const struct yarn_out *out)
{
    bool has_function = report->rows.by == YARN_BY_FUNCTION || report->rows.by == YARN_BY_LINE;
    struct yarn_show_table table = {
        .out = out,
        .self = report,
        .parts = {keys[report->rows.by], yarn_report_sums, has_function ? csv_of_function : NULL},
    };
    size_t nr_shown = 0;
    yarn_show_begin(&table, "rows");
    for (size_t i = 0; i < report->rows.count; i++) {
        const struct yarn_row *row = &report->rows.rows[i];
        nr_shown = i && row[-1].event == row->event ? nr_shown + 1 : 1;
        if (!report->limit || nr_shown <= report->limit)
            yarn_show_row(&table, row);
    }
    yarn_show_end(&table);
}

/* ---- nodes ---- */

static void get_parent(struct yarn_show_cell *cell)
{
    const struct node *node = cell->row;
    yarn_show_u64_if(cell, node->parent != YARN_DUMP_NONE, node->parent);
}

static const struct yarn_show_column nodes[] = {
    YARN_SHOW_COLUMN("id", NULL, YARN_SHOW_MEMBER(struct node, number)),
    YARN_SHOW_COLUMN("parent", NULL, .get = get_parent),
    YARN_SHOW_COLUMN("depth", NULL, YARN_SHOW_MEMBER(struct node, depth)),
    EVENT,
    FUNCTION,
    {0},
};

/* A list and no nest: stacks are deeper than what readers of JSON take. */
void yarn_report_nodes(const struct yarn_profile_report *report, const struct yarn_out *out)
{
    struct yarn_show_table table = {
        .out = out, .self = report, .parts = {nodes, yarn_report_sums, csv_of_function}};
    const struct yarn_tree *tree = &report->tree;
    uint32_t number = tree->count ? 0 : YARN_DUMP_NONE;
    yarn_show_begin(&table, report->view == YARN_REPORT_TREE ? "tree" : "callers");
    for (size_t i = 0; number != YARN_DUMP_NONE && (!report->limit || i < report->limit); i++) {
        const struct yarn_tree_node *node = &tree->nodes[number];
        const struct node shown = {
            .row = {.event = node->event,
                    .key = node->function,
                    .self = node->self,
                    .total = node->total,
                    .samples = node->samples,
                    .total_samples = node->total_samples},
            .number = number,
            .parent = node->parent,
            .depth = node->depth,
        };
        yarn_show_row(&table, &shown);
        number = yarn_tree_next(tree, number);
    }
    yarn_show_end(&table);
}
