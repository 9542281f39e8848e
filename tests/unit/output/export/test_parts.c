/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "output/export/numbering.h"
#include "output/export/perf_file.h"
#include "tests/support/suite.h"

START_TEST(things_are_numbered_in_the_order_of_their_coming)
{
    struct yarn_numbering numbering;
    uint32_t number;
    ck_assert_int_eq(yarn_numbering_init(&numbering, 10), 0);
    ck_assert_int_eq(yarn_numbering_of(&numbering, 7, &number), 0);
    ck_assert_uint_eq(number, 0);
    ck_assert_int_eq(yarn_numbering_of(&numbering, 0, &number), 0);
    ck_assert_uint_eq(number, 1);
    ck_assert_int_eq(yarn_numbering_of(&numbering, 7, &number), 0);
    ck_assert_uint_eq(number, 0);
    ck_assert_uint_eq(numbering.count, 2);
    yarn_numbering_fini(&numbering);
}
END_TEST

START_TEST(a_cleared_numbering_begins_anew)
{
    struct yarn_numbering numbering;
    uint32_t number;
    ck_assert_int_eq(yarn_numbering_init(&numbering, 10), 0);
    ck_assert_int_eq(yarn_numbering_of(&numbering, 7, &number), 0);
    yarn_numbering_clear(&numbering);
    ck_assert(!yarn_numbering_has(&numbering, 7));
    ck_assert_int_eq(yarn_numbering_of(&numbering, 3, &number), 0);
    ck_assert_uint_eq(number, 0);
    yarn_numbering_fini(&numbering);
}
END_TEST

START_TEST(a_record_longer_than_its_size_field_is_cut)
{
    static uint8_t bytes[YARN_PERF_RECORD_SIZE];
    struct yarn_perf_file perf;
    FILE *file = tmpfile();
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(yarn_perf_file_init(&perf, file, UINT64_MAX), 0);
    uint64_t before = perf.at;
    yarn_perf_begin_record(&perf, PERF_RECORD_SAMPLE, 0);
    yarn_perf_add(&perf, bytes, sizeof bytes);
    yarn_perf_add_u64(&perf, 1);
    yarn_perf_end_record(&perf);
    ck_assert_uint_eq(perf.at - before, YARN_PERF_RECORD_SIZE);
    yarn_perf_file_fini(&perf);
    (void)fclose(file);
}
END_TEST

START_TEST(records_are_padded_to_eight_bytes)
{
    struct yarn_perf_file perf;
    FILE *file = tmpfile();
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(yarn_perf_file_init(&perf, file, UINT64_MAX), 0);
    uint64_t before = perf.at;
    yarn_perf_begin_record(&perf, PERF_RECORD_COMM, 0);
    yarn_perf_add_text(&perf, yarn_span_of_text("12345678"), 8);
    yarn_perf_add_u32(&perf, 1);
    yarn_perf_end_record(&perf);
    ck_assert_uint_eq(perf.at - before, 8 + 16 + 8);
    yarn_perf_file_fini(&perf);
    (void)fclose(file);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("parts of exports");
    TCase *tcase = tcase_create("numbering");
    tcase_add_test(tcase, things_are_numbered_in_the_order_of_their_coming);
    tcase_add_test(tcase, a_cleared_numbering_begins_anew);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("perf.data");
    tcase_add_test(tcase, a_record_longer_than_its_size_field_is_cut);
    tcase_add_test(tcase, records_are_padded_to_eight_bytes);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
