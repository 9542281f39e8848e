/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "loaded.h"
#include "output/fold/tree.h"
#include "tests/support/suite.h"

static struct loaded loaded;
static struct dump_maker maker;

static void set_up(void)
{
    loaded_open(&loaded);
    dump_maker_open(&maker, loaded_path(&loaded, "a"), "app", 100);
}

static void tear_down(void)
{
    loaded_close(&loaded);
}

static void sample(const char *words, uint32_t end, uint64_t count)
{
    uint32_t stack = *words ? dump_maker_stack(&maker, words) : YARN_DUMP_NONE;
    dump_maker_sample(&maker, 100, stack, end, count);
}

/* "depth name self/total" of each node, the functions only. */
static const char *describe(const struct yarn_tree *tree)
{
    static char text[4096];
    size_t at = 0;
    text[0] = 0;
    uint32_t number = tree->count ? 0 : YARN_DUMP_NONE;
    for (; number != YARN_DUMP_NONE; number = yarn_tree_next(tree, number)) {
        const struct yarn_tree_node *node = &tree->nodes[number];
        if (node->function == YARN_DUMP_NONE)
            continue;
        uint32_t name = loaded.profile.functions[node->function].name;
        at +=
            (size_t)snprintf(text + at, sizeof text - at, "%s%u %s %" PRIu64 "/%" PRIu64,
                             at ? "; " : "", node->depth, yarn_profile_text(&loaded.profile, name),
                             node->self / MAKER_PERIOD_NS, node->total / MAKER_PERIOD_NS);
    }
    return text;
}

static const char *tree_of(const struct yarn_filter *filter, double min_percent)
{
    struct yarn_tree tree;
    dump_maker_close(&maker, false);
    loaded_read(&loaded);
    ck_assert_int_eq(yarn_tree_build(loaded_choose(&loaded, filter), min_percent, &tree), 0);
    const char *text = describe(&tree);
    yarn_tree_fini(&tree);
    return text;
}

static const char *callers_of(const char *name, double min_percent)
{
    struct yarn_tree tree;
    struct yarn_callers_options options = {.min_percent = min_percent};
    dump_maker_close(&maker, false);
    loaded_read(&loaded);
    uint8_t *starts = calloc(loaded.profile.nr_functions, 1);
    for (size_t i = 0; name && i < loaded.profile.nr_functions; i++)
        starts[i] =
            strcmp(name, yarn_profile_text(&loaded.profile, loaded.profile.functions[i].name)) == 0;
    options.starts = name ? starts : NULL;
    ck_assert_int_eq(yarn_callers_build(loaded_choose(&loaded, NULL), &options, &tree), 0);
    const char *text = describe(&tree);
    yarn_tree_fini(&tree);
    free(starts);
    return text;
}

START_TEST(equal_paths_are_one_and_the_largest_comes_first)
{
    sample("main;a;b", YARN_DUMP_STACK_COMPLETE, 2);
    sample("main;c", YARN_DUMP_STACK_COMPLETE, 5);
    sample("main;a", YARN_DUMP_STACK_COMPLETE, 1);
    ck_assert_str_eq(tree_of(NULL, 0), "1 main 0/8; 2 c 5/5; 2 a 1/3; 3 b 2/2");
}
END_TEST

START_TEST(cut_stacks_hang_below_the_reason)
{
    sample("main;a", YARN_DUMP_STACK_COMPLETE, 5);
    sample("a", YARN_DUMP_STACK_TRUNCATED, 4);
    sample("a", YARN_DUMP_STACK_NO_UNWIND_INFO, 3);
    sample("a", YARN_DUMP_STACK_FAILED, 2);
    sample("", YARN_DUMP_STACK_NONE, 1);
    ck_assert_str_eq(tree_of(NULL, 0),
                     "1 main 0/5; 2 a 5/5; 1 [truncated] 0/4; 2 a 4/4; 1 [no unwind information] "
                     "0/3; 2 a 3/3; 1 [unwinding failed] 0/2; 2 a 2/2; 1 [no stack] 1/1");
}
END_TEST

START_TEST(small_nodes_are_left_out)
{
    sample("main;a;b", YARN_DUMP_STACK_COMPLETE, 95);
    sample("main;c;d", YARN_DUMP_STACK_COMPLETE, 5);
    ck_assert_str_eq(tree_of(NULL, 10), "1 main 0/100; 2 a 0/95; 3 b 95/95");
}
END_TEST

START_TEST(nodes_of_just_the_least_share_are_shown)
{
    sample("main;a", YARN_DUMP_STACK_COMPLETE, 1);
    sample("main;b", YARN_DUMP_STACK_COMPLETE, 1);
    ck_assert_str_eq(tree_of(NULL, 50), "1 main 0/2; 2 a 1/1; 2 b 1/1");
}
END_TEST

START_TEST(a_function_filter_keeps_the_paths_through_it)
{
    struct yarn_filter filter = {0};
    char why[64];
    sample("main;a;b", YARN_DUMP_STACK_COMPLETE, 2);
    sample("main;c", YARN_DUMP_STACK_COMPLETE, 5);
    ck_assert_int_eq(yarn_filter_set_function(&filter, "^a$", why, sizeof why), 0);
    ck_assert_str_eq(tree_of(&filter, 0), "1 main 0/2; 2 a 0/2; 3 b 2/2");
    yarn_filter_fini(&filter);
}
END_TEST

static const struct {
    const char *function, *want;
} pseudo[] = {
    {"truncated", "1 [truncated] 0/4; 2 a 4/4"},
    {"no stack|main", "1 main 0/5; 2 a 5/5; 1 [no stack] 1/1"},
};

START_TEST(a_function_filter_finds_what_stands_for_a_missing_part)
{
    struct yarn_filter filter = {0};
    char why[64];
    sample("main;a", YARN_DUMP_STACK_COMPLETE, 5);
    sample("a", YARN_DUMP_STACK_TRUNCATED, 4);
    sample("a", YARN_DUMP_STACK_FAILED, 2);
    sample("", YARN_DUMP_STACK_NONE, 1);
    ck_assert_int_eq(yarn_filter_set_function(&filter, pseudo[_i].function, why, sizeof why), 0);
    ck_assert_str_eq(tree_of(&filter, 0), pseudo[_i].want);
    yarn_filter_fini(&filter);
}
END_TEST

START_TEST(callers_lead_from_the_leaf_outwards)
{
    sample("main;a;leaf", YARN_DUMP_STACK_COMPLETE, 2);
    sample("main;b;leaf", YARN_DUMP_STACK_COMPLETE, 3);
    sample("main;b", YARN_DUMP_STACK_COMPLETE, 1);
    ck_assert_str_eq(callers_of(NULL, 0),
                     "1 leaf 5/5; 2 b 0/3; 3 main 0/3; 2 a 0/2; 3 main 0/2; 1 b 1/1; 2 main 0/1");
}
END_TEST

START_TEST(callers_of_one_function_start_at_its_innermost_frame)
{
    sample("main;f;g;f;leaf", YARN_DUMP_STACK_COMPLETE, 2);
    sample("main;f", YARN_DUMP_STACK_COMPLETE, 3);
    sample("main;other", YARN_DUMP_STACK_COMPLETE, 4);
    ck_assert_str_eq(callers_of("f", 0), "1 f 3/5; 2 main 0/3; 2 g 0/2; 3 f 0/2; 4 main 0/2");
}
END_TEST

START_TEST(callers_end_in_the_reason_for_a_cut)
{
    sample("a;leaf", YARN_DUMP_STACK_TRUNCATED, 2);
    sample("", YARN_DUMP_STACK_NONE, 1);
    ck_assert_str_eq(callers_of(NULL, 0),
                     "1 leaf 2/2; 2 a 0/2; 3 [truncated] 0/2; 1 [no stack] 1/1");
}
END_TEST

START_TEST(small_callers_are_not_followed)
{
    sample("main;a;leaf", YARN_DUMP_STACK_COMPLETE, 95);
    sample("main;b;leaf", YARN_DUMP_STACK_COMPLETE, 5);
    ck_assert_str_eq(callers_of(NULL, 10), "1 leaf 100/100; 2 a 0/95; 3 main 0/95");
}
END_TEST

START_TEST(a_stack_of_thousands_of_frames_is_one_path)
{
    static char words[40000];
    size_t at = 0;
    for (int i = 0; i < 3000; i++)
        at += (size_t)snprintf(words + at, sizeof words - at, "%sf%d", i ? ";" : "", i);
    sample(words, YARN_DUMP_STACK_COMPLETE, 1);
    dump_maker_close(&maker, false);
    loaded_read(&loaded);
    struct yarn_tree tree;
    ck_assert_int_eq(yarn_tree_build(loaded_choose(&loaded, NULL), 0, &tree), 0);
    uint32_t last = 0;
    for (uint32_t i = 0; i != YARN_DUMP_NONE; i = yarn_tree_next(&tree, i))
        last = i;
    ck_assert_uint_eq(tree.nodes[last].depth, 3000);
    yarn_tree_fini(&tree);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tree");
    TCase *tcase = tcase_create("stacks of one thread");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, equal_paths_are_one_and_the_largest_comes_first);
    tcase_add_test(tcase, cut_stacks_hang_below_the_reason);
    tcase_add_test(tcase, small_nodes_are_left_out);
    tcase_add_test(tcase, nodes_of_just_the_least_share_are_shown);
    tcase_add_test(tcase, a_function_filter_keeps_the_paths_through_it);
    tcase_add_loop_test(tcase, a_function_filter_finds_what_stands_for_a_missing_part, 0,
                        (int)YARN_COUNT_OF(pseudo));
    tcase_add_test(tcase, callers_lead_from_the_leaf_outwards);
    tcase_add_test(tcase, callers_of_one_function_start_at_its_innermost_frame);
    tcase_add_test(tcase, callers_end_in_the_reason_for_a_cut);
    tcase_add_test(tcase, small_callers_are_not_followed);
    tcase_add_test(tcase, a_stack_of_thousands_of_frames_is_one_path);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
