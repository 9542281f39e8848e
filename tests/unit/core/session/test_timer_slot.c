/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <pthread.h>

#include "core/record/ring.h"
#include "core/session/timer_sample.h"
#include "core/sys/clock.h"
#include "tests/support/suite.h"

enum { DATA_BYTES = 4096, WORD = 8, RECORD_WORDS = 7, STOPS = 300 };
#define STRESS_NS (2 * YARN_NS_PER_SECOND)

static struct yarn_timer_slot slot;

static void set_up(void)
{
    ck_assert_int_eq(yarn_timer_slot_set_up(&slot, 1, NULL, DATA_BYTES), 0);
}

static void tear_down(void)
{
    yarn_timer_slot_tear_down(&slot);
}

START_TEST(new_slot_takes_no_writes)
{
    ck_assert(!yarn_timer_slot_has(&slot, YARN_TIMER_SLOT_ON));
    ck_assert(!yarn_timer_slot_has(&slot, YARN_TIMER_SLOT_WRITING));
    ck_assert(!yarn_timer_slot_has(&slot, YARN_TIMER_SLOT_TIMED));
    ck_assert_uint_eq(yarn_timer_slot_available_bytes(&slot), DATA_BYTES);
}
END_TEST

START_TEST(bits_do_not_touch_each_other)
{
    yarn_timer_slot_set(&slot, YARN_TIMER_SLOT_ON);
    yarn_timer_slot_set(&slot, YARN_TIMER_SLOT_WRITING);
    yarn_timer_slot_reset(&slot, YARN_TIMER_SLOT_ON);
    ck_assert(!yarn_timer_slot_has(&slot, YARN_TIMER_SLOT_ON));
    ck_assert(yarn_timer_slot_has(&slot, YARN_TIMER_SLOT_WRITING));
    yarn_timer_slot_reset(&slot, YARN_TIMER_SLOT_WRITING);
    ck_assert(!yarn_timer_slot_has(&slot, YARN_TIMER_SLOT_WRITING));
    yarn_timer_slot_set(&slot, YARN_TIMER_SLOT_ON);
    ck_assert(yarn_timer_slot_has(&slot, YARN_TIMER_SLOT_ON));
}
END_TEST

START_TEST(wait_ends_in_time_where_a_write_does_not)
{
    yarn_timer_slot_set(&slot, YARN_TIMER_SLOT_WRITING);
    ck_assert(!yarn_timer_slot_wait_for_writes(&slot, 5 * YARN_NS_PER_MS));
    yarn_timer_slot_reset(&slot, YARN_TIMER_SLOT_WRITING);
    ck_assert(yarn_timer_slot_wait_for_writes(&slot, 0));
}
END_TEST

START_TEST(torn_down_slot_is_free_and_stays_so)
{
    yarn_timer_slot_tear_down(&slot);
    ck_assert_int_eq(slot.tid, 0);
    ck_assert_ptr_null(slot.page);
    yarn_timer_slot_tear_down(&slot);
}
END_TEST

START_TEST(timer_of_a_thread_that_is_gone_is_refused)
{
    yarn_timer_slot_tear_down(&slot);
    ck_assert_int_eq(yarn_timer_slot_set_up(&slot, 0x3ffffe, NULL, DATA_BYTES), 0);
    struct yarn_timer_rate rate = {.first_ns = YARN_NS_PER_SECOND};
    ck_assert_int_eq(yarn_timer_slot_set_timer(&slot, &rate), -EINVAL);
    ck_assert(!yarn_timer_slot_has(&slot, YARN_TIMER_SLOT_TIMED));
    yarn_timer_slot_cancel_timer(&slot);
}
END_TEST

static bool put_record(uint64_t seed)
{
    struct yarn_timer_room room;
    struct perf_event_header header = {.type = 9, .size = RECORD_WORDS * WORD};
    uint64_t word;
    if (!yarn_timer_slot_reserve(&slot, RECORD_WORDS * WORD, &room))
        return false;
    memcpy(&word, &header, sizeof word);
    yarn_timer_room_put(&room, word);
    for (uint64_t i = 1; i < RECORD_WORDS; i++)
        yarn_timer_room_put(&room, seed * i);
    yarn_timer_room_commit(&room);
    return true;
}

/* The number of whole records that could be read; -1 where one is not what was put. */
static int take_records(struct yarn_ring *ring)
{
    int count = 0;
    struct perf_event_header header;
    struct yarn_wrapped record;
    yarn_ring_begin(ring);
    for (;; count++) {
        uint64_t words[RECORD_WORDS];
        enum yarn_ring_next next = yarn_ring_peek(ring, &header, &record);
        if (next == YARN_RING_EMPTY)
            return count;
        if (next != YARN_RING_RECORD || !yarn_wrapped_read(&record, 0, words, sizeof words))
            return -1;
        for (uint64_t i = 1; i < RECORD_WORDS; i++)
            if (words[i] != words[1] * i)
                return -1;
        yarn_ring_take(ring, &header);
        yarn_ring_commit(ring);
    }
}

START_TEST(records_go_round_the_ring_until_it_is_full)
{
    struct yarn_ring ring = yarn_ring_of(slot.page, slot.data, slot.data_bytes);
    for (uint64_t round = 0; round < 50; round++) {
        int put = 0;
        while (put_record(round * 100 + 1))
            put++;
        ck_assert_int_eq(put, DATA_BYTES / (RECORD_WORDS * WORD));
        ck_assert_int_eq(take_records(&ring), put);
    }
    ck_assert_uint_eq(yarn_timer_slot_available_bytes(&slot), DATA_BYTES);
}
END_TEST

START_TEST(a_place_says_how_much_is_left_before_the_end)
{
    struct yarn_ring ring = yarn_ring_of(slot.page, slot.data, slot.data_bytes);
    while (put_record(1))
        ;
    ck_assert_int_gt(take_records(&ring), 0);
    struct yarn_timer_room room;
    ck_assert(yarn_timer_slot_reserve(&slot, 256, &room));
    size_t left;
    const uint8_t *place = yarn_timer_room_place(&room, &left);
    ck_assert_uint_eq(left, DATA_BYTES % (RECORD_WORDS * WORD));
    ck_assert_ptr_eq(place, slot.data + DATA_BYTES - left);
}
END_TEST

static _Atomic bool is_over;
static _Atomic uint64_t nr_put;

/* What the handler does, without a signal: any number of times, at any moment. */
static void *write_on(void *unused)
{
    (void)unused;
    for (uint64_t seed = 1; !atomic_load(&is_over); seed++) {
        if (!yarn_timer_slot_has(&slot, YARN_TIMER_SLOT_ON))
            continue;
        yarn_timer_slot_set(&slot, YARN_TIMER_SLOT_WRITING);
        if (yarn_timer_slot_has(&slot, YARN_TIMER_SLOT_ON) && put_record(seed))
            atomic_fetch_add(&nr_put, 1);
        yarn_timer_slot_reset(&slot, YARN_TIMER_SLOT_WRITING);
    }
    return NULL;
}

START_TEST(no_stop_takes_the_buffer_from_under_a_writer_or_loses_a_record)
{
    pthread_t writer;
    uint64_t nr_taken = 0;
    uint64_t end_ns = yarn_clock_ns(YARN_TIME_MONOTONIC) + STRESS_NS;
    atomic_store(&is_over, false);
    atomic_store(&nr_put, 0);
    ck_assert_int_eq(pthread_create(&writer, NULL, write_on, NULL), 0);
    int stops = 0;
    for (; stops < STOPS || yarn_clock_ns(YARN_TIME_MONOTONIC) < end_ns; stops++) {
        struct yarn_ring ring = yarn_ring_of(slot.page, slot.data, slot.data_bytes);
        yarn_timer_slot_set(&slot, YARN_TIMER_SLOT_ON);
        for (int i = 0; i < 20; i++) {
            int taken = take_records(&ring);
            ck_assert_int_ge(taken, 0);
            nr_taken += (uint64_t)taken;
        }
        yarn_timer_slot_reset(&slot, YARN_TIMER_SLOT_ON);
        yarn_timer_slot_cancel_timer(&slot);
        ck_assert(yarn_timer_slot_wait_for_writes(&slot, 10 * YARN_NS_PER_SECOND));
        int taken = take_records(&ring);
        ck_assert_int_ge(taken, 0);
        nr_taken += (uint64_t)taken;
        yarn_timer_slot_tear_down(&slot);
        set_up();
    }
    atomic_store(&is_over, true);
    pthread_join(writer, NULL);
    ck_assert_uint_gt(nr_taken, 0);
    ck_assert_uint_eq(nr_taken, atomic_load(&nr_put));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("timer slot");
    TCase *one = tcase_create("one slot");
    tcase_add_checked_fixture(one, set_up, tear_down);
    tcase_add_test(one, new_slot_takes_no_writes);
    tcase_add_test(one, bits_do_not_touch_each_other);
    tcase_add_test(one, wait_ends_in_time_where_a_write_does_not);
    tcase_add_test(one, torn_down_slot_is_free_and_stays_so);
    tcase_add_test(one, timer_of_a_thread_that_is_gone_is_refused);
    tcase_add_test(one, records_go_round_the_ring_until_it_is_full);
    tcase_add_test(one, a_place_says_how_much_is_left_before_the_end);
    suite_add_tcase(suite, one);
    TCase *two = tcase_create("a writer and a reader that stops again and again");
    tcase_add_checked_fixture(two, set_up, tear_down);
    tcase_set_timeout(two, 60);
    tcase_add_test(two, no_stop_takes_the_buffer_from_under_a_writer_or_loses_a_record);
    suite_add_tcase(suite, two);
    return run_suite(suite);
}
