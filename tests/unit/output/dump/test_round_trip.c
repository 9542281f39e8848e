/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdio.h>
#include <unistd.h>

#include "output/dump/format.h"
#include "tests/support/suite.h"
#include "tests/unit/output/dump/made_dump.h"

START_TEST(every_kind_of_record_comes_back)
{
    struct made_dump dump;
    struct record_log wanted = {NULL, 0, 0};
    struct record_log got = {NULL, 0, 0};
    struct yarn_dump_summary summary;
    made_dump_everything(&dump, &wanted);
    ck_assert_int_eq(
        yarn_dump_read_bytes(made_dump_span(&dump), &record_log_visitor, &got, &summary), 0);
    ck_assert_uint_eq(summary.version_major, 1);
    ck_assert_uint_eq(summary.version_minor, YARN_DUMP_MINOR);
    ck_assert_uint_eq(summary.file_bytes, dump.size);
    ck_assert_uint_eq(summary.chunks, 3);
    ck_assert_uint_eq(summary.nr_damages, 0);
    ck_assert_uint_eq(summary.damaged_bytes, 0);
    ck_assert_uint_eq(summary.records_bad, 0);
    ck_assert_uint_eq(summary.records_unknown, 0);
    ck_assert(summary.has_end);
    ck_assert(!summary.is_cut);
    ck_assert_uint_eq(record_log_count(&got, "sample "), 120);
    ck_assert_uint_eq(record_log_count(&got, "stack "), 20);

    /* Unchanged totals are not stored, but stand once more before the end. */
    ck_assert_uint_eq(record_log_count(&got, "totals "), 3);
    record_log_sort(&wanted);
    record_log_sort(&got);
    ck_assert_str_eq(got.text, wanted.text);
    record_log_free(&wanted);
    record_log_free(&got);
    made_dump_free(&dump);
}
END_TEST

static int check_order(void *self, const struct yarn_sample *samples, size_t count)
{
    size_t *nr_late = self;
    for (size_t i = 1; i < count; i++)
        *nr_late += samples[i].time_ns < samples[i - 1].time_ns;
    return 0;
}

START_TEST(samples_of_many_threads_are_in_time_order)
{
    struct made_dump dump;
    size_t nr_late = 0;
    struct yarn_dump_summary summary;
    const struct yarn_dump_visitor visitor = {.samples = check_order};
    made_dump_begin(&dump, NULL);
    yarn_dump_write_event(dump.writer, &(struct yarn_dump_event){.number = 0});
    for (uint32_t i = 0; i < 10000; i++) {
        yarn_dump_write_sample(dump.writer, &(struct yarn_sample){
                                                .time_ns = 1000 + i,
                                                .weight = 1,
                                                .tid = 1 + i * 7919 % 1000,
                                                .stack = YARN_DUMP_NONE,
                                            });
    }
    yarn_dump_writer_flush(dump.writer);
    made_dump_finish(&dump);
    ck_assert_int_eq(yarn_dump_read_bytes(made_dump_span(&dump), &visitor, &nr_late, &summary), 0);
    ck_assert_uint_eq(summary.records_bad, 0);
    ck_assert_uint_eq(nr_late, 0);
    made_dump_free(&dump);
}
END_TEST

START_TEST(file_reads_like_its_bytes)
{
    struct made_dump dump;
    struct record_log of_bytes = {NULL, 0, 0};
    struct record_log of_file = {NULL, 0, 0};
    struct yarn_dump_summary a, b;
    char path[64];
    made_dump_everything(&dump, NULL);
    snprintf(path, sizeof path, "/proc/self/fd/%d", dump.fd);
    ck_assert_int_eq(
        yarn_dump_read_bytes(made_dump_span(&dump), &record_log_visitor, &of_bytes, &a), 0);
    ck_assert_int_eq(yarn_dump_read_file(path, &record_log_visitor, &of_file, &b), 0);
    ck_assert_str_eq(of_bytes.text, of_file.text);
    ck_assert_uint_eq(a.file_bytes, b.file_bytes);
    ck_assert_uint_eq(a.chunks, b.chunks);
    record_log_free(&of_bytes);
    record_log_free(&of_file);
    made_dump_free(&dump);
}
END_TEST

static int stop_at_stack(void *self, const struct yarn_dump_stack *stack)
{
    uint32_t *seen = self;
    *seen = stack->number;
    return stack->number == 7 ? 1234 : 0;
}

START_TEST(visitor_ends_the_reading)
{
    struct made_dump dump;
    uint32_t seen = 0;
    struct yarn_dump_summary summary;
    const struct yarn_dump_visitor visitor = {.stack = stop_at_stack};
    made_dump_everything(&dump, NULL);
    ck_assert_int_eq(yarn_dump_read_bytes(made_dump_span(&dump), &visitor, &seen, &summary), 1234);
    ck_assert_uint_eq(seen, 7);
    made_dump_free(&dump);
}
END_TEST

START_TEST(missing_file_and_other_files_are_refused)
{
    struct yarn_dump_summary summary;
    const struct yarn_dump_visitor visitor = {.samples = NULL};
    const char text[] = "This is a letter, which is not a dump of samples at all.";
    ck_assert_int_eq(yarn_dump_read_file("/nowhere/at/all", &visitor, NULL, &summary), -ENOENT);
    ck_assert_int_eq(yarn_dump_read_file("/", &visitor, NULL, &summary), -EISDIR);
    ck_assert_int_eq(yarn_dump_read_file("/proc/self/exe", &visitor, NULL, &summary), -ENOEXEC);
    ck_assert_int_eq(yarn_dump_read_bytes(yarn_span_of_text(text), &visitor, NULL, &summary),
                     -ENOEXEC);
    ck_assert_int_eq(yarn_dump_read_bytes(yarn_span_of("YARE", 4), &visitor, NULL, &summary),
                     -ENOEXEC);
}
END_TEST

/* Recorded before its first write was done: cut, not foreign. */
START_TEST(empty_file_is_a_cut_dump)
{
    struct yarn_dump_summary summary;
    const struct yarn_dump_visitor visitor = {.samples = NULL};
    ck_assert_int_eq(yarn_dump_read_bytes(YARN_SPAN_EMPTY, &visitor, NULL, &summary), 0);
    ck_assert(summary.is_cut);
    ck_assert(!summary.has_end);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("dump round trip");
    TCase *tcase = tcase_create("what was written is read");
    tcase_add_test(tcase, every_kind_of_record_comes_back);
    tcase_add_test(tcase, samples_of_many_threads_are_in_time_order);
    tcase_add_test(tcase, file_reads_like_its_bytes);
    tcase_add_test(tcase, visitor_ends_the_reading);
    tcase_add_test(tcase, missing_file_and_other_files_are_refused);
    tcase_add_test(tcase, empty_file_is_a_cut_dump);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
