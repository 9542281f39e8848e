/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <elf.h>
#include <stdlib.h>

#include "tests/support/made_cfi.h"
#include "tests/support/suite.h"
#include "unwind/cfi_row.h"

/* def_cfa rsp 8; offset rip at cfa-8: what every function of x86-64 begins with */
#define ENTRY_ROW MADE_BYTES(0x0c, 7, 8, 0x90, 1)

static struct made_cfi made;
static struct yarn_image image;
static size_t fde[3];

static void make(bool is_debug_frame, bool with_table)
{
    made = (struct made_cfi){.is_debug_frame = is_debug_frame};
    made_cfi_cie(&made, 16, -8, ENTRY_ROW);
    fde[0] = made_cfi_fde(&made, 0x1000, 0x100, MADE_BYTES(0x41, 0x0e, 16));
    fde[1] = made_cfi_fde(&made, 0x1100, 0x40, MADE_BYTES(0));
    made_cfi_cie(&made, 16, -8, ENTRY_ROW);
    fde[2] = made_cfi_fde(&made, 0x2000, 0x10, MADE_BYTES(0));
    made_cfi_end(&made);
    if (with_table) {
        made_cfi_row(&made, 0x1000, fde[0]);
        made_cfi_row(&made, 0x1100, fde[1]);
        made_cfi_row(&made, 0x2000, fde[2]);
    }
    image = made_cfi_image(&made);
}

static void by_table(void)
{
    make(false, true);
}

static void by_scan(void)
{
    make(false, false);
}

static void by_debug_frame(void)
{
    make(true, false);
}

static void by_index(void)
{
    make(false, false);
    yarn_cfi_index_tables(&image);
    ck_assert_uint_eq(image.frame_index.count, 3);
}

static void by_index_of_debug_frame(void)
{
    make(true, false);
    yarn_cfi_index_tables(&image);
    ck_assert_uint_eq(image.debug_index.count, 3);
}

static const struct {
    uint64_t vaddr;
    int result;
    uint64_t start, end;
} addresses[] = {
    {0x0fff, -ENOENT, 0, 0},     /* before the first */
    {0x1000, 0, 0x1000, 0x1100}, /* first byte */
    {0x10ff, 0, 0x1000, 0x1100}, /* last byte */
    {0x1100, 0, 0x1100, 0x1140}, /* the next begins where one ends */
    {0x1140, -ENOENT, 0, 0},     /* in the gap */
    {0x200f, 0, 0x2000, 0x2010}, /* the last, of another CIE */
    {0x2010, -ENOENT, 0, 0},     /* behind all */
    {UINT64_MAX, -ENOENT, 0, 0},
};

START_TEST(finds_the_fde_that_covers_the_address_and_no_other)
{
    struct yarn_fde found = {0};
    ck_assert_int_eq(yarn_cfi_find(&image, addresses[_i].vaddr, &found), addresses[_i].result);
    ck_assert_uint_eq(found.start, addresses[_i].start);
    ck_assert_uint_eq(found.end, addresses[_i].end);
}
END_TEST

START_TEST(says_what_the_cie_says)
{
    struct yarn_fde found;
    ck_assert_int_eq(yarn_cfi_find(&image, 0x1080, &found), 0);
    ck_assert_uint_eq(found.code_align, 1);
    ck_assert_int_eq(found.data_align, -8);
    ck_assert_uint_eq(found.return_register, 16);
    ck_assert(!found.is_signal_frame);
    ck_assert_uint_eq(found.eh_frame_offset, fde[0]);
    ck_assert_uint_eq(found.cie_instructions.data[0], 0x0c);
    ck_assert_uint_eq(found.instructions.data[0], 0x41);
}
END_TEST

START_TEST(every_cut_of_the_section_is_refused_or_read_within_it)
{
    for (size_t size = 0; size < made.frame_size; size++) {
        struct yarn_fde found;
        struct yarn_image cut = image;
        struct yarn_section *section = made.is_debug_frame ? &cut.debug_frame : &cut.eh_frame;
        uint8_t *copy = malloc(size + 1); /* of exactly that size, for the sanitizer */
        ck_assert_ptr_nonnull(copy);
        memcpy(copy, made.frame, size);
        section->bytes = yarn_span_of(copy, size);
        int result = yarn_cfi_find(&cut, 0x2005, &found);
        ck_assert(result == -ENOENT || result == -EBADMSG || result == 0);
        if (result == 0)
            ck_assert_uint_ge(size + 4, made.frame_size);
        free(copy);
    }
}
END_TEST

START_TEST(a_table_row_that_leads_nowhere_is_malformed)
{
    struct yarn_fde found;
    by_table();
    int32_t far = INT32_MAX;
    memcpy(made.header + 16, &far, sizeof far);
    ck_assert_int_eq(yarn_cfi_find(&image, 0x1000, &found), -EBADMSG);
    ck_assert_int_eq(yarn_cfi_find(&image, 0x1100, &found), 0);
}
END_TEST

START_TEST(a_table_row_that_leads_to_a_cie_is_malformed)
{
    struct yarn_fde found;
    made = (struct made_cfi){0};
    made_cfi_cie(&made, 16, -8, ENTRY_ROW);
    made_cfi_row(&made, 0x1000, 0);
    image = made_cfi_image(&made);
    ck_assert_int_eq(yarn_cfi_find(&image, 0x1000, &found), -EBADMSG);
}
END_TEST

START_TEST(a_count_beyond_the_table_falls_back_to_the_scan)
{
    struct yarn_fde found;
    by_table();
    made.header[8] = 200;
    ck_assert_int_eq(yarn_cfi_find(&image, 0x2005, &found), 0);
    ck_assert_uint_eq(found.start, 0x2000);
}
END_TEST

START_TEST(a_version_from_the_future_is_malformed_not_misread)
{
    struct yarn_fde found;
    by_table();
    made.frame[8] = 9;
    ck_assert_int_eq(yarn_cfi_find(&image, 0x1000, &found), -EBADMSG);
    ck_assert_int_eq(yarn_cfi_find(&image, 0x2000, &found), 0);
}
END_TEST

START_TEST(an_image_without_tables_has_no_fde)
{
    struct yarn_fde found;
    struct yarn_image empty = {0};
    ck_assert_int_eq(yarn_cfi_find(&empty, 0x1000, &found), -ENOENT);
}
END_TEST

/* ---- rows ---- */

#define AT_START 0x1000

struct row_case {
    const char *what;
    struct yarn_span instructions;
    uint64_t vaddr;
    int result;
    uint64_t cfa_register;
    int64_t cfa_offset;
    uint64_t number; /* of the register whose place is compared */
    enum yarn_cfi_where where;
    int64_t value;
};

#define ROW(...) MADE_BYTES(__VA_ARGS__)

static int run_row(const struct row_case *row, struct yarn_cfi_row *ret_row)
{
    struct yarn_fde made_fde = {
        .start = AT_START,
        .end = AT_START + 0x10000000,
        .cie_instructions = ENTRY_ROW,
        .instructions = row->instructions,
        .code_align = 1,
        .data_align = -8,
        .return_register = 16,
    };
    return yarn_cfi_row_at(&made_fde, AT_START + row->vaddr, ret_row);
}

START_TEST(a_row_is_what_the_instructions_say)
{
    const struct row_case rows[] = {
        {"no instruction: the CIE's row", ROW(0), 5, 0, 7, 8, 16, YARN_CFI_AT_CFA, -8},
        {"before the advance", ROW(0x44, 0x0e, 32), 3, 0, 7, 8, 6, YARN_CFI_SAME, 0},
        {"at the advance", ROW(0x44, 0x0e, 32), 4, 0, 7, 32, 6, YARN_CFI_SAME, 0},
        {"advance_loc1", ROW(2, 200, 0x0e, 32), 200, 0, 7, 32, 6, YARN_CFI_SAME, 0},
        {"advance_loc2", ROW(3, 0, 2, 0x0e, 32), 0x200, 0, 7, 32, 6, YARN_CFI_SAME, 0},
        {"advance_loc4", ROW(4, 0, 0, 1, 0, 0x0e, 32), 0x10000, 0, 7, 32, 6, YARN_CFI_SAME, 0},
        {"advance_loc4, before", ROW(4, 0, 0, 1, 0, 0x0e, 32), 0xffff, 0, 7, 8, 6, 0, 0},
        {"set_loc, absolute", ROW(1, 0x10, 0x10, 0, 0, 0, 0, 0, 0, 0x0e, 32), 0x10, 0, 7, 32, 6, 0,
         0},
        {"offset", ROW(0x86, 2), 0, 0, 7, 8, 6, YARN_CFI_AT_CFA, -16},
        {"offset_extended", ROW(5, 6, 0x82, 1), 0, 0, 7, 8, 6, YARN_CFI_AT_CFA, -8 * 130},
        {"offset_extended_sf", ROW(0x11, 6, 0x7e), 0, 0, 7, 8, 6, YARN_CFI_AT_CFA, 16},
        {"negative_offset_extended", ROW(0x2f, 6, 2), 0, 0, 7, 8, 6, YARN_CFI_AT_CFA, 16},
        {"val_offset", ROW(0x14, 6, 2), 0, 0, 7, 8, 6, YARN_CFI_IS_CFA, -16},
        {"val_offset_sf", ROW(0x15, 6, 0x7e), 0, 0, 7, 8, 6, YARN_CFI_IS_CFA, 16},
        {"undefined", ROW(7, 16), 0, 0, 7, 8, 16, YARN_CFI_UNDEFINED, 0},
        {"same_value", ROW(0x86, 2, 8, 6), 0, 0, 7, 8, 6, YARN_CFI_SAME, 0},
        {"register", ROW(9, 6, 12), 0, 0, 7, 8, 6, YARN_CFI_IN_REGISTER, 12},
        {"restore", ROW(0x90, 5, 0xd0), 0, 0, 7, 8, 16, YARN_CFI_AT_CFA, -8},
        {"restore_extended", ROW(0x86, 2, 6, 6), 0, 0, 7, 8, 6, YARN_CFI_SAME, 0},
        {"remember and restore", ROW(0x0a, 0x86, 2, 0x0e, 64, 0x0b), 0, 0, 7, 8, 6, 0, 0},
        {"what lies between", ROW(0x0a, 0x86, 2, 0x0e, 64, 0x44, 0x0b), 3, 0, 7, 64, 6,
         YARN_CFI_AT_CFA, -16},
        {"two deep", ROW(0x0a, 0x0e, 16, 0x0a, 0x0e, 24, 0x0b), 0, 0, 7, 16, 6, 0, 0},
        {"def_cfa", ROW(0x0c, 6, 16), 0, 0, 6, 16, 6, 0, 0},
        {"def_cfa_sf", ROW(0x12, 6, 0x7e), 0, 0, 6, 16, 6, 0, 0},
        {"def_cfa_register", ROW(0x0d, 6), 0, 0, 6, 8, 6, 0, 0},
        {"def_cfa_offset_sf", ROW(0x13, 0x7c), 0, 0, 7, 32, 6, 0, 0},
        {"args_size changes nothing", ROW(0x2e, 16), 0, 0, 7, 8, 6, 0, 0},
        {"vectors are skipped", ROW(5, 40, 2), 0, 0, 7, 8, 6, 0, 0},
        {"expression then def_cfa", ROW(0x0f, 2, 0x76, 8, 0x0c, 7, 24), 0, 0, 7, 24, 6, 0, 0},

        {"unknown instruction", ROW(0x3f), 0, -EBADMSG, 0, 0, 0, 0, 0},
        {"restore without remember", ROW(0x0b), 0, -EBADMSG, 0, 0, 0, 0, 0},
        {"operand cut off", ROW(0x0e), 0, -EBADMSG, 0, 0, 0, 0, 0},
        {"operand cut off in a varint", ROW(0x0e, 0x80), 0, -EBADMSG, 0, 0, 0, 0, 0},
        {"expression longer than the FDE", ROW(0x0f, 9, 1), 0, -EBADMSG, 0, 0, 0, 0, 0},
        {"remembered too often", ROW(0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a), 0,
         -EOVERFLOW, 0, 0, 0, 0, 0},
        {"garbage behind the row is not read", ROW(0x44, 0x3f), 3, 0, 7, 8, 6, 0, 0},
    };
    for (size_t i = 0; i < YARN_COUNT_OF(rows); i++) {
        struct yarn_cfi_row row;
        memset(&row, 0, sizeof row);
        int result = run_row(&rows[i], &row);
        ck_assert_msg(result == rows[i].result, "%s: %d", rows[i].what, result);
        if (result)
            continue;
        const struct yarn_cfi_place *place = &row.place[rows[i].number];
        ck_assert_msg(!row.has_cfa_expression && row.cfa_register == rows[i].cfa_register &&
                          row.cfa_offset == rows[i].cfa_offset,
                      "%s: CFA %lu %ld", rows[i].what, (unsigned long)row.cfa_register,
                      (long)row.cfa_offset);
        ck_assert_msg(place->where == rows[i].where && place->value == rows[i].value,
                      "%s: place %d %ld", rows[i].what, place->where, (long)place->value);
    }
}
END_TEST

START_TEST(expressions_are_borrowed_as_they_stand)
{
    const struct row_case both = {
        .what = "both",
        .instructions = ROW(0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0),
    };
    struct yarn_cfi_row row;
    ck_assert_int_eq(run_row(&both, &row), 0);
    ck_assert(row.has_cfa_expression);
    ck_assert(yarn_span_equal(row.cfa_expression, MADE_BYTES(0x76, 0x78, 0x06)));
    ck_assert_int_eq(row.place[6].where, YARN_CFI_AT_EXPRESSION);
    ck_assert(yarn_span_equal(yarn_span_of(row.place[6].expression, row.place[6].expression_size),
                              MADE_BYTES(0x76, 0)));
}
END_TEST

START_TEST(signatures_of_return_addresses_are_passed_over)
{
    const struct row_case both = {.instructions = ROW(0x2d, 0x2c)}; /* with and without pc */
    struct yarn_cfi_row row;
    ck_assert_int_eq(run_row(&both, &row), 0);
}
END_TEST

/* ---- a real file ---- */

START_TEST(gap_ends_where_a_neighbour_begins)
{
    static void (*const sources[])(void) = {by_table, by_index, by_index_of_debug_frame};
    uint64_t from, to;
    for (size_t i = 0; i < YARN_COUNT_OF(sources); i++) {
        sources[i]();
        ck_assert(yarn_cfi_gap(&image, 0x1180, &from, &to));
        ck_assert(from == 0x1140 && to == 0x2000);
        ck_assert(yarn_cfi_gap(&image, 0x800, &from, &to));
        ck_assert(from == 0 && to == 0x1000);
        ck_assert(yarn_cfi_gap(&image, 0x2010, &from, &to));
        ck_assert(from == 0x2010 && to == UINT64_MAX);
        yarn_image_close(&image);
    }
    by_scan();
    ck_assert(!yarn_cfi_gap(&image, 0x1180, &from, &to));
}
END_TEST

START_TEST(table_and_scan_agree_on_this_very_program)
{
    struct yarn_image self, without;
    unsigned nr_found = 0;
    ck_assert_int_eq(yarn_image_open(&self, -100, "/proc/self/exe"), 0);
    without = self;
    without.eh_frame_hdr = (struct yarn_section){0};
    for (unsigned i = 0; i < self.nr_segments; i++) {
        const struct yarn_segment *segment = &self.segments[i];
        for (uint64_t at = 0; segment->executable && at < segment->size;
             at += 61 + segment->size / 500) {
            struct yarn_fde table = {0}, scan = {0};
            struct yarn_cfi_row row;
            int result = yarn_cfi_find(&self, segment->vaddr + at, &table);
            ck_assert_int_eq(result, yarn_cfi_find(&without, segment->vaddr + at, &scan));
            ck_assert_uint_eq(table.start, scan.start);
            ck_assert_uint_eq(table.eh_frame_offset, scan.eh_frame_offset);
            if (result == 0)
                ck_assert_int_eq(yarn_cfi_row_at(&table, segment->vaddr + at, &row), 0);
            nr_found += result == 0;
        }
    }
    ck_assert_uint_gt(nr_found, 20);
    yarn_image_close(&self);
}
END_TEST

static void add_lookup(Suite *suite, const char *name, void (*setup)(void))
{
    TCase *tcase = tcase_create(name);
    tcase_add_checked_fixture(tcase, setup, NULL);
    tcase_add_loop_test(tcase, finds_the_fde_that_covers_the_address_and_no_other, 0,
                        YARN_COUNT_OF(addresses));
    tcase_add_test(tcase, says_what_the_cie_says);
    tcase_add_test(tcase, every_cut_of_the_section_is_refused_or_read_within_it);
    suite_add_tcase(suite, tcase);
}

int main(void)
{
    Suite *suite = suite_create("cfi");
    add_lookup(suite, "by the sorted table", by_table);
    add_lookup(suite, "by a scan of .eh_frame", by_scan);
    add_lookup(suite, "by a scan of .debug_frame", by_debug_frame);
    add_lookup(suite, "by an index of .eh_frame", by_index);
    add_lookup(suite, "by an index of .debug_frame", by_index_of_debug_frame);

    TCase *damaged = tcase_create("damaged tables");
    tcase_add_test(damaged, a_table_row_that_leads_nowhere_is_malformed);
    tcase_add_test(damaged, a_table_row_that_leads_to_a_cie_is_malformed);
    tcase_add_test(damaged, a_count_beyond_the_table_falls_back_to_the_scan);
    tcase_add_test(damaged, a_version_from_the_future_is_malformed_not_misread);
    tcase_add_test(damaged, an_image_without_tables_has_no_fde);
    suite_add_tcase(suite, damaged);

    TCase *rows = tcase_create("rows");
    tcase_add_test(rows, a_row_is_what_the_instructions_say);
    tcase_add_test(rows, expressions_are_borrowed_as_they_stand);
    tcase_add_test(rows, signatures_of_return_addresses_are_passed_over);
    tcase_add_test(rows, gap_ends_where_a_neighbour_begins);
    tcase_add_test(rows, table_and_scan_agree_on_this_very_program);
    suite_add_tcase(suite, rows);
    return run_suite(suite);
}
