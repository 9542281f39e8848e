/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inlined.h"
#include "output/analysis/source/lines.h"
#include "output/analysis/value/demangle.h"
#include "tests/support/suite.h"

static struct yarn_lines *lines;
static enum yarn_debuginfo_state why;
static char folder[64];   /* of this test */
static char folders[128]; /* where debug files are looked for */

static void set_up(void)
{
    (void)snprintf(folder, sizeof folder, "/tmp/yarn_lines.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    (void)snprintf(folders, sizeof folders, ":.debug:%s", folder);
    (void)unsetenv("DEBUGINFOD_URLS");
    lines = yarn_lines_new(folders);
    ck_assert_ptr_nonnull(lines);
}

static void tear_down(void)
{
    char command[128];
    yarn_lines_free(lines);
    (void)snprintf(command, sizeof command, "rm -r '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}

static struct yarn_line_chain find(const struct inlined *module, uint64_t address)
{
    struct yarn_line_chain chain;
    uint32_t number;
    struct yarn_span build_id = yarn_span_of(module->build_id, module->build_id_size);
    ck_assert_int_eq(yarn_lines_module(lines, module->path, build_id, 0, &number), 0);
    ck_assert_int_eq(yarn_lines_find(lines, number, address, &chain), 0);
    return chain;
}

static void ck_assert_line(const struct yarn_line *line, const char *function, const char *comment,
                           bool is_inlined)
{
    ck_assert_str_eq(line->function, function);
    ck_assert_str_eq(line->file, inlined_source);
    ck_assert_uint_eq(line->line, inlined_line(comment));
    ck_assert_uint_gt(line->column, 0);
    ck_assert(line->is_inlined == is_inlined);
}

static void ck_assert_chain_of_add(struct yarn_line_chain chain)
{
    ck_assert_uint_eq(chain.count, 3);
    ck_assert_line(&chain.lines[0], "_ZN4shop4Till3addEi", "add", true);
    ck_assert_line(&chain.lines[1], "_ZN4shop4Till4sellEi", "sell calls add", true);
    ck_assert_line(&chain.lines[2], "_ZN4shop3dayEi", "day calls sell", false);
}

START_TEST(inlined_functions_come_innermost_first_with_the_lines_of_their_calls)
{
    struct inlined module = inlined_of(_i, "whole");
    ck_assert_chain_of_add(find(&module, module.at_add));
}
END_TEST

START_TEST(code_with_nothing_inlined_is_one_line)
{
    struct inlined module = inlined_of(_i, "whole");
    struct yarn_line_chain chain = find(&module, module.at_day);
    ck_assert_uint_eq(chain.count, 1);
    ck_assert_line(&chain.lines[0], "_ZN4shop3dayEi", "day", false);
}
END_TEST

/* What stands in a function is called so, by GCC's words or by those of the mangled name. */
START_TEST(a_lambda_is_named_with_the_function_that_it_stands_in)
{
    static char text[YARN_DEMANGLED_SIZE];
    struct inlined module = inlined_of(_i, "whole");
    struct yarn_line_chain chain = find(&module, module.at_tip);
    ck_assert_uint_eq(chain.count, 2);
    const char *name = chain.lines[0].function;
    if (yarn_demangle(name, text))
        name = text;
    ck_assert_msg(strncmp(name, "shop::day(int)::", 16) == 0 && strstr(name, "::operator()"), "%s",
                  name);
    ck_assert_line(&chain.lines[1], "_ZN4shop3dayEi", "day calls tip", false);
}
END_TEST

START_TEST(an_answer_stays_the_same_when_asked_again)
{
    struct inlined module = inlined_of(_i, "whole");
    (void)find(&module, module.at_add);
    (void)find(&module, module.at_day);
    ck_assert_chain_of_add(find(&module, module.at_add));
}
END_TEST

START_TEST(an_address_outside_the_code_has_no_line)
{
    static const uint64_t addresses[] = {0, 1, 0x40, 0x7fffffff, UINT64_MAX};
    struct inlined module = inlined_of(_i, "whole");
    for (size_t i = 0; i < YARN_COUNT_OF(addresses); i++)
        ck_assert_uint_eq(find(&module, addresses[i]).count, 0);
}
END_TEST

START_TEST(a_module_recorded_without_build_id_is_believed)
{
    struct inlined module = inlined_of(_i, "whole");
    module.build_id_size = 0;
    ck_assert_chain_of_add(find(&module, module.at_add));
}
END_TEST

START_TEST(a_stripped_module_has_no_lines)
{
    struct inlined module = inlined_of(_i, "bare");
    ck_assert_uint_eq(find(&module, module.at_add).count, 0);
    ck_assert_uint_eq(find(&module, module.at_day).count, 0);
    ck_assert_ptr_null(yarn_lines_unknown(lines, 0, &why));
}
END_TEST

START_TEST(the_file_that_a_debuglink_names_is_found)
{
    struct inlined module = inlined_of(_i, "linked");
    ck_assert_chain_of_add(find(&module, module.at_add));
}
END_TEST

/* Puts the debug file of a build id where such files are looked for. */
static void place_by_build_id(const struct inlined *module, const char *target)
{
    char path[256];
    size_t at = (size_t)snprintf(path, sizeof path, "%s/.build-id", folder);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    at += (size_t)snprintf(path + at, sizeof path - at, "/%02x", module->build_id[0]);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    at += (size_t)snprintf(path + at, sizeof path - at, "/");
    for (size_t i = 1; i < module->build_id_size; i++)
        at += (size_t)snprintf(path + at, sizeof path - at, "%02x", module->build_id[i]);
    (void)snprintf(path + at, sizeof path - at, ".debug");
    ck_assert_int_eq(symlink(target, path), 0);
}

START_TEST(a_debug_file_is_found_by_build_id)
{
    struct inlined module = inlined_of(_i, "bare");
    struct inlined debug = inlined_of(_i, "whole.debug");
    place_by_build_id(&module, debug.path);
    ck_assert_chain_of_add(find(&module, module.at_add));
}
END_TEST

START_TEST(a_debug_file_will_do_where_the_module_is_gone)
{
    struct inlined module = inlined_of(_i, "whole");
    struct inlined debug = inlined_of(_i, "whole.debug");
    place_by_build_id(&module, debug.path);
    (void)snprintf(module.path, sizeof module.path, "%s/gone", folder);
    ck_assert_chain_of_add(find(&module, module.at_add));
}
END_TEST

START_TEST(a_file_of_another_build_id_is_reported_and_not_used)
{
    struct inlined module = inlined_of(_i, "whole");
    module.build_id[0] ^= 1;
    ck_assert_uint_eq(find(&module, module.at_add).count, 0);
    ck_assert_str_eq(yarn_lines_unknown(lines, 0, &why), module.path);
    ck_assert_ptr_null(yarn_lines_unknown(lines, 1, &why));
}
END_TEST

START_TEST(a_debug_file_of_another_build_id_is_not_used)
{
    struct inlined module = inlined_of(_i, "bare");
    struct inlined debug = inlined_of(_i, "whole.debug");
    module.build_id[0] ^= 1;
    place_by_build_id(&module, debug.path);
    ck_assert_uint_eq(find(&module, module.at_add).count, 0);
}
END_TEST

START_TEST(what_is_no_plain_file_is_left_alone)
{
    struct inlined module = {.at_add = 0x1000};
    static const char *const paths[] = {"",          "[vdso]", "//anon",
                                        "/dev/zero", "/tmp",   "/gone/for/ever"};
    for (size_t i = 0; i < YARN_COUNT_OF(paths); i++) {
        (void)snprintf(module.path, sizeof module.path, "%s", paths[i]);
        ck_assert_uint_eq(find(&module, module.at_add).count, 0);
    }
    (void)snprintf(module.path, sizeof module.path, "%s/pipe", folder);
    ck_assert_int_eq(mkfifo(module.path, 0600), 0);
    ck_assert_uint_eq(find(&module, module.at_add).count, 0);
}
END_TEST

/* A copy of the unstripped module of which only a part is left. */
static void copy_part(const struct inlined *module, const char *copy, size_t kept)
{
    static uint8_t bytes[1 << 20];
    FILE *from = fopen(module->path, "re");
    FILE *to = fopen(copy, "we");
    ck_assert(from && to);
    size_t size = fread(bytes, 1, sizeof bytes, from);
    ck_assert_uint_lt(size, sizeof bytes);
    ck_assert_uint_eq(fwrite(bytes, 1, size * kept / 16, to), size * kept / 16);
    (void)fclose(from);
    (void)fclose(to);
}

START_TEST(a_cut_file_yields_nothing_false)
{
    struct inlined module = inlined_of(0, "whole"), copy = module;
    (void)snprintf(copy.path, sizeof copy.path, "%s/cut", folder);
    copy_part(&module, copy.path, (size_t)_i);
    struct yarn_line_chain chain = find(&copy, copy.at_add);
    if (chain.count)
        ck_assert_chain_of_add(chain);
}
END_TEST

static TCase *each_compiler(Suite *suite, const char *name)
{
    TCase *tcase = tcase_create(name);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    suite_add_tcase(suite, tcase);
    return tcase;
}

int main(void)
{
    int nr = inlined_count();
    Suite *suite = suite_create("lines");
    TCase *whole = each_compiler(suite, "debug information in the module");
    tcase_add_loop_test(whole, inlined_functions_come_innermost_first_with_the_lines_of_their_calls,
                        0, nr);
    tcase_add_loop_test(whole, code_with_nothing_inlined_is_one_line, 0, nr);
    tcase_add_loop_test(whole, a_lambda_is_named_with_the_function_that_it_stands_in, 0, nr);
    tcase_add_loop_test(whole, an_answer_stays_the_same_when_asked_again, 0, nr);
    tcase_add_loop_test(whole, an_address_outside_the_code_has_no_line, 0, nr);
    tcase_add_loop_test(whole, a_module_recorded_without_build_id_is_believed, 0, nr);
    TCase *elsewhere = each_compiler(suite, "debug information elsewhere or nowhere");
    tcase_add_loop_test(elsewhere, a_stripped_module_has_no_lines, 0, nr);
    tcase_add_loop_test(elsewhere, the_file_that_a_debuglink_names_is_found, 0, nr);
    tcase_add_loop_test(elsewhere, a_debug_file_is_found_by_build_id, 0, nr);
    tcase_add_loop_test(elsewhere, a_debug_file_will_do_where_the_module_is_gone, 0, nr);
    tcase_add_loop_test(elsewhere, a_file_of_another_build_id_is_reported_and_not_used, 0, nr);
    tcase_add_loop_test(elsewhere, a_debug_file_of_another_build_id_is_not_used, 0, nr);
    TCase *odd = each_compiler(suite, "files that are none");
    tcase_add_test(odd, what_is_no_plain_file_is_left_alone);
    tcase_add_loop_test(odd, a_cut_file_yields_nothing_false, 0, 16);
    return run_suite(suite);
}
