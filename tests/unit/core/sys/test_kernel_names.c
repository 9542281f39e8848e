/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdio.h>
#include <unistd.h>

#include "core/base/pages.h"
#include "core/sys/kernel_names.h"
#include "tests/support/suite.h"

static const struct {
    const char *line;
    uint64_t address;
    const char *name, *module;
} good[] = {
    {"ffffffff81000000 T _stext", 0xffffffff81000000, "_stext", ""},
    {"ffffffffc0123450 t nf_hook\t[netfilter]", 0xffffffffc0123450, "nf_hook", "netfilter"},
    {"ffff800080010000 W weak.part.0", 0xffff800080010000, "weak.part.0", ""},
    {"1 w x", 1, "x", ""},
};

START_TEST(line_is_taken_apart)
{
    struct yarn_kernel_symbol symbol;
    ck_assert_int_eq(yarn_kernel_names_parse(yarn_span_of_text(good[_i].line), &symbol), 0);
    ck_assert_uint_eq(symbol.address, good[_i].address);
    ck_assert(yarn_span_equal(symbol.name, yarn_span_of_text(good[_i].name)));
    ck_assert(yarn_span_equal(symbol.module, yarn_span_of_text(good[_i].module)));
}
END_TEST

static const char *const bad[] = {
    "",
    "ffffffff81000000",
    "ffffffff81000000 T",
    "ffffffff81000000 T ",
    "ffffffff81000000 D jiffies",
    "0000000000000000 T hidden",
    "0000000000000000 A fixed_percpu_data",
    "ffffffff81000000 T name\t[]",
    "ffffffff81000000 T name\tnetfilter",
    "ffffffff81000000 T \t[netfilter]",
    "ffffffff81000000  T name",
};

START_TEST(what_names_no_visible_function_is_reported)
{
    struct yarn_kernel_symbol symbol;
    ck_assert_int_eq(yarn_kernel_names_parse(yarn_span_of_text(bad[_i]), &symbol), -EINVAL);
}
END_TEST

static struct yarn_kernel_names names;
static char path[64];

static void read_text(const char *text)
{
    (void)snprintf(path, sizeof path, "/tmp/yarn-test-kallsyms-%d", (int)getpid());
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
    names = YARN_KERNEL_NAMES_CLOSED;
    while (!yarn_kernel_names_step(&names, path))
        continue;
    ck_assert_int_eq(unlink(path), 0);
}

static void close_names(void)
{
    yarn_kernel_names_close(&names);
    yarn_kernel_names_close(&names);
    ck_assert_uint_eq(yarn_pages_total(), 0);
}

static void assert_name(uint64_t address, const char *want)
{
    struct yarn_kernel_name name;
    ck_assert_int_eq(yarn_kernel_names_find(&names, address, &name), want != NULL);
    if (!want)
        return;
    ck_assert(yarn_span_equal(name.text, yarn_span_of_text(want)));
    ck_assert_uint_le(name.start, address);
    ck_assert_uint_gt(name.end, address);
}

START_TEST(an_address_has_the_name_of_the_function_that_begins_before_it)
{
    read_text("ffffffff81000000 T first\n"
              "ffffffff81000000 T alias\n"
              "ffffffff81200000 d data\n"
              "ffffffff81000100 t second\n"
              "ffffffffc0000000 t in_module\t[netfilter]\n"
              "ffffffff81000080 t between\n");
    assert_name(0xffffffff80ffffff, NULL);
    assert_name(0xffffffff81000000, "first");
    assert_name(0xffffffff8100007f, "first");
    assert_name(0xffffffff81000080, "between");
    assert_name(0xffffffff81200004, "second");
    assert_name(0xffffffffc0000010, "in_module [netfilter]");
    assert_name(0xffffffffc0010000, NULL);
    assert_name(0x1000, NULL);
    close_names();
}
END_TEST

START_TEST(hidden_addresses_give_no_names)
{
    read_text("0000000000000000 T first\n0000000000000000 t second\n");
    assert_name(0xffffffff81000000, NULL);
    assert_name(0, NULL);
    assert_name(16, NULL);
    close_names();
}
END_TEST

START_TEST(a_file_that_is_not_there_gives_no_names)
{
    names = YARN_KERNEL_NAMES_CLOSED;
    ck_assert(yarn_kernel_names_step(&names, "/proc/self/there/is/no/such"));
    assert_name(0xffffffff81000000, NULL);
    close_names();
}
END_TEST

/* As whoever runs this sees it: root by name, another by nothing at all. */
START_TEST(the_running_kernel_names_its_own_functions)
{
    unsigned long address = 0;
    char line[512], name[256], type;
    FILE *file = fopen("/proc/kallsyms", "r");
    if (!file)
        return;
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "%lx %c %255s", &address, &type, name) == 3 &&
            strcmp(name, "schedule") == 0)
            break;
    fclose(file);
    names = YARN_KERNEL_NAMES_CLOSED;
    unsigned nr_steps = 1;
    for (; !yarn_kernel_names_step(&names, "/proc/kallsyms"); nr_steps++)
        assert_name(address + 4, NULL);
    ck_assert_uint_gt(nr_steps, 1);
    if (address)
        assert_name(address + 4, "schedule");
    else
        assert_name(0xffffffff81000000, NULL);
    ck_assert_uint_lt(yarn_pages_total(), YARN_MIB(16));
    close_names();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernel names");
    TCase *tcase = tcase_create("kallsyms");
    tcase_add_loop_test(tcase, line_is_taken_apart, 0, YARN_COUNT_OF(good));
    tcase_add_loop_test(tcase, what_names_no_visible_function_is_reported, 0, YARN_COUNT_OF(bad));
    tcase_add_test(tcase, an_address_has_the_name_of_the_function_that_begins_before_it);
    tcase_add_test(tcase, hidden_addresses_give_no_names);
    tcase_add_test(tcase, a_file_that_is_not_there_gives_no_names);
    tcase_add_test(tcase, the_running_kernel_names_its_own_functions);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
