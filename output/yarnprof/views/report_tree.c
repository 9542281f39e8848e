/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "output/yarnprof/io/columns.h"
#include "output/yarnprof/io/numbers.h"
#include "output/yarnprof/views/report.h"

/* How it is drawn: a child that stands alone goes straight below its parent, in the same column, so
 * that a deep chain stays readable; only siblings branch to the right. */

enum { INDENT_MOST = 512, NUMBER_COLUMNS = 20 };

struct drawing {
    const struct yarn_profile_report *report;
    const struct yarn_out *out;
    char rail[4 * INDENT_MOST]; /* what stands before the lines of the present subtree */
    size_t nr_lines;
    size_t nr_hidden; /* by the limit */
};

const char *yarn_report_inlined_of(const struct yarn_profile *profile, uint32_t function)
{
    return profile->functions[function].is_inlined ? " (inlined)" : "";
}

static double share_of(const struct drawing *drawing, const struct yarn_tree_node *node)
{
    return yarn_percent(node->total, drawing->report->profile->events[node->event].total);
}

static void print_numbers(const struct drawing *drawing, const struct yarn_tree_node *node)
{
    const struct yarn_out *out = drawing->out;
    double total = share_of(drawing, node);
    double self = yarn_percent(node->self, drawing->report->profile->events[node->event].total);
    (void)fprintf(out->file, "%s%6.2f %%%s", yarn_out_paint(out, yarn_show_paint_of(total)), total,
                  yarn_out_plain(out));
    if (node->self)
        (void)fprintf(out->file, "  %s%6.2f %%%s  ", yarn_out_paint(out, yarn_show_paint_of(self)),
                      self, yarn_out_plain(out));
    else
        (void)fprintf(out->file, "%12s", "");
}

/* Empty where the caller's node has the same module. */
static const char *module_of(const struct drawing *drawing, const struct yarn_tree_node *node)
{
    const struct yarn_profile *profile = drawing->report->profile;
    uint32_t module = profile->functions[node->function].module;
    uint32_t above = drawing->report->tree.nodes[node->parent].function;
    if (!module || (above != YARN_DUMP_NONE && profile->functions[above].module == module))
        return "";
    return yarn_profile_text(profile, profile->modules[module].base);
}

static void print_node(struct drawing *drawing, const struct yarn_tree_node *node,
                       const char *branch)
{
    const struct yarn_profile *profile = drawing->report->profile;
    const struct yarn_out *out = drawing->out;
    const char *module = module_of(drawing, node);
    const char *inlined = yarn_report_inlined_of(profile, node->function);
    if (drawing->report->limit && drawing->nr_lines >= drawing->report->limit) {
        drawing->nr_hidden++;
        return;
    }
    drawing->nr_lines++;
    print_numbers(drawing, node);
    (void)fprintf(out->file, "%s%s", drawing->rail, branch);
    size_t used = NUMBER_COLUMNS + yarn_text_columns(drawing->rail) + yarn_text_columns(branch) +
                  yarn_text_columns(module) + strlen(inlined) + 3;
    size_t columns = (size_t)out->columns;
    size_t room = columns > used + NUMBER_COLUMNS ? columns - used : NUMBER_COLUMNS;
    yarn_print_cut(out, yarn_profile_text(profile, profile->functions[node->function].name),
                   columns ? room : 0);
    (void)fprintf(out->file, "%s%s", yarn_out_paint(out, YARN_PAINT_FAINT), inlined);
    if (module[0]) {
        (void)fputs("  ", out->file);
        yarn_print_cut(out, module, 0);
    }
    (void)fprintf(out->file, "%s\n", yarn_out_plain(out));
}

/* Room for another step to the right; beyond it branches are drawn in place. */
static bool indent(struct drawing *drawing, const char *step)
{
    size_t size = strlen(drawing->rail);
    if (size + strlen(step) >= sizeof drawing->rail)
        return false;
    (void)strcpy(drawing->rail + size, step);
    return true;
}

static bool is_among_siblings(const struct drawing *drawing, uint32_t number)
{
    const struct yarn_tree_node *nodes = drawing->report->tree.nodes;
    uint32_t first = nodes[nodes[number].parent].first_child;
    return first != number || nodes[number].next_sibling != YARN_DUMP_NONE;
}

static bool is_last(const struct drawing *drawing, uint32_t number)
{
    const struct yarn_tree_node *nodes = drawing->report->tree.nodes;
    return nodes[number].next_sibling == YARN_DUMP_NONE;
}

/* Draws what is below an event, without recursion: stacks may be thousands deep. */
static void draw_event(struct drawing *drawing, uint32_t root)
{
    const struct yarn_tree_node *nodes = drawing->report->tree.nodes;
    size_t *marks = calloc(drawing->report->tree.count + 1, sizeof *marks);
    size_t depth = 0;
    uint32_t number = nodes[root].first_child;
    bool is_callers = drawing->report->view == YARN_REPORT_CALLERS;
    while (marks && number != YARN_DUMP_NONE) {
        bool is_start = is_callers && nodes[number].depth == 1;
        bool branches = !is_start && is_among_siblings(drawing, number);
        bool last = is_last(drawing, number);
        if (is_start && nodes[root].first_child != number)
            (void)fputc('\n', drawing->out->file);
        print_node(drawing, &nodes[number], !branches ? "" : last ? "└─ " : "├─ ");
        marks[depth] = strlen(drawing->rail);
        uint32_t next = nodes[number].first_child;
        if (next != YARN_DUMP_NONE) {
            if (branches)
                (void)indent(drawing, last ? "   " : "│  ");
            depth++;
            number = next;
            continue;
        }
        while (number != root && (next = nodes[number].next_sibling) == YARN_DUMP_NONE) {
            number = nodes[number].parent;
            if (number == root)
                break;
            depth--;
            drawing->rail[marks[depth]] = 0;
        }
        number = number == root ? YARN_DUMP_NONE : next;
    }
    free(marks);
}

static void print_title(const struct drawing *drawing, const struct yarn_tree_node *root)
{
    const struct yarn_out *out = drawing->out;
    (void)fputc('\n', out->file);
    yarn_report_print_event(drawing->report, out, root->event);
    (void)fprintf(out->file, "\n%s%8s  %8s  FUNCTION  MODULE%s\n",
                  yarn_out_paint(out, YARN_PAINT_HEAD), "TOTAL", "SELF", yarn_out_plain(out));
}

static void print_nothing(const struct drawing *drawing)
{
    if (drawing->report->least_percent > 0)
        (void)fprintf(drawing->out->file,
                      "Nothing that is looked at has %g %% or more; --percent-limit=0 shows all.\n",
                      drawing->report->least_percent);
    else
        (void)fputs("Nothing that is looked at has a sample.\n", drawing->out->file);
}

void yarn_report_print_tree(const struct yarn_profile_report *report, const struct yarn_out *out)
{
    struct drawing drawing = {.report = report, .out = out};
    const struct yarn_tree *tree = &report->tree;
    uint32_t root = tree->count ? 0 : YARN_DUMP_NONE;
    for (; root != YARN_DUMP_NONE; root = tree->nodes[root].next_sibling) {
        drawing.nr_lines = drawing.nr_hidden = 0;
        drawing.rail[0] = 0;
        print_title(&drawing, &tree->nodes[root]);
        draw_event(&drawing, root);
        if (tree->nodes[root].first_child == YARN_DUMP_NONE)
            print_nothing(&drawing);
        if (drawing.nr_hidden)
            (void)fprintf(out->file, "… and %s\n",
                          yarn_number_of_things(drawing.nr_hidden, "more line").text);
    }
}
