/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loaded.h"
#include "output/analysis/source/module_file.h"
#include "output/fold/annotation.h"
#include "tests/support/suite.h"

static struct loaded loaded;
static struct dump_maker maker;
static struct yarn_annotation annotation;
static struct yarn_annotation_sums sums;
static struct yarn_filter filter;

static void set_up(void)
{
    loaded_open(&loaded);
    filter = (struct yarn_filter){0};
    annotation = (struct yarn_annotation){0};
    sums = (struct yarn_annotation_sums){0};
}

static void tear_down(void)
{
    yarn_annotation_sums_fini(&sums);
    yarn_annotation_fini(&annotation);
    loaded_close(&loaded);
}

static uint32_t function_of(const char *name)
{
    uint8_t *called = yarn_functions_called(&loaded.profile, name, NULL);
    uint32_t function = 0;
    while (!called[function])
        function++;
    free(called);
    ck_assert_uint_lt(function, loaded.profile.nr_functions);
    return function;
}

static void sum(const char *name)
{
    struct yarn_disassembly none = {0};
    ck_assert_int_eq(
        yarn_annotation_init(&annotation, loaded_choose(&loaded, &filter), function_of(name)), 0);
    ck_assert_int_eq(yarn_annotation_place(&annotation, &none), 0);
    ck_assert_int_eq(yarn_annotation_sum(&annotation, 0, &sums), 0);
}

START_TEST(each_address_has_what_was_spent_at_and_below_it)
{
    dump_maker_open(&maker, loaded_path(&loaded, "app"), "app", 100);
    dump_maker_sample(&maker, 100, dump_maker_stack(&maker, "main;hot"), YARN_DUMP_STACK_COMPLETE,
                      60);
    dump_maker_sample(&maker, 100, dump_maker_stack(&maker, "main;hot;warm"),
                      YARN_DUMP_STACK_COMPLETE, 30);
    dump_maker_close(&maker, false);
    loaded_read(&loaded);
    sum("hot");
    ck_assert_uint_eq(annotation.nr_instructions, 1);
    ck_assert_uint_eq(annotation.instructions[0].address, 0x1110);
    ck_assert_uint_eq(sums.instructions[0].samples, 60);
    ck_assert_uint_eq(sums.instructions[0].total_samples, 90);
    ck_assert_uint_eq(sums.instructions[0].total, 90 * MAKER_PERIOD_NS);
    ck_assert_uint_eq(sums.whole.self, 60 * MAKER_PERIOD_NS);
    ck_assert_uint_eq(annotation.nr_extents, 1);
    ck_assert_uint_eq(annotation.extents[0].start, 0x1100);
    ck_assert_uint_eq(annotation.extents[0].end, 0x1200);
    ck_assert_uint_eq(annotation.build_id.size, 4);
    ck_assert(annotation.is_file);
}
END_TEST

START_TEST(recursion_is_counted_once)
{
    dump_maker_open(&maker, loaded_path(&loaded, "app"), "app", 100);
    dump_maker_sample(&maker, 100, dump_maker_stack(&maker, "main;f;g;f;g;f"),
                      YARN_DUMP_STACK_COMPLETE, 10);
    dump_maker_close(&maker, false);
    loaded_read(&loaded);
    sum("f");
    ck_assert_uint_eq(annotation.nr_instructions, 1);
    ck_assert_uint_eq(sums.instructions[0].samples, 10);
    ck_assert_uint_eq(sums.instructions[0].total_samples, 10);
    ck_assert_uint_eq(sums.whole.total_samples, 10);
}
END_TEST

/* The same module and function, linked elsewhere: its addresses mean other instructions. */
START_TEST(of_two_builds_the_one_with_more_samples_is_shown)
{
    static const uint8_t rebuilt[] = {1, 2, 3, 4};
    dump_maker_open(&maker, loaded_path(&loaded, "one"), "app", 100);
    dump_maker_sample(&maker, 100, dump_maker_stack(&maker, "main;hot"), YARN_DUMP_STACK_COMPLETE,
                      5);
    dump_maker_close(&maker, false);
    dump_maker_open(&maker, loaded_path(&loaded, "two"), "app", 200);
    struct yarn_dump_module module = {
        .number = 0,
        .start = 0x400000,
        .end = 0x500000,
        .path = yarn_span_of_text("/usr/bin/app"),
        .build_id = yarn_span_of(rebuilt, sizeof rebuilt),
    };
    yarn_dump_write_module(maker.writer, &module);
    (void)dump_maker_stack(&maker, "other;another");
    dump_maker_sample(&maker, 200, dump_maker_stack(&maker, "main;hot"), YARN_DUMP_STACK_COMPLETE,
                      7);
    dump_maker_close(&maker, false);
    loaded_read(&loaded);
    sum("hot");
    ck_assert(yarn_span_equal(annotation.build_id, yarn_span_of(rebuilt, sizeof rebuilt)));
    ck_assert_uint_eq(annotation.other_samples, 5);
    ck_assert_uint_eq(sums.whole.samples, 7);
    ck_assert_uint_eq(annotation.nr_extents, 1);
}
END_TEST

START_TEST(a_word_is_a_name_or_else_an_expression)
{
    dump_maker_open(&maker, loaded_path(&loaded, "app"), "app", 100);
    dump_maker_sample(&maker, 100, dump_maker_stack(&maker, "main;hot;hotter;lib!_ZN2ns4warmEi"),
                      YARN_DUMP_STACK_COMPLETE, 1);
    dump_maker_close(&maker, false);
    loaded_read(&loaded);
    static const struct {
        const char *word;
        size_t want;
    } rows[] = {{"hot", 1},           {"^hot", 2}, {"ns::warm", 1},
                {"ns::warm(int)", 1}, {"none", 0}, {"(", 0}};
    for (size_t i = 0; i < YARN_COUNT_OF(rows); i++) {
        uint8_t *called = yarn_functions_called(&loaded.profile, rows[i].word, NULL);
        size_t count = 0;
        for (size_t j = 0; j < loaded.profile.nr_functions; j++)
            count += called[j];
        free(called);
        ck_assert_msg(count == rows[i].want, "%s: %zu", rows[i].word, count);
    }
}
END_TEST

/* Sizes that the compiler cannot know: of this very function, in this very file. */
START_TEST(objdump_lists_the_instructions_of_a_range)
{
    enum yarn_module_file_state state;
    struct yarn_disassembly disassembly = {0};
    extern char __executable_start[];
    int fd = yarn_module_file_open("/proc/self/exe", YARN_SPAN_EMPTY, 0, &state);
    ck_assert_int_eq(state, YARN_MODULE_FILE_FOUND);
    uint64_t start = (uint64_t)((char *)(uintptr_t)function_of - __executable_start);
    ck_assert_int_eq(yarn_disassembly_add(&disassembly, "no-such-objdump", fd, start, start + 16),
                     -ENOENT);
    ck_assert_int_eq(yarn_disassembly_add(&disassembly, "false", fd, start, start + 16), -ENOEXEC);
    ck_assert_uint_eq(disassembly.count, 0);
    ck_assert_int_eq(yarn_disassembly_add(&disassembly, NULL, fd, start, start + 16), 0);
    ck_assert_uint_gt(disassembly.count, 1);
    ck_assert_uint_eq(disassembly.instructions[0].address, start);
    ck_assert_uint_eq(disassembly.instructions[disassembly.count - 1].end, start + 16);
    ck_assert_ptr_eq(yarn_disassembly_find(&disassembly, start - 1), NULL);
    ck_assert_ptr_eq(yarn_disassembly_find(&disassembly, start + 16), NULL);
    for (uint64_t i = start; i < start + 16; i++)
        ck_assert_ptr_ne(yarn_disassembly_find(&disassembly, i), NULL);
    yarn_disassembly_fini(&disassembly);
    (void)close(fd);
}
END_TEST

START_TEST(a_file_of_another_build_id_is_not_opened)
{
    enum yarn_module_file_state state;
    struct yarn_span other = yarn_span_of_text("another build id");
    ck_assert_int_eq(yarn_module_file_open("/proc/self/exe", other, 0, &state), -1);
    ck_assert_int_eq(state, YARN_MODULE_FILE_OTHER);
    ck_assert_int_eq(yarn_module_file_open("/no/such/file", other, 0, &state), -1);
    ck_assert_int_eq(state, YARN_MODULE_FILE_ABSENT);
}
END_TEST

START_TEST(a_file_without_a_build_id_is_known_by_its_size)
{
    static const struct yarn_span none = {NULL, 0};
    enum yarn_module_file_state state;
    struct stat status;
    ck_assert_int_eq(stat("/proc/self/exe", &status), 0);
    uint64_t bytes = (uint64_t)status.st_size;
    ck_assert_int_eq(yarn_module_file_open("/proc/self/exe", none, bytes + 1, &state), -1);
    ck_assert_int_eq(state, YARN_MODULE_FILE_OTHER);
    int fd = yarn_module_file_open("/proc/self/exe", none, bytes, &state);
    ck_assert_int_eq(state, YARN_MODULE_FILE_FOUND);
    (void)close(fd);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("annotation");
    TCase *of_function = tcase_create("one function");
    TCase *of_file = tcase_create("its file");
    tcase_add_checked_fixture(of_function, set_up, tear_down);
    tcase_add_test(of_function, each_address_has_what_was_spent_at_and_below_it);
    tcase_add_test(of_function, recursion_is_counted_once);
    tcase_add_test(of_function, of_two_builds_the_one_with_more_samples_is_shown);
    tcase_add_test(of_function, a_word_is_a_name_or_else_an_expression);
    tcase_add_test(of_file, objdump_lists_the_instructions_of_a_range);
    tcase_add_test(of_file, a_file_of_another_build_id_is_not_opened);
    tcase_add_test(of_file, a_file_without_a_build_id_is_known_by_its_size);
    suite_add_tcase(suite, of_function);
    suite_add_tcase(suite, of_file);
    return run_suite(suite);
}
