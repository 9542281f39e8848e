/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <math.h>

#include "core/base/text.h"
#include "output/metrics/metric_file.h"
#include "tests/support/suite.h"

static struct yarn_arena arena;
static struct yarn_metric_file file;
static struct yarn_metric_fault fault;

static void set_up(void)
{
    arena = YARN_ARENA_CLOSED;
    yarn_arena_open(&arena, YARN_KIB(64));
}

static void tear_down(void)
{
    yarn_arena_close(&arena);
}

static int parse(const char *text)
{
    return yarn_metric_file_parse(yarn_span_of_text(text), &arena, &file, &fault);
}

START_TEST(a_file_has_a_title_events_and_metrics)
{
    ck_assert_int_eq(parse("# of ours\n\ntitle \"Instructions per cycle\"\r\n"
                           "event C, I = {cycles,instructions}\n"
                           "  metric ipc = I / C [1] \"instructions per cycle; [sic]\""),
                     0);
    ck_assert_str_eq(file.title, "Instructions per cycle");
    ck_assert_uint_eq(file.nr_names, 2);
    ck_assert_str_eq(file.names[1], "I");
    ck_assert_uint_eq(file.nr_lists, 1);
    ck_assert_str_eq(file.lists[0].text, "{cycles,instructions}");
    ck_assert_uint_eq(file.lists[0].line, 4);
    ck_assert_str_eq(file.metrics[0].name, "ipc");
    ck_assert_str_eq(file.metrics[0].unit, "1");
    ck_assert_str_eq(file.metrics[0].text, "instructions per cycle; [sic]");
}
END_TEST

static const double values[] = {2, NAN, 4, 10, 3};

static const struct {
    const char *text;
    double want;
} formulas[] = {
    {"A", 10},
    {"A + B * 2", 16},
    {"(A + B) * 2", 26},
    {"A - B - 1", 6},
    {"A / B / 2", 10.0 / 3 / 2},
    {"-A + 2.5", -7.5},
    {"-(A-B)*-2", 14},
    {"100 * B / (A * time * cpus)", 100 * 3.0 / 80},
    {".5*A", 5},
    {"A / (B - 3)", NAN},
    {"A * threads", NAN},
};

START_TEST(a_formula_is_worked_out_as_it_is_written)
{
    char text[256];
    struct yarn_text line = yarn_text_of(text, sizeof text);
    yarn_text_add(&line, "event A, B = a,b\nmetric m = ");
    yarn_text_add(&line, formulas[_i].text);
    yarn_text_add(&line, " [1] \"\"");
    ck_assert_int_eq(parse(text), 0);
    double got = yarn_expression_evaluate(&file.metrics[0].expression, values);
    if (isnan(formulas[_i].want))
        ck_assert(isnan(got));
    else
        ck_assert_double_eq_tol(got, formulas[_i].want, 1e-12);
}
END_TEST

START_TEST(what_is_missing_has_a_number)
{
    ck_assert_int_eq(parse("event A = a\nmetric m = A * threads [1] \"\""), 0);
    ck_assert_int_eq(yarn_expression_missing(&file.metrics[0].expression, values),
                     YARN_METRIC_THREADS);
    ck_assert_int_eq(parse("event A = a\nmetric m = A / 0 [1] \"\""), 0);
    ck_assert_int_eq(yarn_expression_missing(&file.metrics[0].expression, values), -ENOENT);
}
END_TEST

static const struct {
    const char *text;
    unsigned line;
    const char *why;
} faults[] = {
    {"", 1, "the file has no metric"},
    {"title \"a\"\n", 1, "the file has no metric"},
    {"metrik m = 1 [1] \"\"", 1, "metrik: a line begins with"},
    {"\ntitle a", 2, "in \"quotes\""},
    {"title \"a\"\ntitle \"b\"", 2, "a second title"},
    {"event = a", 1, "the name of an event is missing"},
    {"event A a", 1, "= is missing"},
    {"event A =", 1, "the list of events is missing"},
    {"event A, A = a,b", 1, "A: this name is taken"},
    {"event time = a", 1, "time: this name is taken"},
    {"metric = 1 [1] \"\"", 1, "the name of the metric is missing"},
    {"metric m 1 [1] \"\"", 1, "= is missing"},
    {"metric m = 1 \"\"", 1, "the unit is missing"},
    {"metric m = 1 [] \"\"", 1, "a unit is missing"},
    {"metric m = 1 [1]", 1, "in \"quotes\""},
    {"metric m = 1 [1] \"a\"b\"", 1, "no quotes inside"},
    {"metric m = 1 [1] \"\"\nmetric m = 2 [1] \"\"", 2, "m: there is a metric of this name"},
    {"metric m = X [1] \"\"", 1, "X: no event of this file"},
    {"metric m = 1 + [1] \"\"", 1, "a number, a name or ( is missing"},
    {"metric m = (1 [1] \"\"", 1, "the closing ) is missing"},
    {"metric m = 1 2 [1] \"\"", 1, "2: an operator is missing"},
    {"metric m = 1..2 [1] \"\"", 1, ".: an operator is missing"},
    {"metric m = 1 % 2 [1] \"\"", 1, "%: an operator is missing"},
};

START_TEST(a_fault_has_its_line_and_a_sentence)
{
    ck_assert_int_eq(parse(faults[_i].text), -EINVAL);
    ck_assert_uint_eq(fault.line, faults[_i].line);
    ck_assert_msg(strstr(fault.text, faults[_i].why), "%s", fault.text);
}
END_TEST

START_TEST(a_formula_has_a_bound)
{
    static char text[4096] = "metric m = ";
    for (size_t i = strlen(text); i < sizeof text - 1; i++)
        text[i] = '(';
    ck_assert_int_eq(parse(text), -EINVAL);
    char *at = stpcpy(text, "metric m = 1");
    for (int i = 0; i < 100; i++)
        at = stpcpy(at, "+1");
    (void)stpcpy(at, "[1]\"\"");
    ck_assert_int_eq(parse(text), -EINVAL);
    ck_assert_str_eq(fault.text, "the formula is too long");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("metrics");
    TCase *files = tcase_create("files");
    tcase_add_checked_fixture(files, set_up, tear_down);
    tcase_add_test(files, a_file_has_a_title_events_and_metrics);
    tcase_add_loop_test(files, a_formula_is_worked_out_as_it_is_written, 0,
                        YARN_COUNT_OF(formulas));
    tcase_add_test(files, what_is_missing_has_a_number);
    tcase_add_loop_test(files, a_fault_has_its_line_and_a_sentence, 0, YARN_COUNT_OF(faults));
    tcase_add_test(files, a_formula_has_a_bound);
    suite_add_tcase(suite, files);
    return run_suite(suite);
}
