/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "core/config/pattern.h"
#include "tests/support/suite.h"

static char *envp[] = {"RUN=a/b", "EMPTY=", "SLURM_PROCID=7", "RUNNER=no", NULL};

static const struct yarn_pattern_facts facts = {
    .exe = "/usr/bin/python3.11",
    .host = "node1",
    .pid = 4242,
    .start_ns = 123456789,
    .sequence = 3,
    .envp = envp,
};

static char path[4096];

static int expand(const char *pattern, const struct yarn_pattern_facts *of)
{
    struct yarn_parse_error error;
    struct yarn_text text = yarn_text_of(path, sizeof path);
    return yarn_pattern_expand(pattern, of, &text, &error);
}

static const struct {
    const char *pattern;
    const char *path;
} good[] = {
    {"yarn.%e.%p.dump", "yarn.python3.11.4242.dump"},
    {"%h-%t-%n-%r", "node1-123456789-3-7"},
    {"/tmp/%{RUN}/x", "/tmp/a/b/x"},
    {"%{EMPTY}%{UNSET}x", "x"},
    {"100%%", "100%"},
    {"%%p", "%p"},
    {"plain", "plain"},
    {"%p%p", "42424242"},
    {"out/", "out/yarn.python3.11.4242.dump"},
    {"/tmp/%e/", "/tmp/python3.11/yarn.python3.11.4242.dump"},
    {"{}}%{RUN}}", "{}}a/b}"},
};

START_TEST(a_pattern_becomes_a_path)
{
    ck_assert_int_eq(expand(good[_i].pattern, &facts), 0);
    ck_assert_str_eq(path, good[_i].path);
}
END_TEST

START_TEST(a_folder_takes_the_default_pattern)
{
    struct yarn_pattern_facts in_folder = facts;
    in_folder.is_folder = true;
    ck_assert_int_eq(expand("/tmp", &in_folder), 0);
    ck_assert_str_eq(path, "/tmp/yarn.python3.11.4242.dump");
    ck_assert_int_eq(expand("/tmp/", &in_folder), 0);
    ck_assert_str_eq(path, "/tmp/yarn.python3.11.4242.dump");
}
END_TEST

static const struct {
    const char *pattern;
    const char *word;
} bad[] = {
    {"", ""},     {"a%q", "%q"},        {"%", "%"},     {"x%", "%"},      {"%P", "%P"},
    {"%{", "%{"}, {"%{NAME", "%{NAME"}, {"%{}", "%{}"}, {"%p%e% ", "% "},
};

START_TEST(a_bad_pattern_is_reported_with_its_position)
{
    struct yarn_parse_error error = {0};
    const char *pattern = bad[_i].pattern;
    ck_assert_int_eq(yarn_pattern_check(pattern, strlen(pattern), &error), -EINVAL);
    ck_assert_uint_eq(error.size, strlen(bad[_i].word));
    ck_assert_uint_le(error.at + error.size, strlen(pattern));
    ck_assert_int_eq(memcmp(pattern + error.at, bad[_i].word, error.size), 0);
    ck_assert_int_eq(expand(pattern, &facts), -EINVAL);
}
END_TEST

START_TEST(a_pattern_longer_than_a_path_is_refused)
{
    static char pattern[4097];
    struct yarn_parse_error error;
    memset(pattern, 'a', 4096);
    ck_assert_int_eq(yarn_pattern_check(pattern, 4095, &error), 0);
    ck_assert_int_eq(yarn_pattern_check(pattern, 4096, &error), -EINVAL);
}
END_TEST

START_TEST(a_path_that_is_cut_is_no_path)
{
    char small[8];
    struct yarn_parse_error error;
    struct yarn_text text = yarn_text_of(small, sizeof small);
    ck_assert_int_eq(yarn_pattern_expand("%p.dump", &facts, &text, &error), -ENAMETOOLONG);
}
END_TEST

static const struct {
    char *variables[4];
    const char *rank;
} ranks[] = {
    {{NULL}, "0"},
    {{"OMPI_COMM_WORLD_RANK=3", "SLURM_PROCID=0"}, "3"},
    {{"SLURM_PROCID=0", "OMPI_COMM_WORLD_RANK=3"}, "3"},
    {{"PMIX_RANK=5", "OMPI_COMM_WORLD_RANK=3"}, "3"},
    {{"PMI_RANK=12"}, "12"},
    {{"PMIX_RANK=5"}, "5"},
    {{"MV2_COMM_WORLD_RANK=9"}, "9"},
    {{"PMI_RANK=", "SLURM_PROCID=2"}, "2"},
    {{"PMI_RANK=../x", "SLURM_PROCID=2"}, "2"},
    {{"PMI_RANK=../x"}, "0"},
};

START_TEST(the_rank_is_the_launchers_and_else_0)
{
    struct yarn_pattern_facts under = facts;
    under.envp = ranks[_i].variables;
    ck_assert_int_eq(expand("%r", &under), 0);
    ck_assert_str_eq(path, ranks[_i].rank);
}
END_TEST

START_TEST(hosts_and_executables_choose_no_folder)
{
    struct yarn_pattern_facts strange = facts;
    strange.host = "../etc";
    strange.exe = "name";
    strange.envp = NULL;
    ck_assert_int_eq(expand("%h.%e.%r%{X}", &strange), 0);
    ck_assert_str_eq(path, ".._etc.name.0");
}
END_TEST

START_TEST(copy_of_the_environment_holds_what_the_pattern_reads)
{
    char area[] = "A=1\0B=2\0SLURM_PROCID=3\0AB=4";
    char *block[] = {area, area + 4, area + 8, area + 23, NULL};
    struct yarn_arena arena;
    yarn_arena_open(&arena, 4096);
    char *const *kept = yarn_pattern_environment("%{B}/%p.%r", block, &arena);
    memset(area, 'x', sizeof area - 1);
    ck_assert_str_eq(kept[0], "B=2");
    ck_assert_str_eq(kept[1], "SLURM_PROCID=3");
    ck_assert_ptr_null(kept[2]);
    ck_assert_ptr_null(yarn_pattern_environment("x", NULL, &arena)[0]);
    yarn_arena_close(&arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pattern");
    TCase *tcase = tcase_create("path patterns");
    tcase_add_loop_test(tcase, a_pattern_becomes_a_path, 0, YARN_COUNT_OF(good));
    tcase_add_test(tcase, a_folder_takes_the_default_pattern);
    tcase_add_loop_test(tcase, a_bad_pattern_is_reported_with_its_position, 0, YARN_COUNT_OF(bad));
    tcase_add_test(tcase, a_pattern_longer_than_a_path_is_refused);
    tcase_add_test(tcase, a_path_that_is_cut_is_no_path);
    tcase_add_loop_test(tcase, the_rank_is_the_launchers_and_else_0, 0, YARN_COUNT_OF(ranks));
    tcase_add_test(tcase, hosts_and_executables_choose_no_folder);
    tcase_add_test(tcase, copy_of_the_environment_holds_what_the_pattern_reads);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
