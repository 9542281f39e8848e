/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/suite.h"
#include "tests/unit/output/dump/record_log.h"

/* One row a released version of the format; rows are never taken out. */
static const struct {
    const char *dump;
    const char *text;
    uint16_t major, minor;
} golden[] = {
    {YARN_GOLDEN_FOLDER "/v1.yarndump", YARN_GOLDEN_FOLDER "/v1.txt", 1, 0},
    {YARN_GOLDEN_FOLDER "/v1.1-process.yarndump", YARN_GOLDEN_FOLDER "/v1.1-process.txt", 1, 1},
    {YARN_GOLDEN_FOLDER "/v1.1.yarndump", YARN_GOLDEN_FOLDER "/v1.1.txt", 1, 1},
    {YARN_GOLDEN_FOLDER "/v1.2-process.yarndump", YARN_GOLDEN_FOLDER "/v1.2-process.txt", 1, 2},
    {YARN_GOLDEN_FOLDER "/v1.2.yarndump", YARN_GOLDEN_FOLDER "/v1.2.txt", 1, 2},
};

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s", path);
    ck_assert_int_eq(fseek(file, 0, SEEK_END), 0);
    long size = ftell(file);
    rewind(file);
    char *text = malloc((size_t)size + 1);
    ck_assert_ptr_nonnull(text);
    ck_assert_uint_eq(fread(text, 1, (size_t)size, file), (size_t)size);
    text[size] = 0;
    fclose(file);
    return text;
}

START_TEST(dump_of_each_version_reads_as_ever)
{
    struct record_log log = {NULL, 0, 0};
    struct yarn_dump_summary summary;
    char *wanted = read_text(golden[_i].text);
    ck_assert_int_eq(yarn_dump_read_file(golden[_i].dump, &record_log_visitor, &log, &summary), 0);
    ck_assert_uint_eq(summary.version_major, golden[_i].major);
    ck_assert_uint_eq(summary.version_minor, golden[_i].minor);
    ck_assert_uint_eq(summary.nr_damages, 0);
    ck_assert_uint_eq(summary.records_bad, 0);
    ck_assert_uint_eq(summary.records_unknown, 0);
    ck_assert(summary.has_end);
    ck_assert_str_eq(log.text, wanted);
    free(wanted);
    record_log_free(&log);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("golden dumps");
    TCase *tcase = tcase_create("released versions");
    tcase_add_loop_test(tcase, dump_of_each_version_reads_as_ever, 0, (int)YARN_COUNT_OF(golden));
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
