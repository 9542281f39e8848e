/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "core/session/group_reads.h"
#include "tests/support/suite.h"

enum { LEADER = 70, OTHER_CORE = 71, MEMBER = 80, TIDS = 3000 };

static struct yarn_group_reads reads;
static struct yarn_table numbers;
static const struct perf_event_attr layout = {
    .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID,
};
static uint64_t weights[2], addresses[2];
static unsigned nr_told, nr_malformed;

static void open_reads(void)
{
    ck_assert_int_eq(yarn_group_reads_open(&reads), 0);
    ck_assert_int_eq(yarn_table_open(&numbers, 16, 16), 0);
    ck_assert_int_eq(yarn_table_put(&numbers, LEADER, 0), 0);
    ck_assert_int_eq(yarn_table_put(&numbers, OTHER_CORE, 0), 0);
    ck_assert_int_eq(yarn_table_put(&numbers, MEMBER, 1), 0);
}

static void close_reads(void)
{
    yarn_group_reads_close(&reads);
    yarn_table_close(&numbers);
}

static void tell(void *self, const struct yarn_typed_record *record)
{
    (void)self;
    ck_assert_uint_lt(record->event, 2);
    weights[record->event] = record->perf.period;
    addresses[record->event] = record->perf.addr;
    ck_assert(!(record->perf.fields & PERF_SAMPLE_ADDR) == !record->perf.addr);
    nr_told++;
}

static void count_malformed(void *self, uint32_t kernel_type, size_t size)
{
    (void)self;
    (void)kernel_type;
    (void)size;
    nr_malformed++;
}

/* A sample of `id`, in which that leader and its member have counted so much. */
static void sample_of(uint64_t id, uint64_t leader, uint32_t tid, uint64_t first, uint64_t second)
{
    const uint64_t words[] = {2, first, leader, second, MEMBER};
    struct yarn_typed_record record = {
        .type = YARN_RECORD_SAMPLE, .perf = {.id = id, .tid = tid}, .event = id == MEMBER};
    record.perf.addr = 4096;
    record.perf.fields = PERF_SAMPLE_ADDR;
    record.attr = &layout;
    record.perf.values = (struct yarn_bytes){(const uint8_t *)words, sizeof words};
    const struct yarn_record_listener listener = {.record = tell, .malformed = count_malformed};
    weights[0] = weights[1] = nr_told = 0;
    yarn_group_reads_report(&reads, &numbers, &record, &listener);
}

static void sample(uint64_t leader, uint32_t tid, uint64_t first, uint64_t second)
{
    sample_of(leader, leader, tid, first, second);
}

#define ASSERT_WEIGHTS(first, second)                                                              \
    do {                                                                                           \
        ck_assert_uint_eq(weights[0], first);                                                      \
        ck_assert_uint_eq(weights[1], second);                                                     \
    } while (0)

START_TEST(a_weight_is_what_was_counted_since_the_sample_before)
{
    sample(LEADER, 5, 100, 7);
    ASSERT_WEIGHTS(100, 7);
    sample(LEADER, 5, 250, 9);
    ASSERT_WEIGHTS(150, 2);
}
END_TEST

/* As where another event of the same number has come in its place. */
START_TEST(a_counter_that_began_anew_has_counted_what_it_shows)
{
    sample(LEADER, 5, 100, 7);
    sample(LEADER, 5, 30, 9);
    ASSERT_WEIGHTS(30, 2);
}
END_TEST

/* And what it alone is about is not what all of that is about. */
START_TEST(a_sample_of_a_member_reads_the_same_group)
{
    sample(LEADER, 5, 100, 7);
    ck_assert_uint_eq(addresses[0], 4096);
    sample_of(MEMBER, LEADER, 5, 150, 507);
    ASSERT_WEIGHTS(50, 500);
    ck_assert_uint_eq(addresses[1], 0);
    sample(LEADER, 5, 160, 508);
    ASSERT_WEIGHTS(10, 1);
}
END_TEST

START_TEST(who_has_counted_nothing_is_not_told_of)
{
    sample(LEADER, 5, 100, 7);
    sample(LEADER, 5, 200, 7);
    ck_assert_uint_eq(nr_told, 1);
    ASSERT_WEIGHTS(100, 0);
}
END_TEST

START_TEST(threads_and_cores_count_for_themselves)
{
    sample(LEADER, 5, 100, 7);
    sample(LEADER, 6, 30, 1);
    ASSERT_WEIGHTS(30, 1);
    sample(OTHER_CORE, 5, 40, 2);
    ASSERT_WEIGHTS(40, 2);
    sample(LEADER, 5, 101, 8);
    ASSERT_WEIGHTS(1, 1);
}
END_TEST

START_TEST(a_number_that_comes_again_is_another_thread)
{
    sample(LEADER, 5, 100, 7);
    yarn_group_reads_remove_thread(&reads, 5);
    sample(LEADER, 5, 150, 9);
    ASSERT_WEIGHTS(150, 9);
}
END_TEST

START_TEST(threads_that_ended_leave_no_memory_behind)
{
    for (uint32_t tid = 1; tid <= TIDS; tid++) {
        sample(LEADER, tid, tid, 1);
        ASSERT_WEIGHTS(tid, 1);
        yarn_group_reads_remove_thread(&reads, tid);
    }
    ck_assert_uint_eq(reads.lasts.count, 1);
    ck_assert_uint_le(reads.numbers.count, 2 * 1024);
    ck_assert_uint_eq(nr_malformed, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("groups that are read");
    TCase *tcase = tcase_create("readings");
    tcase_add_checked_fixture(tcase, open_reads, close_reads);
    tcase_add_test(tcase, a_weight_is_what_was_counted_since_the_sample_before);
    tcase_add_test(tcase, a_counter_that_began_anew_has_counted_what_it_shows);
    tcase_add_test(tcase, a_sample_of_a_member_reads_the_same_group);
    tcase_add_test(tcase, who_has_counted_nothing_is_not_told_of);
    tcase_add_test(tcase, threads_and_cores_count_for_themselves);
    tcase_add_test(tcase, a_number_that_comes_again_is_another_thread);
    tcase_add_test(tcase, threads_that_ended_leave_no_memory_behind);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
