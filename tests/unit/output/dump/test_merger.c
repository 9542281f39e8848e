/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "output/dump/format.h"
#include "output/dump/merger.h"
#include "tests/support/suite.h"
#include "tests/unit/output/dump/made_dump.h"

struct merged {
    uint8_t *bytes;
    size_t size, capacity;
};

static struct made_dump dump, other;
static struct merged merged;
static struct yarn_dump_merger merger;

static int put(void *self, struct yarn_span bytes)
{
    struct merged *into = self;
    if (into->capacity - into->size < bytes.size) {
        into->capacity = 2 * (into->size + bytes.size);
        into->bytes = realloc(into->bytes, into->capacity);
        ck_assert_ptr_nonnull(into->bytes);
    }
    memcpy(into->bytes + into->size, bytes.data, bytes.size);
    into->size += bytes.size;
    return 0;
}

static int put_nothing(void *self, struct yarn_span bytes)
{
    (void)bytes;
    return --*(int *)self < 0 ? -ENOSPC : 0;
}

/* One sample, in one chunk, and an end. */
static void make_other(void)
{
    made_dump_begin(&other, NULL);
    yarn_dump_write_process(other.writer, &(struct yarn_dump_process){.pid = 42, .start_ns = 7});
    yarn_dump_write_event(other.writer, &(struct yarn_dump_event){.number = 0});
    yarn_dump_write_sample(
        other.writer,
        &(struct yarn_sample){.time_ns = 9, .weight = 5, .tid = 43, .stack = YARN_DUMP_NONE});
    yarn_dump_write_end(other.writer, &(struct yarn_dump_end){.time_ns = 10, .status = 3});
    made_dump_finish(&other);
}

static void set_up(void)
{
    made_dump_everything(&dump, NULL);
    make_other();
    ck_assert_int_eq(yarn_dump_merger_open(&merger, 0, put, &merged), 0);
}

static void tear_down(void)
{
    yarn_dump_merger_close(&merger);
    made_dump_free(&dump);
    made_dump_free(&other);
    free(merged.bytes);
    merged = (struct merged){NULL, 0, 0};
}

static struct yarn_dump_summary add(struct yarn_span bytes)
{
    struct yarn_dump_summary summary;
    ck_assert_int_eq(yarn_dump_merger_add_bytes(&merger, "a.dump", bytes, &summary), 0);
    return summary;
}

static struct yarn_dump_summary read_log(struct yarn_span bytes, struct record_log *ret_log)
{
    struct yarn_dump_summary summary;
    *ret_log = (struct record_log){NULL, 0, 0};
    ck_assert_int_eq(yarn_dump_read_bytes(bytes, &record_log_visitor, ret_log, &summary), 0);
    return summary;
}

static struct yarn_span merged_span(void)
{
    return yarn_span_of(merged.bytes, merged.size);
}

/* Without what merging adds. */
static void strip(struct record_log *log)
{
    size_t kept = 0;
    for (size_t at = 0; at < log->size;) {
        size_t size = strcspn(log->text + at, "\n") + 1;
        bool is_added =
            strncmp(log->text + at, "from ", 5) == 0 || strncmp(log->text + at, "reset\n", 6) == 0;
        if (!is_added) {
            memmove(log->text + kept, log->text + at, size);
            kept += size;
        }
        at += size;
    }
    if (log->text)
        log->text[kept] = 0;
    log->size = kept;
}

static void check_same(struct record_log *got, struct record_log *wanted)
{
    strip(got);
    strip(wanted);
    ck_assert_uint_eq(got->size, wanted->size);
    if (got->size)
        ck_assert_str_eq(got->text, wanted->text);
    record_log_free(got);
    record_log_free(wanted);
}

START_TEST(merged_dump_holds_the_records_of_all_in_their_order)
{
    struct record_log wanted, more, got;
    add(made_dump_span(&dump));
    add(made_dump_span(&other));
    (void)read_log(made_dump_span(&dump), &wanted);
    (void)read_log(made_dump_span(&other), &more);
    struct yarn_dump_summary summary = read_log(merged_span(), &got);
    ck_assert_uint_eq(summary.version_major, 1);
    ck_assert_uint_eq(summary.version_minor, YARN_DUMP_MINOR);
    ck_assert_uint_eq(summary.nr_damages, 0);
    ck_assert_uint_eq(summary.records_bad, 0);
    ck_assert_uint_eq(summary.records_unknown, 0);
    ck_assert(summary.has_end);
    ck_assert_uint_eq(record_log_count(&got, "process "), 2);
    ck_assert_uint_eq(record_log_count(&got, "process pid=0 "), 0);
    ck_assert_uint_eq(record_log_count(&got, "from path=6'a.dump' file_bytes="), 2);
    strip(&got);
    strip(&wanted);
    ck_assert_uint_eq(got.size, wanted.size + more.size);
    ck_assert_int_eq(strncmp(got.text, wanted.text, wanted.size), 0);
    ck_assert_str_eq(got.text + wanted.size, more.text);
    record_log_free(&wanted);
    record_log_free(&more);
    record_log_free(&got);
}
END_TEST

START_TEST(merging_again_changes_no_record_and_adds_none)
{
    struct record_log once, twice;
    struct merged before;
    add(made_dump_span(&dump));
    add(made_dump_span(&other));
    before = merged;
    merged = (struct merged){NULL, 0, 0};
    yarn_dump_merger_close(&merger);
    ck_assert_int_eq(yarn_dump_merger_open(&merger, 0, put, &merged), 0);
    add(yarn_span_of(before.bytes, before.size));
    (void)read_log(yarn_span_of(before.bytes, before.size), &once);
    (void)read_log(merged_span(), &twice);
    ck_assert_str_eq(twice.text, once.text);
    record_log_free(&once);
    record_log_free(&twice);
    free(before.bytes);
}
END_TEST

START_TEST(same_dumps_make_the_same_bytes)
{
    struct merged before;
    add(made_dump_span(&dump));
    add(made_dump_span(&other));
    before = merged;
    merged = (struct merged){NULL, 0, 0};
    yarn_dump_merger_close(&merger);
    ck_assert_int_eq(yarn_dump_merger_open(&merger, 0, put, &merged), 0);
    add(made_dump_span(&dump));
    add(made_dump_span(&other));
    ck_assert(yarn_span_equal(merged_span(), yarn_span_of(before.bytes, before.size)));
    free(before.bytes);
}
END_TEST

/* Of a process that has no end, and of one in a merged dump that is itself cut. */
START_TEST(cut_dump_stays_cut)
{
    for (size_t size = 0; size < dump.size; size += 7) {
        struct record_log wanted, got;
        char begin[64];
        struct yarn_span cut = yarn_span_sub(made_dump_span(&dump), 0, size);
        merged.size = 0;
        ck_assert_int_eq(yarn_dump_merger_open(&merger, 0, put, &merged), 0);
        struct yarn_dump_summary summary = add(cut);
        struct yarn_dump_summary of_cut = read_log(cut, &wanted);
        struct yarn_dump_summary of_merged = read_log(merged_span(), &got);
        ck_assert_int_eq(summary.is_cut, of_cut.is_cut);
        ck_assert(!of_merged.has_end);
        ck_assert(!of_merged.is_cut);
        ck_assert_uint_eq(of_merged.nr_damages, 0);
        (void)snprintf(begin, sizeof begin, "from path=6'a.dump' file_bytes=%zu ", size);
        ck_assert_uint_eq(record_log_count(&got, begin), 1);
        const char *is_cut = got.text ? strstr(got.text, " is_cut=1 ") : NULL;
        ck_assert_msg((is_cut != NULL) == of_cut.is_cut, "size %zu", size);
        check_same(&got, &wanted);
        yarn_dump_merger_close(&merger);
    }
}
END_TEST

/* What is readable is taken over, and what is not is reported in the record. */
START_TEST(damage_is_reported_in_the_merged_dump)
{
    for (size_t at = YARN_DUMP_FILE_HEADER_BYTES; at < dump.size; at += 11) {
        struct record_log wanted, got;
        char text[64];
        merged.size = 0;
        ck_assert_int_eq(yarn_dump_merger_open(&merger, 0, put, &merged), 0);
        dump.bytes[at] ^= 0x10;
        struct yarn_dump_summary summary = add(made_dump_span(&dump));
        struct yarn_dump_summary of_dump = read_log(made_dump_span(&dump), &wanted);
        dump.bytes[at] ^= 0x10;
        add(made_dump_span(&other));
        struct yarn_dump_summary of_merged = read_log(merged_span(), &got);
        ck_assert_uint_eq(summary.nr_damages, of_dump.nr_damages);
        ck_assert_uint_eq(of_merged.nr_damages, 0);
        (void)snprintf(text, sizeof text, " nr_damages=%zu damaged_bytes=%zu ", summary.nr_damages,
                       (size_t)summary.damaged_bytes);
        ck_assert_ptr_nonnull(strstr(got.text, text));
        ck_assert_uint_eq(record_log_count(&got, "process pid=42 "), 1);
        ck_assert_uint_eq(record_log_count(&got, "sample "),
                          record_log_count(&wanted, "sample ") + 1);
        record_log_free(&wanted);
        record_log_free(&got);
        yarn_dump_merger_close(&merger);
    }
}
END_TEST

START_TEST(more_processes_than_a_dump_can_hold_are_refused)
{
    struct yarn_dump_summary summary;
    int left = INT32_MAX;
    yarn_dump_merger_close(&merger);
    ck_assert_int_eq(yarn_dump_merger_open(&merger, 0, put_nothing, &left), 0);
    for (size_t i = 0; i < YARN_DUMP_PROCESSES_MAX; i++)
        add(made_dump_span(&other));
    ck_assert_int_eq(
        yarn_dump_merger_add_bytes(&merger, "a.dump", made_dump_span(&other), &summary),
        -EOVERFLOW);
}
END_TEST

START_TEST(failing_write_ends_it)
{
    struct yarn_dump_summary summary;
    int left;
    for (int nr_good = 0;; nr_good++) {
        left = nr_good;
        yarn_dump_merger_close(&merger);
        int err = yarn_dump_merger_open(&merger, 0, put_nothing, &left);
        if (!err)
            err = yarn_dump_merger_add_bytes(&merger, "a.dump", made_dump_span(&dump), &summary);
        if (!err)
            break;
        ck_assert_int_eq(err, -ENOSPC);
    }
    ck_assert_int_eq(left, 0);
}
END_TEST

START_TEST(what_is_no_dump_is_refused)
{
    struct yarn_dump_summary summary;
    ck_assert_int_eq(yarn_dump_merger_add_bytes(&merger, "a.dump",
                                                yarn_span_of_text("no dump at all, but a text that "
                                                                  "is longer than a header"),
                                                &summary),
                     -ENOEXEC);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("merger");
    TCase *tcase = tcase_create("two dumps");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, merged_dump_holds_the_records_of_all_in_their_order);
    tcase_add_test(tcase, merging_again_changes_no_record_and_adds_none);
    tcase_add_test(tcase, same_dumps_make_the_same_bytes);
    tcase_add_test(tcase, cut_dump_stays_cut);
    tcase_add_test(tcase, damage_is_reported_in_the_merged_dump);
    tcase_add_test(tcase, more_processes_than_a_dump_can_hold_are_refused);
    tcase_add_test(tcase, failing_write_ends_it);
    tcase_add_test(tcase, what_is_no_dump_is_refused);
    tcase_set_timeout(tcase, 60);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
