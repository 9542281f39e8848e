/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "core/record/merge.h"
#include "tests/support/suite.h"
#include "tests/unit/core/record/handmade.h"

enum { RINGS_MAX = 5, RING_BYTES = 16384, SWITCH_BYTES = 40, RECEIVED_MAX = 1024 };

static struct handmade_ring rings[RINGS_MAX];
static struct yarn_merge_source sources[RINGS_MAX];
static struct yarn_merge merge;
static struct handmade_record made;

/* What the listener received, in order. */
static struct received {
    bool is_malformed;
    uint32_t kernel_type; /* of the malformed */
    size_t size;          /* of the malformed */
    uint64_t time_ns;
    uint32_t ring;
    uint64_t nr; /* within its ring */
} received[RECEIVED_MAX];
static size_t nr_received;
static uint64_t put_count[RINGS_MAX];
static uint64_t expected_tail[RINGS_MAX]; /* where the kernel must still believe the reader to be */

static void receive_record(void *self, const struct yarn_typed_record *record)
{
    ck_assert_ptr_eq(self, received);
    ck_assert_uint_lt(nr_received, RECEIVED_MAX);
    received[nr_received++] = (struct received){
        .time_ns = record->perf.time,
        .ring = record->perf.cpu,
        .nr = record->perf.id,
    };
    ck_assert_uint_eq(rings[record->perf.cpu].page.data_tail, expected_tail[record->perf.cpu]);
    expected_tail[record->perf.cpu] += SWITCH_BYTES;
}

static void receive_malformed(void *self, uint32_t kernel_type, size_t size)
{
    ck_assert_ptr_eq(self, received);
    ck_assert_uint_lt(nr_received, RECEIVED_MAX);
    received[nr_received++] =
        (struct received){.is_malformed = true, .kernel_type = kernel_type, .size = size};
}

static const struct yarn_record_listener listener = {received, receive_record, receive_malformed};

static void open_rings(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        expected_tail[i] = UINT64_MAX - 1000 * i; /* some wrap soon, some later */
        handmade_ring_open(&rings[i], RING_BYTES, expected_tail[i]);
        sources[i] = (struct yarn_merge_source){.ring = &rings[i].ring};
        put_count[i] = 0;
    }
    merge = (struct yarn_merge){.sources = sources, .count = count};
    nr_received = 0;
}

static void close_rings(void)
{
    for (size_t i = 0; i < merge.count; i++)
        handmade_ring_close(&rings[i]);
}

static void put_at(uint32_t ring, uint64_t time_ns)
{
    struct handmade_identity identity = {
        .time_ns = time_ns,
        .cpu = ring,
        .id = put_count[ring]++,
    };
    handmade_begin(&made, PERF_RECORD_SWITCH, 0);
    handmade_trailer(&made, &identity);
    handmade_end(&made);
    handmade_ring_put_record(&rings[ring], &made);
}

static void check_received(size_t at, uint32_t ring, uint64_t nr, uint64_t time_ns)
{
    ck_assert_uint_lt(at, nr_received);
    ck_assert(!received[at].is_malformed);
    ck_assert_uint_eq(received[at].ring, ring);
    ck_assert_uint_eq(received[at].nr, nr);
    ck_assert_uint_eq(received[at].time_ns, time_ns);
}

static void check_malformed(size_t at, uint32_t kernel_type, size_t size)
{
    ck_assert_uint_lt(at, nr_received);
    ck_assert(received[at].is_malformed);
    ck_assert_uint_eq(received[at].kernel_type, kernel_type);
    ck_assert_uint_eq(received[at].size, size);
}

static void check_rings_are_given_back(void)
{
    for (size_t i = 0; i < merge.count; i++)
        ck_assert_uint_eq(rings[i].page.data_tail, rings[i].page.data_head);
}

START_TEST(merge_of_nothing_reports_nothing)
{
    bool has_news = true;
    open_rings((size_t)_i);
    ck_assert_uint_eq(yarn_merge_pass(&merge, UINT64_MAX, &listener, &has_news), 0);
    ck_assert(!has_news);
    ck_assert_uint_eq(nr_received, 0);
    close_rings();
}
END_TEST

static uint64_t next_random(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    return yarn_hash_u64(*state);
}

/* Rings in order by themselves with many equal times, in several passes of growing `until_ns`. */
static void merge_at_random(uint64_t *state)
{
    uint64_t last_ns[RINGS_MAX] = {0};
    size_t nr_put = 0;
    bool has_news = false;
    for (uint64_t until_ns = 10; until_ns <= 60; until_ns += 10) {
        for (size_t puts = next_random(state) % 60; puts; puts--) {
            uint32_t ring = (uint32_t)(next_random(state) % merge.count);
            last_ns[ring] = yarn_u64_max(last_ns[ring] + next_random(state) % 3, until_ns - 10 + 1);
            put_at(ring, last_ns[ring]);
            nr_put++;
        }
        size_t before = nr_received;
        size_t count = yarn_merge_pass(&merge, until_ns, &listener, &has_news);
        ck_assert_uint_eq(count, nr_received - before);
        ck_assert(has_news == (nr_received != nr_put));
        for (size_t i = before; i < nr_received; i++)
            ck_assert_uint_le(received[i].time_ns, until_ns);
    }
    yarn_merge_pass(&merge, UINT64_MAX, &listener, &has_news);
    ck_assert(!has_news);
    ck_assert_uint_eq(nr_received, nr_put);
}

START_TEST(merge_delivers_records_of_many_rings_in_order_of_time)
{
    uint64_t state = (uint64_t)_i;
    uint64_t nr[RINGS_MAX] = {0};
    open_rings(1 + (size_t)_i % RINGS_MAX);
    merge_at_random(&state);
    for (size_t i = 0; i < nr_received; i++) {
        ck_assert(!received[i].is_malformed);
        ck_assert_uint_eq(received[i].nr, nr[received[i].ring]++);
        if (i)
            ck_assert_uint_ge(received[i].time_ns, received[i - 1].time_ns);
    }
    check_rings_are_given_back();
    close_rings();
}
END_TEST

/* It is known at once, not with the record by which the kernel reports it later. */
START_TEST(merge_says_that_a_ring_had_no_room)
{
    bool has_news;
    open_rings(2);
    const size_t fits = (RING_BYTES - YARN_RING_ROOM_LEAST) / SWITCH_BYTES;
    for (size_t i = 0; i < fits; i++)
        put_at(1, i);
    yarn_merge_pass(&merge, UINT64_MAX, &listener, &has_news);
    ck_assert(!merge.was_full);
    for (size_t i = 0; i <= fits; i++)
        put_at(1, fits + i);
    yarn_merge_pass(&merge, UINT64_MAX, &listener, &has_news);
    ck_assert(merge.was_full);
    close_rings();
}
END_TEST

START_TEST(merge_delivers_equal_times_in_the_order_of_the_rings)
{
    bool has_news;
    open_rings(RINGS_MAX);
    for (uint32_t ring = RINGS_MAX; ring-- > 0;)
        for (int i = 0; i < 2; i++)
            put_at(ring, 7);
    ck_assert_uint_eq(yarn_merge_pass(&merge, 7, &listener, &has_news), 2 * RINGS_MAX);
    for (uint32_t ring = 0; ring < RINGS_MAX; ring++)
        for (size_t i = 0; i < 2; i++)
            check_received(2 * ring + i, ring, i, 7);
    close_rings();
}
END_TEST

START_TEST(merge_leaves_what_is_younger_in_its_ring_for_the_next_pass)
{
    bool has_news = false;
    open_rings(2);
    put_at(0, 10);
    put_at(0, 11);
    put_at(1, 12);
    ck_assert_uint_eq(yarn_merge_pass(&merge, 9, &listener, &has_news), 0);
    ck_assert(has_news);
    ck_assert_uint_eq(yarn_merge_pass(&merge, 10, &listener, &has_news), 1);
    ck_assert(has_news);
    ck_assert_uint_eq(rings[0].page.data_tail, expected_tail[0]);
    ck_assert_uint_eq(yarn_merge_pass(&merge, 10, &listener, &has_news), 0);
    ck_assert(has_news);
    put_at(1, 12);
    ck_assert_uint_eq(yarn_merge_pass(&merge, 12, &listener, &has_news), 3);
    ck_assert(!has_news);
    check_received(0, 0, 0, 10);
    check_received(1, 0, 1, 11);
    check_received(2, 1, 0, 12);
    check_received(3, 1, 1, 12);
    check_rings_are_given_back();
    close_rings();
}
END_TEST

static void put_sample(uint32_t ring, uint64_t time_ns)
{
    struct handmade_identity identity = {.time_ns = time_ns, .cpu = ring};
    handmade_begin(&made, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
    handmade_sample(&made, &identity, 0x1000, 1);
    handmade_end(&made);
    handmade_ring_put_record(&rings[ring], &made);
}

START_TEST(merge_calls_news_what_is_left_and_no_sample)
{
    bool has_news = true;
    open_rings(2);
    put_sample(0, 10);
    put_sample(1, 11);
    put_sample(1, 12);
    ck_assert_uint_eq(yarn_merge_pass(&merge, 9, &listener, &has_news), 0);
    ck_assert(!has_news);
    put_at(1, 13);
    ck_assert_uint_eq(yarn_merge_pass(&merge, 9, &listener, &has_news), 0);
    ck_assert(has_news);
    close_rings();
}
END_TEST

START_TEST(merge_takes_in_what_came_between_two_passes_before_what_was_left)
{
    bool has_news;
    open_rings(2);
    put_at(0, 100);
    ck_assert_uint_eq(yarn_merge_pass(&merge, 50, &listener, &has_news), 0);
    put_at(1, 60);
    ck_assert_uint_eq(yarn_merge_pass(&merge, 100, &listener, &has_news), 2);
    check_received(0, 1, 0, 60);
    check_received(1, 0, 0, 100);
    close_rings();
}
END_TEST

START_TEST(merge_knows_the_last_time_there_is)
{
    bool has_news;
    open_rings(1);
    put_at(0, UINT64_MAX);
    ck_assert_uint_eq(yarn_merge_pass(&merge, UINT64_MAX - 1, &listener, &has_news), 0);
    ck_assert(has_news);
    ck_assert_uint_eq(yarn_merge_pass(&merge, UINT64_MAX, &listener, &has_news), 1);
    ck_assert(!has_news);
    close_rings();
}
END_TEST

START_TEST(merge_passes_an_inversion_within_a_ring_as_it_is)
{
    bool has_news;
    open_rings(2);
    put_at(0, 20);
    put_at(0, 15);
    put_at(1, 17);
    put_at(1, 21);
    ck_assert_uint_eq(yarn_merge_pass(&merge, 21, &listener, &has_news), 4);
    check_received(0, 1, 0, 17);
    check_received(1, 0, 0, 20);
    check_received(2, 0, 1, 15);
    check_received(3, 1, 1, 21);
    close_rings();
}
END_TEST

START_TEST(merge_reports_a_malformed_record_and_goes_on_behind_it)
{
    bool has_news;
    open_rings(2);
    put_at(0, 10);
    handmade_begin(&made, PERF_RECORD_LOST, 0);
    handmade_pattern(&made, 8, 0);
    handmade_end(&made);
    handmade_ring_put_record(&rings[0], &made);
    put_at(1, 11);
    ck_assert_uint_eq(yarn_merge_pass(&merge, 11, &listener, &has_news), 3);
    ck_assert_uint_eq(nr_received, 3);
    ck_assert_uint_eq(received[0].time_ns, 10);
    check_malformed(1, PERF_RECORD_LOST, 16);
    check_received(2, 1, 0, 11);
    check_rings_are_given_back();
    close_rings();
}
END_TEST

START_TEST(merge_gives_up_a_broken_ring_and_keeps_the_others)
{
    static const uint8_t zeros[72];
    bool has_news = true;
    open_rings(3);
    put_at(0, 5);
    put_at(1, 10);
    handmade_ring_put(&rings[1], zeros, sizeof zeros);
    put_at(2, 20);
    ck_assert_uint_eq(yarn_merge_pass(&merge, 30, &listener, &has_news), 3);
    ck_assert(!has_news);
    ck_assert_uint_eq(nr_received, 4);
    check_received(0, 0, 0, 5);
    check_received(1, 1, 0, 10);
    check_malformed(2, 0, sizeof zeros);
    check_received(3, 2, 0, 20);
    check_rings_are_given_back();

    expected_tail[1] += sizeof zeros;
    put_at(1, 40);
    ck_assert_uint_eq(yarn_merge_pass(&merge, 50, &listener, &has_news), 1);
    check_received(4, 1, 1, 40);
    check_rings_are_given_back();
    close_rings();
}
END_TEST

START_TEST(merge_reports_a_ring_that_was_overrun)
{
    bool has_news;
    open_rings(1);
    rings[0].page.data_head += RING_BYTES + 8;
    ck_assert_uint_eq(yarn_merge_pass(&merge, UINT64_MAX, &listener, &has_news), 0);
    ck_assert_uint_eq(nr_received, 1);
    check_malformed(0, 0, RING_BYTES + 8);
    check_rings_are_given_back();
    close_rings();
}
END_TEST

static void add_order_tests(TCase *order)
{
    tcase_add_loop_test(order, merge_of_nothing_reports_nothing, 0, RINGS_MAX + 1);
    tcase_add_loop_test(order, merge_delivers_records_of_many_rings_in_order_of_time, 0, 200);
    tcase_add_test(order, merge_delivers_equal_times_in_the_order_of_the_rings);
    tcase_add_test(order, merge_says_that_a_ring_had_no_room);
    tcase_add_test(order, merge_leaves_what_is_younger_in_its_ring_for_the_next_pass);
    tcase_add_test(order, merge_calls_news_what_is_left_and_no_sample);
    tcase_add_test(order, merge_takes_in_what_came_between_two_passes_before_what_was_left);
    tcase_add_test(order, merge_knows_the_last_time_there_is);
    tcase_add_test(order, merge_passes_an_inversion_within_a_ring_as_it_is);
}

int main(void)
{
    Suite *suite = suite_create("merge");

    TCase *order = tcase_create("rings that are in order");
    add_order_tests(order);
    suite_add_tcase(suite, order);

    TCase *broken = tcase_create("rings with nonsense in them");
    tcase_add_test(broken, merge_reports_a_malformed_record_and_goes_on_behind_it);
    tcase_add_test(broken, merge_gives_up_a_broken_ring_and_keeps_the_others);
    tcase_add_test(broken, merge_reports_a_ring_that_was_overrun);
    suite_add_tcase(suite, broken);
    return run_suite(suite);
}
