/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "tests/support/suite.h"
#include "tests/unit/core/record/handmade.h"

enum { RING_BYTES = 64, RECORD_BYTES = 40 };

static struct handmade_ring ring;
static struct handmade_record record;

static void make_record(uint32_t type, size_t size, uint8_t seed)
{
    handmade_begin(&record, type, 0x4321);
    handmade_pattern(&record, size - sizeof(struct perf_event_header), seed);
    handmade_end(&record);
}

static void open_ring_at(uint64_t position)
{
    handmade_ring_open(&ring, RING_BYTES, position);
}

static void close_ring(void)
{
    handmade_ring_close(&ring);
}

static enum yarn_ring_next peek(void)
{
    struct perf_event_header header;
    struct yarn_wrapped bytes;
    return yarn_ring_peek(&ring.ring, &header, &bytes);
}

/* Begins, takes and commits what must be the one record that was put last. */
static void check_takes_the_record(void)
{
    struct perf_event_header header;
    struct yarn_wrapped bytes;
    uint8_t copy[HANDMADE_RECORD_BYTES];

    yarn_ring_begin(&ring.ring);
    ck_assert_int_eq(yarn_ring_peek(&ring.ring, &header, &bytes), YARN_RING_RECORD);
    struct perf_event_header want = handmade_header(&record);
    ck_assert_uint_eq(header.type, want.type);
    ck_assert_uint_eq(header.misc, want.misc);
    ck_assert_uint_eq(header.size, want.size);
    ck_assert_uint_eq(yarn_wrapped_size(&bytes), want.size);
    ck_assert(yarn_wrapped_read(&bytes, 0, copy, want.size));
    ck_assert_mem_eq(copy, record.data, want.size);
    yarn_ring_take(&ring.ring, &header);
    ck_assert_int_eq(peek(), YARN_RING_EMPTY);
    yarn_ring_commit(&ring.ring);
    ck_assert_uint_eq(ring.page.data_tail, ring.page.data_head);
}

START_TEST(ring_yields_a_record_split_at_any_offset)
{
    open_ring_at((uint64_t)_i);
    make_record(7, RECORD_BYTES, (uint8_t)_i);
    handmade_ring_put_record(&ring, &record);
    check_takes_the_record();
    close_ring();
}
END_TEST

START_TEST(ring_that_nobody_wrote_to_is_empty)
{
    open_ring_at((uint64_t)_i);
    yarn_ring_begin(&ring.ring);
    ck_assert_int_eq(peek(), YARN_RING_EMPTY);
    yarn_ring_commit(&ring.ring);
    ck_assert_uint_eq(ring.page.data_tail, (uint64_t)_i);
    close_ring();
}
END_TEST

static const uint64_t wrap_positions[] = {
    UINT64_C(0xffffffd8),         UINT64_C(0xfffffffc),         UINT64_C(0xffffffff),
    UINT64_C(0x7fffffffffffffe8), UINT64_C(0x7fffffffffffffff), UINT64_C(0xffffffffffffffc0),
    UINT64_C(0xfffffffffffffff8), UINT64_C(0xffffffffffffffff), UINT64_C(0xffffffffffffffd8),
};

/* Who writes goes on at the ring's beginning, also while the reader is between begin and commit. */
START_TEST(ring_that_may_skip_goes_on_where_its_writer_does)
{
    open_ring_at(8);
    ring.ring.may_skip = true;
    make_record(7, RECORD_BYTES, 1);
    handmade_ring_put_record(&ring, &record);
    check_takes_the_record();
    yarn_ring_begin(&ring.ring);
    ring.page.data_tail = RING_BYTES;
    yarn_ring_commit(&ring.ring);
    ck_assert_uint_eq(ring.page.data_tail, RING_BYTES);
    yarn_ring_begin(&ring.ring); /* before the head */
    ck_assert_int_eq(peek(), YARN_RING_EMPTY);
    ring.page.data_head = RING_BYTES;
    make_record(8, RECORD_BYTES, 2);
    handmade_ring_put_record(&ring, &record);
    check_takes_the_record();
    close_ring();
}
END_TEST

START_TEST(ring_passes_the_ends_of_32_and_64_bits)
{
    open_ring_at(wrap_positions[_i]);
    for (uint8_t round = 0; round < 8; round++) {
        make_record(round, 8 + (size_t)round * 8, round);
        handmade_ring_put_record(&ring, &record);
        check_takes_the_record();
    }
    close_ring();
}
END_TEST

START_TEST(ring_may_be_filled_to_the_last_byte)
{
    open_ring_at((uint64_t)_i * 8);
    make_record(9, RING_BYTES, 3);
    handmade_ring_put_record(&ring, &record);
    check_takes_the_record();
    close_ring();
}
END_TEST

START_TEST(ring_yields_records_in_the_order_of_writing)
{
    struct perf_event_header header;
    struct yarn_wrapped bytes;
    open_ring_at(48);
    for (uint32_t type = 1; type <= 4; type++) {
        make_record(type, 16, 0);
        handmade_ring_put_record(&ring, &record);
    }
    yarn_ring_begin(&ring.ring);
    for (uint32_t type = 1; type <= 4; type++) {
        ck_assert_int_eq(yarn_ring_peek(&ring.ring, &header, &bytes), YARN_RING_RECORD);
        ck_assert_uint_eq(header.type, type);
        yarn_ring_take(&ring.ring, &header);
    }
    ck_assert_int_eq(peek(), YARN_RING_EMPTY);
    close_ring();
}
END_TEST

START_TEST(ring_sees_what_was_written_after_begin_only_after_the_next_begin)
{
    open_ring_at(0);
    yarn_ring_begin(&ring.ring);
    make_record(1, RECORD_BYTES, 1);
    handmade_ring_put_record(&ring, &record);
    ck_assert_int_eq(peek(), YARN_RING_EMPTY);
    check_takes_the_record();
    close_ring();
}
END_TEST

START_TEST(ring_shows_the_kernel_nothing_before_the_commit)
{
    struct perf_event_header header;
    struct yarn_wrapped bytes;
    open_ring_at(56);
    make_record(1, RECORD_BYTES, 1);
    handmade_ring_put_record(&ring, &record);
    yarn_ring_begin(&ring.ring);
    ck_assert_int_eq(yarn_ring_peek(&ring.ring, &header, &bytes), YARN_RING_RECORD);
    ck_assert_uint_eq(ring.page.data_tail, 56);
    yarn_ring_take(&ring.ring, &header);
    ck_assert_uint_eq(ring.page.data_tail, 56);
    yarn_ring_commit(&ring.ring);
    ck_assert_uint_eq(ring.page.data_tail, 56 + RECORD_BYTES);
    close_ring();
}
END_TEST

START_TEST(ring_that_was_read_before_goes_on_at_its_tail)
{
    open_ring_at(24);
    make_record(1, 16, 1);
    handmade_ring_put_record(&ring, &record);
    check_takes_the_record();
    ring.ring = yarn_ring_of(&ring.page, ring.data, ring.size);
    make_record(2, 24, 2);
    handmade_ring_put_record(&ring, &record);
    check_takes_the_record();
    close_ring();
}
END_TEST

static const struct {
    const char *what;
    uint16_t size;  /* in the header */
    size_t pending; /* bytes that are written */
} broken_rows[] = {
    {"a size of zero", 0, 16},
    {"a size below the header's", 7, 16},
    {"a size of one", 1, 64},
    {"a size beyond what is pending", 17, 16},
    {"a size far beyond the ring", 65535, 64},
    {"less than a header pending", 8, 1},
    {"a header less a byte pending", 7, 7},
    {"more pending than the ring holds", 16, 65},
    {"twice the ring pending", 16, 128},
};

START_TEST(ring_gives_up_what_is_pending_behind_a_broken_header)
{
    size_t row = (size_t)_i / RING_BYTES;
    size_t position = (size_t)_i % RING_BYTES;
    uint8_t bytes[128] = {0};
    open_ring_at(position);
    memcpy(bytes + offsetof(struct perf_event_header, size), &broken_rows[row].size, 2);
    handmade_ring_put(&ring, bytes, yarn_size_min(broken_rows[row].pending, RING_BYTES));
    ring.page.data_head = position + broken_rows[row].pending;

    yarn_ring_begin(&ring.ring);
    ck_assert_msg(peek() == YARN_RING_BROKEN, "%s at %zu", broken_rows[row].what, position);
    ck_assert_uint_eq(ring.ring.tail, ring.page.data_head);
    ck_assert_int_eq(peek(), YARN_RING_EMPTY);
    yarn_ring_commit(&ring.ring);

    make_record(5, RECORD_BYTES, 8);
    handmade_ring_put_record(&ring, &record);
    check_takes_the_record();
    close_ring();
}
END_TEST

START_TEST(ring_whose_head_lies_behind_its_tail_is_broken)
{
    open_ring_at(128);
    ring.page.data_head = 120;
    yarn_ring_begin(&ring.ring);
    ck_assert_int_eq(peek(), YARN_RING_BROKEN);
    ck_assert_int_eq(peek(), YARN_RING_EMPTY);
    close_ring();
}
END_TEST

START_TEST(ring_without_room_is_broken_as_soon_as_something_is_pending)
{
    handmade_ring_open(&ring, 0, 0);
    yarn_ring_begin(&ring.ring);
    ck_assert_int_eq(peek(), YARN_RING_EMPTY);
    ring.page.data_head = 8;
    yarn_ring_begin(&ring.ring);
    ck_assert_int_eq(peek(), YARN_RING_BROKEN);
    close_ring();
}
END_TEST

enum { WRAPPED_BYTES = 12 };
static const char wrapped_text[] = "abcdefghijkl";

static struct yarn_wrapped wrapped_of(size_t split)
{
    return (struct yarn_wrapped){
        .first = yarn_span_of(wrapped_text, split),
        .second = yarn_span_of(wrapped_text + split, WRAPPED_BYTES - split),
    };
}

START_TEST(wrapped_reads_any_part_across_any_split)
{
    struct yarn_wrapped bytes = wrapped_of((size_t)_i);
    for (size_t at = 0; at <= WRAPPED_BYTES; at++)
        for (size_t size = 0; size <= WRAPPED_BYTES - at; size++) {
            char copy[WRAPPED_BYTES + 1] = "............";
            ck_assert(yarn_wrapped_read(&bytes, at, copy, size));
            ck_assert_mem_eq(copy, wrapped_text + at, size);
            ck_assert_int_eq(copy[size], size == WRAPPED_BYTES ? 0 : '.');
        }
}
END_TEST

START_TEST(wrapped_refuses_any_part_that_is_not_inside)
{
    static const struct {
        size_t at, size;
    } rows[] = {
        {0, 13}, {12, 1}, {1, 12}, {13, 0}, {13, 1}, {SIZE_MAX, 0}, {SIZE_MAX, 2}, {2, SIZE_MAX},
    };
    struct yarn_wrapped bytes = wrapped_of((size_t)_i);
    for (size_t i = 0; i < YARN_COUNT_OF(rows); i++) {
        char copy[16] = "untouched";
        struct yarn_wrapped part = yarn_wrapped_sub(&bytes, rows[i].at, rows[i].size);
        ck_assert_uint_eq(yarn_wrapped_size(&part), 0);
        ck_assert_msg(!yarn_wrapped_read(&bytes, rows[i].at, copy, rows[i].size), "row %zu", i);
        ck_assert_str_eq(copy, "untouched");
    }
}
END_TEST

START_TEST(wrapped_part_of_a_part_is_a_part)
{
    struct yarn_wrapped bytes = wrapped_of((size_t)_i);
    for (size_t at = 0; at <= WRAPPED_BYTES - 4; at++) {
        char copy[2];
        struct yarn_wrapped four = yarn_wrapped_sub(&bytes, at, 4);
        struct yarn_wrapped two = yarn_wrapped_sub(&four, 1, 2);
        ck_assert_uint_eq(yarn_wrapped_size(&two), 2);
        ck_assert(yarn_wrapped_read(&two, 0, copy, sizeof copy));
        ck_assert_mem_eq(copy, wrapped_text + at + 1, sizeof copy);
        ck_assert(!yarn_wrapped_read(&two, 1, copy, sizeof copy));
    }
}
END_TEST

static void add_ring_cases(Suite *suite)
{
    TCase *whole = tcase_create("records that are whole");
    tcase_add_loop_test(whole, ring_yields_a_record_split_at_any_offset, 0, RING_BYTES);
    tcase_add_loop_test(whole, ring_that_nobody_wrote_to_is_empty, 0, 9);
    tcase_add_loop_test(whole, ring_passes_the_ends_of_32_and_64_bits, 0,
                        YARN_COUNT_OF(wrap_positions));
    tcase_add_loop_test(whole, ring_may_be_filled_to_the_last_byte, 0, RING_BYTES / 8);
    tcase_add_test(whole, ring_yields_records_in_the_order_of_writing);
    suite_add_tcase(suite, whole);

    TCase *protocol = tcase_create("head and tail between kernel and reader");
    tcase_add_test(protocol, ring_sees_what_was_written_after_begin_only_after_the_next_begin);
    tcase_add_test(protocol, ring_shows_the_kernel_nothing_before_the_commit);
    tcase_add_test(protocol, ring_that_was_read_before_goes_on_at_its_tail);
    tcase_add_test(protocol, ring_that_may_skip_goes_on_where_its_writer_does);
    suite_add_tcase(suite, protocol);

    TCase *broken = tcase_create("rings that are invalid");
    tcase_add_loop_test(broken, ring_gives_up_what_is_pending_behind_a_broken_header, 0,
                        RING_BYTES * YARN_COUNT_OF(broken_rows));
    tcase_add_test(broken, ring_whose_head_lies_behind_its_tail_is_broken);
    tcase_add_test(broken, ring_without_room_is_broken_as_soon_as_something_is_pending);
    suite_add_tcase(suite, broken);
}

int main(void)
{
    Suite *suite = suite_create("ring");
    add_ring_cases(suite);

    TCase *wrapped = tcase_create("bytes in two pieces");
    tcase_add_loop_test(wrapped, wrapped_reads_any_part_across_any_split, 0, WRAPPED_BYTES + 1);
    tcase_add_loop_test(wrapped, wrapped_refuses_any_part_that_is_not_inside, 0, WRAPPED_BYTES + 1);
    tcase_add_loop_test(wrapped, wrapped_part_of_a_part_is_a_part, 0, WRAPPED_BYTES + 1);
    suite_add_tcase(suite, wrapped);
    return run_suite(suite);
}
