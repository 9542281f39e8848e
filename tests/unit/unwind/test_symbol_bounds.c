/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <dlfcn.h>
#include <stdio.h>

#include "core/sys/file.h"
#include "tests/support/suite.h"
#include "unwind/symbol/symbols.h"

enum { TRIES = 50000, WITHIN = 5 };

static struct yarn_symbols *symbols;
static struct yarn_module module;
static struct yarn_image image;

static void set_up(void)
{
    image = YARN_IMAGE_CLOSED;
    ck_assert_int_eq(yarn_symbols_new(&symbols), 0);
}

static void tear_down(void)
{
    yarn_symbols_free(symbols);
    yarn_image_close(&image);
}

static void open_path(const char *path)
{
    ck_assert_int_eq(yarn_image_open(&image, YARN_FILE_CWD, path), 0);
    yarn_cfi_index_tables(&image);
    module = (struct yarn_module){.path = path, .image = &image, .image_state = YARN_IMAGE_OPEN};
}

static struct yarn_symbol find(uint64_t vaddr)
{
    struct yarn_symbol symbol;
    bool found = yarn_symbols_find(symbols, &module, vaddr, &symbol);
    ck_assert_int_eq(found, symbol.name.size != 0);
    return symbol;
}

static bool is_same_answer(const struct yarn_symbol *a, const struct yarn_symbol *b)
{
    return yarn_span_equal(a->name, b->name) && a->start == b->start && a->end == b->end;
}

/* Whether there were bounds. */
static bool check_bounds(uint64_t vaddr)
{
    struct yarn_symbol symbol = find(vaddr);
    struct yarn_fde fde;
    if (symbol.from == symbol.to)
        return false;
    ck_assert(vaddr >= symbol.from && vaddr < symbol.to);
    ck_assert_int_eq(yarn_cfi_find(&image, vaddr, &fde), 0);
    ck_assert(symbol.from >= fde.start && symbol.to <= fde.end);
    for (unsigned i = 0; i < WITHIN; i++) {
        uint64_t last = symbol.to - 1 - symbol.from;
        struct yarn_symbol other = find(symbol.from + last * i / (WITHIN - 1));
        ck_assert_msg(is_same_answer(&symbol, &other), "%lx is %.*s, others of [%lx, %lx) not",
                      (unsigned long)vaddr, (int)symbol.name.size, (const char *)symbol.name.data,
                      (unsigned long)symbol.from, (unsigned long)symbol.to);
    }
    return true;
}

static void check_all(void)
{
    const struct yarn_segment *code = &image.segments[0];
    uint64_t step = code->file_size / TRIES | 1;
    unsigned nr_tries = 0, nr_bounds = 0;
    for (uint64_t at = 0; at < code->file_size; at += step, nr_tries++)
        nr_bounds += check_bounds(code->vaddr + at);
    ck_assert_uint_gt(nr_bounds, nr_tries / 3);
}

START_TEST(the_c_library_s_answers_hold_within_their_bounds)
{
    Dl_info info;
    ck_assert(dladdr((void *)(uintptr_t)qsort, &info));
    open_path(info.dli_fname);
    check_all();
}
END_TEST

/* With stubs, which have one FDE together. */
START_TEST(a_program_s_answers_hold_within_their_bounds)
{
    open_path("/proc/self/exe");
    check_all();
}
END_TEST

START_TEST(a_stripped_program_s_answers_hold_within_their_bounds)
{
    open_path("/bin/sh");
    check_all();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("symbol bounds");
    TCase *tests = tcase_create("installed files");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, the_c_library_s_answers_hold_within_their_bounds);
    tcase_add_test(tests, a_program_s_answers_hold_within_their_bounds);
    tcase_add_test(tests, a_stripped_program_s_answers_hold_within_their_bounds);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
