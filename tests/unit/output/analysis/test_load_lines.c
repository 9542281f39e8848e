/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "inlined.h"
#include "loaded.h"
#include "output/fold/tree.h"
#include "tests/support/suite.h"

static struct loaded loaded;
static struct dump_maker maker;
static struct yarn_lines *lines;

static void set_up(void)
{
    (void)unsetenv("DEBUGINFOD_URLS");
    loaded_open(&loaded);
    dump_maker_open(&maker, loaded_path(&loaded, "app"), "app", 100);
    lines = yarn_lines_new(NULL);
    ck_assert_ptr_nonnull(lines);
}

static void tear_down(void)
{
    yarn_lines_free(lines);
    loaded_close(&loaded);
}

static void add_module(const struct inlined *inlined)
{
    struct yarn_dump_module module = {
        .number = 2,
        .start = 0x7e0000000000,
        .end = 0x7e0000100000,
        .time_ns = MAKER_START_NS,
        .path = yarn_span_of_text(inlined->path),
        .build_id = yarn_span_of(inlined->build_id, inlined->build_id_size),
        .state = 1,
    };
    yarn_dump_write_module(maker.writer, &module);
}

/* Samples below main: in the inlined code, in the function around it. */
static void add_samples(const struct inlined *inlined, const char *name, uint64_t at_add,
                        uint64_t at_day)
{
    struct yarn_dump_symbol symbol = {
        .module = 2,
        .start = inlined->at_day - 8,
        .end = inlined->at_add + 8,
        .name = yarn_span_of_text(name),
    };
    struct yarn_dump_frame frame = {.symbol = yarn_dump_intern_symbol(maker.writer, &symbol)};
    uint32_t below = dump_maker_stack(&maker, "main");
    frame.address = inlined->at_add;
    uint32_t add =
        yarn_dump_intern_stack(maker.writer, below, yarn_dump_add_frame(maker.writer, &frame));
    frame.address = inlined->at_day;
    uint32_t day =
        yarn_dump_intern_stack(maker.writer, below, yarn_dump_add_frame(maker.writer, &frame));
    dump_maker_sample(&maker, 100, add, YARN_DUMP_STACK_COMPLETE, at_add);
    dump_maker_sample(&maker, 100, day, YARN_DUMP_STACK_COMPLETE, at_day);
}

static void read_all(bool has_lines, bool has_no_inlines)
{
    struct yarn_load_options options = {
        .time = YARN_TIME_RANGE_ALL,
        .lines = has_lines ? lines : NULL,
        .has_no_inlines = has_no_inlines,
    };
    struct yarn_sources sources = {0};
    struct yarn_source_failure failure;
    dump_maker_close(&maker, false);
    ck_assert_int_eq(yarn_sources_add(&sources, loaded.folder, &failure), 0);
    ck_assert_int_eq(yarn_profile_init(&loaded.profile), 0);
    loaded.is_read = true;
    ck_assert_int_eq(yarn_profile_load(&loaded.profile, &sources, &options, &failure), 0);
    yarn_sources_fini(&sources);
}

static void make(int compiler, const char *name)
{
    struct inlined inlined = inlined_of(compiler, "whole");
    add_module(&inlined);
    add_samples(&inlined, name, 30, 10);
}

START_TEST(self_goes_to_the_innermost_inlined_function)
{
    make(_i, "_ZN4shop3dayEi");
    read_all(true, false);
    ck_assert_str_eq(loaded_rows(&loaded, NULL, YARN_BY_FUNCTION),
                     "shop::Till::add(int) 30 30 30; shop::day(int) 10 40 10; main 0 40 0; "
                     "shop::Till::sell(int) 0 30 0");
}
END_TEST

START_TEST(without_lines_the_function_around_has_it_all)
{
    make(_i, "_ZN4shop3dayEi");
    read_all(false, false);
    ck_assert_str_eq(loaded_rows(&loaded, NULL, YARN_BY_FUNCTION),
                     "shop::day(int) 40 40 40; main 0 40 0");
}
END_TEST

START_TEST(inlined_functions_are_nodes_and_marked)
{
    static const struct {
        const char *name;
        bool is_inlined;
    } want[] = {{"main", false},
                {"shop::day(int)", false},
                {"shop::Till::sell(int)", true},
                {"shop::Till::add(int)", true}};
    struct yarn_tree tree;
    make(_i, "_ZN4shop3dayEi");
    read_all(true, false);
    ck_assert_int_eq(yarn_tree_build(loaded_choose(&loaded, NULL), 0, &tree), 0);
    uint32_t node = yarn_tree_next(&tree, 0);
    for (size_t i = 0; i < YARN_COUNT_OF(want); i++, node = yarn_tree_next(&tree, node)) {
        ck_assert_uint_ne(node, YARN_DUMP_NONE);
        const struct yarn_profile_function *function =
            &loaded.profile.functions[tree.nodes[node].function];
        ck_assert_str_eq(yarn_profile_text(&loaded.profile, function->name), want[i].name);
        ck_assert(function->is_inlined == want[i].is_inlined);
        ck_assert_uint_eq(tree.nodes[node].depth, i + 1);
    }
    ck_assert_uint_eq(node, YARN_DUMP_NONE);
    yarn_tree_fini(&tree);
}
END_TEST

START_TEST(rows_by_line_have_self_of_the_line_and_total_of_the_calls_in_it)
{
    char want[256];
    make(_i, "_ZN4shop3dayEi");
    read_all(true, false);
    (void)snprintf(want, sizeof want,
                   "inlined.cc:%u 30 30 30; inlined.cc:%u 10 10 10; [main] 0 40 0; "
                   "inlined.cc:%u 0 30 0; inlined.cc:%u 0 30 0",
                   inlined_line("add"), inlined_line("day"), inlined_line("sell calls add"),
                   inlined_line("day calls sell"));
    ck_assert_str_eq(loaded_rows(&loaded, NULL, YARN_BY_LINE), want);
}
END_TEST

START_TEST(a_relative_path_begins_where_the_compiler_ran)
{
    char path[PATH_MAX];
    size_t nr_lines = 0;
    struct inlined inlined = inlined_of(_i, "relative");
    inlined.build_id_size = 0;
    add_module(&inlined);
    add_samples(&inlined, "_ZN4shop3dayEi", 30, 10);
    read_all(true, false);
    for (size_t i = 0; i < loaded.profile.nr_frames; i++) {
        const struct yarn_profile_frame *frame = &loaded.profile.frames[i];
        if (!frame->line)
            continue;
        const char *file = yarn_profile_text(&loaded.profile, frame->file);
        ck_assert_msg(*file == '/' && realpath(file, path), "%s", file);
        ck_assert_str_eq(path, inlined_source);
        nr_lines++;
    }
    ck_assert_uint_eq(nr_lines, 4);
}
END_TEST

START_TEST(lines_without_inlined_functions_are_those_of_the_code)
{
    char want[256];
    make(_i, "_ZN4shop3dayEi");
    read_all(true, true);
    (void)snprintf(want, sizeof want,
                   "inlined.cc:%u 30 30 30; inlined.cc:%u 10 10 10; [main] 0 40 0",
                   inlined_line("add"), inlined_line("day"));
    ck_assert_str_eq(loaded_rows(&loaded, NULL, YARN_BY_LINE), want);
    ck_assert_str_eq(loaded_rows(&loaded, NULL, YARN_BY_FUNCTION),
                     "shop::day(int) 40 40 40; main 0 40 0");
}
END_TEST

START_TEST(code_that_had_no_name_gets_the_one_of_the_debug_information)
{
    make(_i, "");
    read_all(true, true);
    ck_assert_str_eq(loaded_rows(&loaded, NULL, YARN_BY_FUNCTION),
                     "shop::day(int) 40 40 40; main 0 40 0");
}
END_TEST

START_TEST(two_dumps_of_one_program_have_the_same_lines)
{
    char want[64];
    make(_i, "_ZN4shop3dayEi");
    dump_maker_close(&maker, false);
    dump_maker_open(&maker, loaded_path(&loaded, "app.1"), "app", 101);
    make(_i, "_ZN4shop3dayEi");
    read_all(true, false);
    (void)snprintf(want, sizeof want, "inlined.cc:%u 60 60 60; ", inlined_line("add"));
    const char *rows = loaded_rows(&loaded, NULL, YARN_BY_LINE);
    ck_assert_msg(strncmp(rows, want, strlen(want)) == 0, "%s", rows);
}
END_TEST

START_TEST(where_no_line_is_known_the_function_stands_for_it)
{
    dump_maker_sample(&maker, 100, dump_maker_stack(&maker, "main;work"), YARN_DUMP_STACK_COMPLETE,
                      20);
    dump_maker_sample(&maker, 100, dump_maker_stack(&maker, "main;lib!+1a0"),
                      YARN_DUMP_STACK_TRUNCATED, 10);
    dump_maker_sample(&maker, 100, dump_maker_stack(&maker, "main;?"), YARN_DUMP_STACK_COMPLETE, 5);
    dump_maker_sample(&maker, 100, YARN_DUMP_NONE, YARN_DUMP_STACK_NONE, 3);
    read_all(true, false);
    ck_assert_str_eq(loaded_rows(&loaded, NULL, YARN_BY_LINE),
                     "[work] 20 20 20; libx.so.1+0x1a0 10 10 10; [unknown] 5 5 5; "
                     "[no stack] 3 3 3; [main] 0 35 0; [truncated] 0 10 0");
}
END_TEST

START_TEST(a_replaced_file_gives_no_lines)
{
    enum yarn_debuginfo_state why;
    struct inlined inlined = inlined_of(0, "whole");
    inlined.build_id[3] ^= 1;
    add_module(&inlined);
    add_samples(&inlined, "_ZN4shop3dayEi", 30, 10);
    read_all(true, false);
    ck_assert_str_eq(loaded_rows(&loaded, NULL, YARN_BY_LINE),
                     "[shop::day(int)] 40 40 40; [main] 0 40 0");
    ck_assert_str_eq(yarn_lines_unknown(lines, 0, &why), inlined.path);
}
END_TEST

START_TEST(a_filter_finds_inlined_functions)
{
    struct yarn_filter filter = {0};
    char why[160];
    make(_i, "_ZN4shop3dayEi");
    read_all(true, false);
    ck_assert_int_eq(yarn_filter_set_function(&filter, "sell", why, sizeof why), 0);
    ck_assert_str_eq(loaded_rows(&loaded, &filter, YARN_BY_FUNCTION),
                     "shop::Till::sell(int) 0 30 0");
    yarn_filter_fini(&filter);
}
END_TEST

int main(void)
{
    int nr = inlined_count();
    Suite *suite = suite_create("load lines");
    TCase *inlined = tcase_create("inlined functions of each compiler");
    tcase_add_checked_fixture(inlined, set_up, tear_down);
    tcase_add_loop_test(inlined, self_goes_to_the_innermost_inlined_function, 0, nr);
    tcase_add_loop_test(inlined, without_lines_the_function_around_has_it_all, 0, nr);
    tcase_add_loop_test(inlined, inlined_functions_are_nodes_and_marked, 0, nr);
    tcase_add_loop_test(inlined, rows_by_line_have_self_of_the_line_and_total_of_the_calls_in_it, 0,
                        nr);
    tcase_add_loop_test(inlined, a_relative_path_begins_where_the_compiler_ran, 0, nr);
    tcase_add_loop_test(inlined, lines_without_inlined_functions_are_those_of_the_code, 0, nr);
    tcase_add_loop_test(inlined, code_that_had_no_name_gets_the_one_of_the_debug_information, 0,
                        nr);
    tcase_add_loop_test(inlined, two_dumps_of_one_program_have_the_same_lines, 0, nr);
    tcase_add_loop_test(inlined, a_filter_finds_inlined_functions, 0, nr);
    suite_add_tcase(suite, inlined);
    TCase *unknown = tcase_create("lines that are not known");
    tcase_add_checked_fixture(unknown, set_up, tear_down);
    tcase_add_test(unknown, where_no_line_is_known_the_function_stands_for_it);
    tcase_add_test(unknown, a_replaced_file_gives_no_lines);
    suite_add_tcase(suite, unknown);
    return run_suite(suite);
}
