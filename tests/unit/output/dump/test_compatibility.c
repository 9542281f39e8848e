/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "core/base/bytes.h"
#include "core/base/crc32c.h"
#include "output/dump/chunk.h"
#include "tests/support/suite.h"
#include "tests/unit/output/dump/made_dump.h"

/* A dump made by hand, as another writer, or a later version, would make it. */
struct hand {
    uint8_t data[1 << 16];
    struct yarn_byte_buffer bytes;
    uint8_t payload_data[1 << 15];
    struct yarn_byte_buffer payload;
    struct yarn_dump_file_header header;
    struct yarn_dump_chunk chunk;
    struct record_log log;
    struct yarn_dump_summary summary;
};

static struct hand hand;

static void set_up(void)
{
    hand.bytes = yarn_bytes_of(hand.data, sizeof hand.data);
    hand.payload = yarn_bytes_of(hand.payload_data, sizeof hand.payload_data);
    hand.header = (struct yarn_dump_file_header){.major = 1, .header_bytes = 32};
    hand.chunk = (struct yarn_dump_chunk){.header_bytes = 36, .time_ns = 1000};
    hand.log = (struct record_log){NULL, 0, 0};
}

static void tear_down(void)
{
    record_log_free(&hand.log);
}

static void add_record(uint64_t type, const void *payload, size_t size)
{
    yarn_bytes_uleb(&hand.payload, type);
    yarn_bytes_sized(&hand.payload, yarn_span_of(payload, size));
}

#define ADD(type, ...)                                                                             \
    add_record((type), (const uint8_t[]){__VA_ARGS__}, sizeof(const uint8_t[]){__VA_ARGS__})

static void add_file_header(void)
{
    uint8_t header[YARN_DUMP_FILE_HEADER_BYTES];
    yarn_dump_file_header_encode(&hand.header, header);
    yarn_bytes_put(&hand.bytes, header, sizeof header);
}

static void add_chunk(void)
{
    uint8_t header[YARN_DUMP_CHUNK_HEADER_BYTES];
    hand.chunk.raw_bytes = (uint32_t)hand.payload.size;
    hand.chunk.stored_bytes = (uint32_t)hand.payload.size;
    hand.chunk.payload_crc = yarn_crc32c(0, yarn_bytes_span(&hand.payload));
    yarn_dump_chunk_encode(&hand.chunk, header);
    yarn_bytes_put(&hand.bytes, header, sizeof header);
    yarn_bytes_put(&hand.bytes, hand.payload.data, hand.payload.size);
    yarn_bytes_reset(&hand.payload);
    hand.chunk.sequence++;
}

static int read_hand(void)
{
    return yarn_dump_read_bytes(yarn_bytes_span(&hand.bytes), &record_log_visitor, &hand.log,
                                &hand.summary);
}

static void read_whole(void)
{
    add_file_header();
    add_chunk();
    ck_assert_int_eq(read_hand(), 0);
    ck_assert_uint_eq(hand.summary.nr_damages, 0);
}

START_TEST(checksum_is_crc32c)
{
    ck_assert_uint_eq(yarn_crc32c(0, yarn_span_of_text("123456789")), 0xe3069283);
    uint32_t half = yarn_crc32c(0, yarn_span_of_text("1234"));
    ck_assert_uint_eq(yarn_crc32c(half, yarn_span_of_text("56789")), 0xe3069283);
}
END_TEST

START_TEST(unknown_records_are_passed_over)
{
    ADD(99, 1, 2, 3);
    ADD(8, 77, 20, 9);
    add_record(1000000, "", 0);
    read_whole();
    ck_assert_uint_eq(hand.summary.records_unknown, 2);
    ck_assert_uint_eq(hand.summary.records_bad, 0);
    ck_assert_str_eq(hand.log.text, "thread_end tid=77 time_ns=1010 cpu_ns=9\n");
}
END_TEST

START_TEST(fields_of_later_versions_are_passed_over)
{
    ADD(8, 77, 20, 9, 1, 2, 3, 0xff);
    read_whole();
    ck_assert_uint_eq(hand.summary.records_bad, 0);
    ck_assert_str_eq(hand.log.text, "thread_end tid=77 time_ns=1010 cpu_ns=9\n");
}
END_TEST

START_TEST(fields_that_were_not_there_yet_are_empty)
{
    ADD(8, 77);
    ADD(15, 20, 5);
    ADD(6, 77);
    read_whole();
    ck_assert_uint_eq(hand.summary.records_bad, 0);
    ck_assert_str_eq(hand.log.text, "thread_end tid=77 time_ns=0 cpu_ns=0\n"
                                    "lost time_ns=1010 count=5 event=4294967295 cpu=0\n"
                                    "thread tid=77 parent_tid=0 time_ns=0 comm=0''\n");
}
END_TEST

START_TEST(columns_of_later_versions_are_passed_over)
{
    ADD(10, 0, 1, 3, 'a', 'b', 'c', 0xff, 0xff);
    ADD(11, 0, 1, 0, 32, 8, 1, 0xff, 0xff);
    read_whole();
    ck_assert_uint_eq(hand.summary.records_bad, 0);
    ck_assert_str_eq(hand.log.text, "symbol number=0 module=4294967295 start=16 end=24 "
                                    "name=3'abc'\n");
}
END_TEST

START_TEST(unknown_totals_are_passed_over)
{
    ADD(18, 20, 0, 7, 100, 9, 1, 8);
    read_whole();
    ck_assert_uint_eq(hand.summary.records_bad, 0);
    ck_assert_uint_eq(record_log_count(&hand.log, "totals time_ns=1010 0=7 1=8 2=0 "), 1);
}
END_TEST

START_TEST(values_of_later_versions_become_known_ones)
{
    ADD(17, 20, 50, 3, 0);
    ADD(19, 20, 50, 3);
    read_whole();
    ck_assert_str_eq(hand.log.text, "message time_ns=1010 kind=2 tid=3 text=0''\n"
                                    "end time_ns=1010 reason=4 status=-2\n");
}
END_TEST

START_TEST(larger_headers_are_passed_over)
{
    uint8_t header[40] = {0};
    hand.header.header_bytes = 48;
    hand.header.minor = 7;
    hand.header.features_extra = 0xffff;
    add_file_header();
    yarn_bytes_put(&hand.bytes, header, 16);

    ADD(8, 77, 20, 9);
    hand.chunk.header_bytes = 40;
    hand.chunk.raw_bytes = (uint32_t)hand.payload.size;
    hand.chunk.stored_bytes = (uint32_t)hand.payload.size;
    hand.chunk.payload_crc = yarn_crc32c(0, yarn_bytes_span(&hand.payload));
    yarn_dump_chunk_encode(&hand.chunk, header);
    uint32_t crc = yarn_crc32c(0, yarn_span_of(header + 8, 32));
    memcpy(header + 4, &crc, sizeof crc);
    yarn_bytes_put(&hand.bytes, header, sizeof header);
    yarn_bytes_put(&hand.bytes, hand.payload.data, hand.payload.size);
    ck_assert_int_eq(read_hand(), 0);
    ck_assert_uint_eq(hand.summary.nr_damages, 0);
    ck_assert_uint_eq(hand.summary.version_minor, 7);
    ck_assert_str_eq(hand.log.text, "thread_end tid=77 time_ns=1010 cpu_ns=9\n");
}
END_TEST

START_TEST(later_major_version_is_refused)
{
    hand.header.major = 2;
    hand.header.minor = 3;
    add_file_header();
    add_chunk();
    ck_assert_int_eq(read_hand(), -ENOEXEC);
    ck_assert_uint_eq(hand.summary.version_major, 2);
    ck_assert_uint_eq(hand.summary.version_minor, 3);
}
END_TEST

START_TEST(needed_feature_is_refused)
{
    hand.header.features_needed = 2;
    add_file_header();
    add_chunk();
    ck_assert_int_eq(read_hand(), -ENOEXEC);
    ck_assert_uint_eq(hand.summary.version_major, 1);
    ck_assert_uint_eq(hand.summary.nr_damages, 1);
}
END_TEST

static const struct yarn_dump_file_header wild[] = {
    {.major = 0, .header_bytes = 32},
    {.major = 256, .header_bytes = 32},
    {.major = 0xbaba, .minor = 0x3039, .header_bytes = 32, .features_needed = 2},
    {.major = 1, .header_bytes = 0},
    {.major = 1, .header_bytes = 31},
    {.major = 1, .header_bytes = (64 << 10) + 1},
    {.major = 1, .header_bytes = 48},
    {.major = 1, .minor = 7, .header_bytes = 64 << 10}, /* the file is shorter */
    {.major = 2, .header_bytes = UINT32_MAX},
};

START_TEST(wild_header_is_damage_and_the_chunks_are_read)
{
    hand.header = wild[_i];
    add_file_header();
    ADD(8, 77, 20, 9);
    add_chunk();
    ck_assert_int_eq(read_hand(), 0);
    ck_assert_uint_eq(hand.summary.nr_damages, 1);
    ck_assert_str_eq(hand.summary.damages[0].why, "the file's header is damaged");
    ck_assert_str_eq(hand.log.text, "thread_end tid=77 time_ns=1010 cpu_ns=9\n");
}
END_TEST

static const struct {
    uint8_t type;
    uint8_t size;
    uint8_t payload[24];
} bad[] = {
    {8, 2, {0x80, 0x80}},                    /* a varint without an end */
    {8, 5, {0xff, 0xff, 0xff, 0xff, 0x7f}},  /* more than 32 bits */
    {4, 2, {0x80, 0x20}},                    /* event 4096 */
    {9, 3, {0x80, 0x80, 0x40}},              /* module 2^20 */
    {5, 2, {3, 20}},                         /* a count of an event never named */
    {7, 3, {5, 20, 9}},                      /* string 8, never defined */
    {10, 4, {0, 2, 5, 5}},                   /* two strings of five bytes, no bytes */
    {10, 6, {0x80, 0x80, 0x80, 0x02, 1, 0}}, /* string 2^22 */
    {10, 3, {0, 0xff, 0x7f}},                /* a column that is not there */
    {10, 5, {0, 0x80, 0x80, 0x80, 0x01}},    /* 2^21 strings */
    {10, 3, {0, 1, 0x80}},                   /* a number without an end */
    {12, 5, {0, 1, 9, 0, 0}},                /* a frame of no symbol */
    {13, 4, {0, 1, 0, 9}},                   /* a stack of no frame */
    {23, 0, {0}},                            /* nothing */
    {14, 0, {0}},                            /* nothing */
    {14, 2, {0, 0}},                         /* no samples of no streams */
    {14, 7, {0, 1, 0, 0, 0, 0, 0}},          /* a sample of no stream */
};

START_TEST(malformed_record_is_counted_and_the_next_is_read)
{
    add_record(bad[_i].type, bad[_i].payload, bad[_i].size);
    ADD(8, 77, 20, 9);
    read_whole();
    ck_assert_uint_ge(hand.summary.records_bad, 1);
    ck_assert_uint_eq(record_log_count(&hand.log, "thread_end tid=77 time_ns=1010 cpu_ns=9"), 1);
    ck_assert_uint_eq(record_log_count(&hand.log, "sample "), 0);
    ck_assert_uint_eq(record_log_count(&hand.log, "stack "), 0);
    ck_assert_uint_eq(record_log_count(&hand.log, "frame "), 0);
}
END_TEST

START_TEST(record_larger_than_its_chunk_is_damage)
{
    ADD(8, 77, 20, 9);
    yarn_bytes_uleb(&hand.payload, 8);
    yarn_bytes_uleb(&hand.payload, 100);
    yarn_bytes_uleb(&hand.payload, 1);
    add_file_header();
    add_chunk();
    ck_assert_int_eq(read_hand(), 0);
    ck_assert_uint_eq(hand.summary.nr_damages, 1);
    ck_assert_uint_eq(hand.summary.damages[0].offset, 32);
    ck_assert_uint_eq(record_log_count(&hand.log, "thread_end "), 1);
}
END_TEST

/* A stream of one sample, and so many samples. */
static void add_samples(uint8_t count)
{
    ADD(23, 0, 1, 0, 0, 1, 0, 0, 2);
    if (count == 1)
        ADD(14, 0, 1, 0, 0, 3, 0, 0);
    else
        ADD(14, 0, 2, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0);
}

START_TEST(samples_are_of_the_streams_before_them)
{
    add_samples(1);
    add_samples(2);
    ADD(14, 0, 1, 0, 0, 3, 0, 0); /* the stream has its sample already */
    read_whole();
    ck_assert_uint_eq(record_log_count(&hand.log, "sample time_ns=1000 weight=1 event=0 tid=0 "
                                                  "cpu=3 stack=4294967295 stack_end=0"),
                      1);
    ck_assert_uint_eq(record_log_count(&hand.log, "sample "), 1);
    ck_assert_uint_eq(hand.summary.records_bad, 3); /* and an event that is not there */
}
END_TEST

START_TEST(streams_end_with_their_chunk)
{
    ADD(23, 0, 1, 0, 0, 1, 0, 0, 2);
    add_file_header();
    add_chunk();
    ADD(14, 0, 1, 0, 0, 3, 0, 0);
    add_chunk();
    ck_assert_int_eq(read_hand(), 0);
    ck_assert_uint_eq(record_log_count(&hand.log, "sample "), 0);
    ck_assert_uint_eq(hand.summary.records_bad, 1);
}
END_TEST

START_TEST(lost_process_is_still_another_one)
{
    add_file_header();
    ADD(1, 7);
    add_chunk();
    hand.chunk.process = 1;
    hand.chunk.sequence++;
    ADD(8, 77, 20, 9);
    add_chunk();
    ck_assert_int_eq(read_hand(), 0);
    ck_assert_uint_eq(hand.summary.nr_damages, 1);
    ck_assert_uint_eq(record_log_count(&hand.log, "process pid=7 "), 1);
    ck_assert_uint_eq(record_log_count(&hand.log, "process pid=0 "), 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("dump compatibility");
    TCase *tcase = tcase_create("dumps made by hand");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, checksum_is_crc32c);
    tcase_add_test(tcase, unknown_records_are_passed_over);
    tcase_add_test(tcase, fields_of_later_versions_are_passed_over);
    tcase_add_test(tcase, fields_that_were_not_there_yet_are_empty);
    tcase_add_test(tcase, columns_of_later_versions_are_passed_over);
    tcase_add_test(tcase, unknown_totals_are_passed_over);
    tcase_add_test(tcase, values_of_later_versions_become_known_ones);
    tcase_add_test(tcase, larger_headers_are_passed_over);
    tcase_add_test(tcase, later_major_version_is_refused);
    tcase_add_test(tcase, needed_feature_is_refused);
    tcase_add_loop_test(tcase, wild_header_is_damage_and_the_chunks_are_read, 0,
                        (int)YARN_COUNT_OF(wild));
    tcase_add_loop_test(tcase, malformed_record_is_counted_and_the_next_is_read, 0,
                        (int)YARN_COUNT_OF(bad));
    tcase_add_test(tcase, record_larger_than_its_chunk_is_damage);
    tcase_add_test(tcase, samples_are_of_the_streams_before_them);
    tcase_add_test(tcase, streams_end_with_their_chunk);
    tcase_add_test(tcase, lost_process_is_still_another_one);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
