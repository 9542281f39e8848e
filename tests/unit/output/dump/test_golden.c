/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "output/dump/format.h"
#include "tests/support/suite.h"
#include "tests/unit/output/dump/record_log.h"

static const struct {
    const char *dump;
    const char *text;
} golden[] = {
    {YARN_GOLDEN_FOLDER "/process.yarndump", YARN_GOLDEN_FOLDER "/process.txt"},
    {YARN_GOLDEN_FOLDER "/merged.yarndump", YARN_GOLDEN_FOLDER "/merged.txt"},
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

START_TEST(dump_reads_as_ever)
{
    struct record_log log = {NULL, 0, 0};
    struct yarn_dump_summary summary;
    char *wanted = read_text(golden[_i].text);
    ck_assert_int_eq(yarn_dump_read_file(golden[_i].dump, &record_log_visitor, &log, &summary), 0);
    ck_assert_uint_eq(summary.version_major, YARN_DUMP_MAJOR);
    ck_assert_uint_eq(summary.version_minor, YARN_DUMP_MINOR);
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
    TCase *tcase = tcase_create("as committed");
    tcase_add_loop_test(tcase, dump_reads_as_ever, 0, (int)YARN_COUNT_OF(golden));
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
