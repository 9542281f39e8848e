/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "output/dump/chunk.h"
#include "tests/support/suite.h"
#include "tests/unit/output/dump/made_dump.h"

static struct made_dump dump;
static struct record_log whole;
static size_t chunk_at[64]; /* and the end */
static size_t nr_chunks;

static void make_dump(void)
{
    struct yarn_dump_chunk chunk;
    struct yarn_dump_summary summary;
    made_dump_everything(&dump, NULL);
    ck_assert_int_eq(
        yarn_dump_read_bytes(made_dump_span(&dump), &record_log_visitor, &whole, &summary), 0);
    nr_chunks = 0;
    size_t at = YARN_DUMP_FILE_HEADER_BYTES;
    while (yarn_dump_chunk_decode(yarn_span_from(made_dump_span(&dump), at), &chunk)) {
        chunk_at[nr_chunks++] = at;
        at += (size_t)chunk.header_bytes + chunk.stored_bytes;
    }
    ck_assert_uint_eq(at, dump.size);
    ck_assert_uint_eq(nr_chunks, 3);
    chunk_at[nr_chunks] = at;
}

static void free_dump(void)
{
    record_log_free(&whole);
    made_dump_free(&dump);
}

/* A copy of exactly its size, so that a sanitizer sees a read beyond its end. */
static int read_copy(const uint8_t *bytes, size_t size, struct record_log *ret_log,
                     struct yarn_dump_summary *ret_summary)
{
    uint8_t *copy = malloc(size ? size : 1);
    ck_assert_ptr_nonnull(copy);
    if (size)
        memcpy(copy, bytes, size);
    int result =
        yarn_dump_read_bytes(yarn_span_of(copy, size), &record_log_visitor, ret_log, ret_summary);
    free(copy);
    return result;
}

/* Under ThreadSanitizer, which has nothing to find here and makes each reading many times as long,
 * only some of each; a prime number, so that each bit of a byte has its turn. */
#ifdef __SANITIZE_THREAD__
enum { STEP = 5 };
#else
enum { STEP = 1 };
#endif

START_TEST(every_flipped_bit_is_found)
{
    for (size_t bit = 0; bit < dump.size * 8; bit += STEP) {
        struct record_log log = {NULL, 0, 0};
        struct yarn_dump_summary summary;
        dump.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        int result = read_copy(dump.bytes, dump.size, &log, &summary);
        dump.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        ck_assert_int_eq(result, 0);
        ck_assert_msg(summary.nr_damages > 0 || summary.is_cut, "bit %zu", bit);
        ck_assert_uint_gt(summary.damaged_bytes + (summary.is_cut ? dump.size : 0), 0);
        /* All of what stands before the damage is there. */
        if (bit / 8 >= chunk_at[1])
            ck_assert_uint_eq(record_log_count(&log, "sample "), bit / 8 >= chunk_at[2] ? 60 : 120);
        record_log_free(&log);
    }
}
END_TEST

START_TEST(cut_anywhere_leaves_what_was_before)
{
    for (size_t size = 0; size < dump.size; size += STEP) {
        struct record_log log = {NULL, 0, 0};
        struct yarn_dump_summary summary;
        ck_assert_int_eq(read_copy(dump.bytes, size, &log, &summary), 0);
        ck_assert(!summary.has_end);
        ck_assert_uint_eq(summary.nr_damages, 0);
        size_t nr_whole = 0;
        while (nr_whole < nr_chunks && chunk_at[nr_whole + 1] <= size)
            nr_whole++;
        ck_assert_uint_eq(summary.chunks, nr_whole);
        bool is_between = size >= YARN_DUMP_FILE_HEADER_BYTES && size == chunk_at[nr_whole];
        ck_assert_msg(summary.is_cut == !is_between, "size %zu", size);
        if (summary.is_cut && size > YARN_DUMP_FILE_HEADER_BYTES)
            ck_assert_uint_eq(summary.cut_at, chunk_at[nr_whole]);
        ck_assert(log.size == 0 || strncmp(log.text, whole.text, log.size) == 0);
        record_log_free(&log);
    }
}
END_TEST

/* Without the chunk _i. */
START_TEST(lost_chunk_is_missed_and_nothing_else)
{
    struct record_log log = {NULL, 0, 0};
    struct yarn_dump_summary summary;
    uint8_t *bytes = malloc(dump.size);
    size_t from = chunk_at[_i];
    size_t to = chunk_at[_i + 1];
    memcpy(bytes, dump.bytes, from);
    memcpy(bytes + from, dump.bytes + to, dump.size - to);
    ck_assert_int_eq(read_copy(bytes, dump.size - (to - from), &log, &summary), 0);
    if (_i == 2) {
        ck_assert(!summary.has_end);
    } else {
        ck_assert_uint_eq(summary.nr_damages, 1);
        ck_assert_uint_eq(summary.damages[0].offset, from);
        ck_assert_str_eq(summary.damages[0].why, "chunks are missing before this one");
    }
    ck_assert_uint_eq(record_log_count(&log, "sample "), _i == 1 ? 120 : 60);
    if (_i == 0) {
        /* The stacks are lost with their chunk; the samples' times and weights are not. */
        ck_assert_uint_eq(record_log_count(&log, "stack "), 0);
        ck_assert_uint_eq(record_log_count(&log, "event number=0 name=0''"), 1);
        ck_assert_uint_gt(summary.records_bad, 0);
    }
    free(bytes);
    record_log_free(&log);
}
END_TEST

START_TEST(swapped_chunks_are_found)
{
    struct record_log log = {NULL, 0, 0};
    struct yarn_dump_summary summary;
    uint8_t *bytes = malloc(dump.size);
    size_t first = chunk_at[1] - chunk_at[0];
    size_t second = chunk_at[2] - chunk_at[1];
    memcpy(bytes, dump.bytes, dump.size);
    memcpy(bytes + chunk_at[0], dump.bytes + chunk_at[1], second);
    memcpy(bytes + chunk_at[0] + second, dump.bytes + chunk_at[0], first);
    ck_assert_int_eq(read_copy(bytes, dump.size, &log, &summary), 0);
    ck_assert_uint_ge(summary.nr_damages, 2);
    ck_assert(summary.has_end);
    free(bytes);
    record_log_free(&log);
}
END_TEST

START_TEST(doubled_chunk_is_read_once)
{
    struct record_log log = {NULL, 0, 0};
    struct yarn_dump_summary summary;
    size_t size = chunk_at[1] - chunk_at[0];
    uint8_t *bytes = malloc(dump.size + size);
    memcpy(bytes, dump.bytes, chunk_at[1]);
    memcpy(bytes + chunk_at[1], dump.bytes + chunk_at[0], dump.size - chunk_at[0]);
    ck_assert_int_eq(read_copy(bytes, dump.size + size, &log, &summary), 0);
    ck_assert_uint_eq(summary.nr_damages, 1);
    ck_assert_uint_eq(summary.damages[0].size, size);
    ck_assert_str_eq(log.text, whole.text);
    free(bytes);
    record_log_free(&log);
}
END_TEST

/* Bytes that do not belong there, or too few, at each place of the second chunk. */
START_TEST(bytes_more_or_less_cost_one_chunk)
{
    uint8_t *bytes = malloc(dump.size + 5);
    for (size_t at = chunk_at[1]; at < chunk_at[2]; at += STEP) {
        struct record_log log = {NULL, 0, 0};
        struct yarn_dump_summary summary;
        size_t skipped = _i ? 0 : 5;
        size_t added = _i ? 5 : 0;
        if (at + skipped > chunk_at[2])
            break;
        memcpy(bytes, dump.bytes, at);
        memset(bytes + at, 0xea, added);
        memcpy(bytes + at + added, dump.bytes + at + skipped, dump.size - at - skipped);
        ck_assert_int_eq(read_copy(bytes, dump.size + added - skipped, &log, &summary), 0);
        ck_assert_uint_ge(summary.nr_damages, 1);
        ck_assert(summary.has_end);
        ck_assert_uint_eq(record_log_count(&log, "sample "), 120);
        ck_assert_uint_eq(record_log_count(&log, "message "),
                          at <= chunk_at[1] + (added ? 1 : 0) && added ? 2 : 0);
        record_log_free(&log);
    }
    free(bytes);
}
END_TEST

START_TEST(random_corruptions_do_no_harm)
{
    uint8_t *bytes = malloc(dump.size);
    srand(20240601);
    for (int round = 0; round < 3000; round += STEP) {
        struct record_log log = {NULL, 0, 0};
        struct yarn_dump_summary summary;
        memcpy(bytes, dump.bytes, dump.size);
        for (int i = rand() % 8; i >= 0; i--)
            bytes[(size_t)rand() % dump.size] = (uint8_t)(rand() % 4 ? rand() : 0xff);
        size_t size = rand() % 3 ? dump.size : (size_t)rand() % dump.size;
        int result = read_copy(bytes, size, &log, &summary);
        ck_assert(result == 0 || result == -ENOEXEC);
        record_log_free(&log);
    }
    free(bytes);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("dump damage");
    TCase *tcase = tcase_create("a small dump");
    tcase_set_timeout(tcase, 120);
    tcase_add_checked_fixture(tcase, make_dump, free_dump);
    tcase_add_test(tcase, every_flipped_bit_is_found);
    tcase_add_test(tcase, cut_anywhere_leaves_what_was_before);
    tcase_add_loop_test(tcase, lost_chunk_is_missed_and_nothing_else, 0, 3);
    tcase_add_test(tcase, swapped_chunks_are_found);
    tcase_add_test(tcase, doubled_chunk_is_read_once);
    tcase_add_loop_test(tcase, bytes_more_or_less_cost_one_chunk, 0, 2);
    tcase_add_test(tcase, random_corruptions_do_no_harm);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
