/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "core/base/pages.h"
#include "tests/support/ask.h"
#include "tests/support/made_elf.h"
#include "tests/support/suite.h"
#include "unwind/code_end.h"

#define CODE(text) (const uint8_t *)(text), sizeof(text) - 1

/* The code is at 0x1000, and may go on to 0x1100; `end` is 0 where the code does not show it. */
enum { START = 0x1000, LIMIT = 0x1100 };
static const struct row {
    const char *what;
    const uint8_t *code;
    size_t size, end;
} rows[] = {
    {"a loop and a ret", CODE("\x48\x89\xf8\x48\xff\xcf\x75\xfb\xc3\x55"), 9},
    {"je over a ret: ret; ret", CODE("\x74\x01\xc3\xc3\x55"), 4},
    {"je behind the ret", CODE("\x74\x03\x90\xc3\x90\x90\xc3\x55"), 7},
    {"je back and over", CODE("\x90\x74\xfd\xc3\x55"), 4},
    {"jmp over a ret", CODE("\xeb\x01\xc3\x90\xc3\x55"), 5},
    {"jmp to the next instruction", CODE("\xeb\0\xc3\x55"), 3},
    {"a tail call backwards", CODE("\x90\xe9\0\xff\xff\xff\x55"), 6},
    {"a tail call behind all", CODE("\xe9\0\x10\0\0\x55"), 5},
    {"a tail call through a slot", CODE("\xff\x25\0\x10\0\0\x55"), 6},
    {"ret $16", CODE("\xc2\x10\0\x55"), 3},
    {"a call of what is behind the ret", CODE("\xe8\1\0\0\0\xc3\x90\xc3\x55"), 6},
    {"a call goes on", CODE("\xe8\0\x10\0\0\xc3\x55"), 6},
    {"a jump through a table", CODE("\xff\xe0\xc3\x55"), 0},
    {"a trap", CODE("\x0f\x0b\xc3\x55"), 0},
    {"no code", CODE("\x06\xc3\x55"), 0},
    {"nothing but nops", CODE("\x90\x90"), 0},
};

static struct made_elf elf;
static struct yarn_image image;

static void open_code(const uint8_t *code, size_t size, bool has_symbols)
{
    static const struct made_symbol symbols[] = {
        {"bare", START, 0, STT_FUNC, STB_GLOBAL, 1},
        {"next", LIMIT, 0x10, STT_FUNC, STB_GLOBAL, 1},
    };
    static const struct made_function functions[] = {{0x800, START}, {LIMIT, LIMIT + 0x10}};
    uint8_t page[LIMIT - START];
    made_elf_begin(&elf, EM_X86_64);
    memset(page, 0x90, sizeof page);
    memcpy(page, code, size);
    ck_assert_uint_eq(made_elf_put(&elf, page, sizeof page, START), START);
    made_elf_section(&elf, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x800, 0x800, 0x1000);
    made_elf_eh_frame(&elf, 0, functions, YARN_COUNT_OF(functions));
    if (has_symbols)
        made_elf_symbols(&elf, SHT_SYMTAB, symbols, YARN_COUNT_OF(symbols));
    made_elf_load_all(&elf, 0, elf.size);
    ck_assert_int_eq(yarn_image_open_bytes(&image, made_elf_end(&elf)), 0);
    yarn_cfi_index_tables(&image);
}

START_TEST(the_end_is_shown_or_is_the_limit)
{
    const struct row *row = &rows[_i];
    size_t pages = yarn_pages_total();
    open_code(row->code, row->size, false);
    uint64_t end = yarn_code_end(&image, START, LIMIT);
    ck_assert_msg(end == (row->end ? START + row->end : LIMIT), "%s: %lx", row->what, (long)end);
    ck_assert_uint_eq(yarn_code_end(&image, START, START + 1), START + 1);
    ck_assert_uint_eq(yarn_code_end(&image, UINT64_MAX - 8, UINT64_MAX), UINT64_MAX);
    yarn_image_close(&image);
    ck_assert_uint_eq(yarn_pages_total(), pages);
}
END_TEST

/* Neither a symbol nor an FDE nor a section lies between the two. */
START_TEST(a_function_without_size_lends_its_name_to_none_behind_it)
{
    struct yarn_symbols *symbols;
    const struct row *row = &rows[_i];
    open_code(row->code, row->size, true);
    ck_assert_int_eq(yarn_symbols_new(&symbols), 0);
    uint64_t end = row->end ? START + row->end : LIMIT;
    for (uint64_t at = START; at < LIMIT; at++) {
        struct yarn_symbol symbol = ask_symbol(symbols, &image, "/made", at);
        bool is_named = yarn_span_equal(symbol.name, yarn_span_of_text("bare"));
        ck_assert_msg(is_named == (at < end), "%s: %lx", row->what, (long)at);
        ck_assert(is_named || !symbol.name.size);
        ck_assert_uint_eq(symbol.end, is_named ? end : 0);
    }
    yarn_symbols_free(symbols);
    yarn_image_close(&image);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("end of code");
    TCase *tests = tcase_create("made code");
    tcase_add_loop_test(tests, the_end_is_shown_or_is_the_limit, 0, (int)YARN_COUNT_OF(rows));
    tcase_add_loop_test(tests, a_function_without_size_lends_its_name_to_none_behind_it, 0,
                        (int)YARN_COUNT_OF(rows));
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
