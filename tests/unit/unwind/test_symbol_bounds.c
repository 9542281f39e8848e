/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <dlfcn.h>
#include <stdio.h>

#include "core/base/pages.h"
#include "core/sys/file.h"
#include "tests/support/ask.h"
#include "tests/support/suite.h"

enum { TRIES = 50000, WITHIN = 5, ALONE = 500, KEPT_AFTER = 4, NAMES_BYTES = 256 << 20 };

static struct yarn_symbols *symbols;
static const char *image_path;
static struct yarn_image image;
static struct yarn_arena names;

static void set_up(void)
{
    image = YARN_IMAGE_CLOSED;
    yarn_arena_open(&names, NAMES_BYTES);
    ck_assert_int_eq(yarn_symbols_new(&symbols), 0);
}

static void tear_down(void)
{
    yarn_symbols_free(symbols);
    yarn_image_close(&image);
    yarn_arena_close(&names);
}

static void open_path(const char *path)
{
    ck_assert_int_eq(yarn_image_open(&image, YARN_FILE_CWD, path), 0);
    yarn_cfi_index_tables(&image);
    image_path = path;
}

static void ask(struct yarn_symbol_question *questions, size_t count)
{
    ck_assert_int_eq(
        yarn_symbols_ask(symbols, &image, image_path, questions, count, &names, UINT64_MAX), 0);
}

static bool is_same_answer(const struct yarn_symbol *a, const struct yarn_symbol *b)
{
    return yarn_span_equal(a->name, b->name) && a->start == b->start && a->end == b->end;
}

/* Whether there are any; then *ret_within are addresses in them. */
static bool check_bounds(const struct yarn_symbol_question *asked,
                         struct yarn_symbol_question *ret_within)
{
    const struct yarn_symbol *symbol = &asked->answer;
    struct yarn_fde fde;
    if (symbol->from == symbol->to)
        return false;
    ck_assert(asked->vaddr >= symbol->from && asked->vaddr < symbol->to);
    ck_assert_int_eq(yarn_cfi_find(&image, asked->vaddr, &fde), 0);
    ck_assert(symbol->from >= fde.start && symbol->to <= fde.end);
    uint64_t last = symbol->to - 1 - symbol->from;
    for (unsigned i = 0; i < WITHIN; i++)
        ret_within[i] =
            (struct yarn_symbol_question){.vaddr = symbol->from + last * i / (WITHIN - 1)};
    return true;
}

static void check_within(const struct yarn_symbol_question *asked,
                         const struct yarn_symbol_question *within)
{
    for (unsigned i = 0; i < WITHIN; i++)
        ck_assert_msg(is_same_answer(&asked->answer, &within[i].answer), "%lx is %.*s, %lx is %.*s",
                      (unsigned long)asked->vaddr, (int)asked->answer.name.size,
                      (const char *)asked->answer.name.data, (unsigned long)within[i].vaddr,
                      (int)within[i].answer.name.size, (const char *)within[i].answer.name.data);
}

static void check_alone(const struct yarn_symbol_question *asked)
{
    struct yarn_symbol alone = ask_symbol(symbols, &image, image_path, asked->vaddr);
    ck_assert(is_same_answer(&asked->answer, &alone));
    ck_assert_uint_eq(asked->answer.from, alone.from);
    ck_assert_uint_eq(asked->answer.to, alone.to);
}

/* The same of tables that are kept, as they are once they have been asked some times. */
static void check_kept(const struct yarn_symbol_question *asked, size_t count)
{
    static struct yarn_symbol_question again[TRIES];
    struct yarn_symbol_question first = {.vaddr = asked[0].vaddr};
    size_t pages = yarn_pages_total();
    yarn_symbols_keep_tables(symbols);
    for (unsigned i = 0; i < KEPT_AFTER; i++)
        ask(&first, 1);
    ck_assert_uint_gt(yarn_pages_total(), pages);
    for (size_t i = 0; i < count; i++)
        again[i] = (struct yarn_symbol_question){.vaddr = asked[i].vaddr};
    ask(again, count);
    for (size_t i = 0; i < count; i++) {
        ck_assert(is_same_answer(&asked[i].answer, &again[i].answer));
        ck_assert_uint_eq(asked[i].answer.from, again[i].answer.from);
        ck_assert_uint_eq(asked[i].answer.to, again[i].answer.to);
    }
}

static void check_all(void)
{
    static struct yarn_symbol_question asked[TRIES], within[TRIES * WITHIN];
    const struct yarn_segment *code = &image.segments[0];
    uint64_t step = code->file_size / TRIES | 1;
    size_t nr_tries = 0, nr_bounds = 0;
    for (uint64_t at = 0; at < code->file_size && nr_tries < TRIES; at += step)
        asked[nr_tries++] = (struct yarn_symbol_question){.vaddr = code->vaddr + at};
    ask(asked, nr_tries);
    check_kept(asked, nr_tries);
    for (size_t i = 0; i < nr_tries; i++)
        if (check_bounds(&asked[i], &within[nr_bounds * WITHIN]))
            asked[nr_bounds++] = asked[i];
        else if (i % (TRIES / ALONE) == 0)
            check_alone(&asked[i]);
    ask(within, nr_bounds * WITHIN);
    for (size_t i = 0; i < nr_bounds; i++)
        check_within(&asked[i], &within[i * WITHIN]);
    for (size_t i = 0; i < nr_bounds; i += TRIES / ALONE)
        check_alone(&asked[i]);
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
