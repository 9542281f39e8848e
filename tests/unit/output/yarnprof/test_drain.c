/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <linux/perf_event.h>

#include "output/yarnprof/outside/drain.h"
#include "tests/support/suite.h"

enum { RING_BYTES = 4096, RECORD_BYTES = 24 };

/* Records of a type that no one cuts, in a ring like the kernel's. */
static struct perf_event_mmap_page from, to;
static _Alignas(8) uint8_t kernel_data[RING_BYTES], data[RING_BYTES];
static struct yarn_drain_ring ring, rings[2];
static struct yarn_drain drain;

static void set_up(void)
{
    from = to = (struct perf_event_mmap_page){0};
    ring = (struct yarn_drain_ring){
        .from = &from,
        .from_data = yarn_span_of(kernel_data, RING_BYTES),
        .page = &to,
        .data = data,
    };
    drain = (struct yarn_drain){.rings = &ring, .nr_rings = 1, .ring_bytes = RING_BYTES, .fd = -1};
}

static void tear_down(void)
{
}

static void put(uint16_t size)
{
    struct perf_event_header header = {.type = PERF_RECORD_COMM, .size = size};
    memcpy(kernel_data + from.data_head, &header, sizeof header);
    from.data_head += RECORD_BYTES;
}

START_TEST(whole_records_are_copied)
{
    put(RECORD_BYTES);
    put(RECORD_BYTES);
    ck_assert(!yarn_drain_copy_rest(&drain));
    ck_assert_uint_eq(to.data_head, 2 * RECORD_BYTES);
    ck_assert_uint_eq(from.data_tail, from.data_head);
    ck_assert_uint_eq(atomic_load(&drain.nr_broken), 0);
    ck_assert_int_eq(memcmp(data, kernel_data, 2 * RECORD_BYTES), 0);
}
END_TEST

/* Too small, and longer than what is there. */
START_TEST(an_impossible_size_is_counted_and_ends_the_pass)
{
    put(RECORD_BYTES);
    put(_i ? 1000 : 4);
    put(RECORD_BYTES);
    ck_assert(!yarn_drain_copy_rest(&drain));
    ck_assert_uint_eq(to.data_head, RECORD_BYTES);
    ck_assert_uint_eq(from.data_tail, from.data_head);
    ck_assert_uint_eq(atomic_load(&drain.nr_broken), 1);
    put(RECORD_BYTES);
    ck_assert(!yarn_drain_copy_rest(&drain));
    ck_assert_uint_eq(to.data_head, 2 * RECORD_BYTES);
}
END_TEST

static void put_many(size_t count)
{
    while (count--)
        put(RECORD_BYTES);
}

/* Each is full once: the second has more than was read of both when the first was. */
START_TEST(a_ring_that_is_full_holds_up_no_other)
{
    enum { BYTES = 1024, FIT = BYTES / RECORD_BYTES };
    static struct perf_event_mmap_page other_from, other_to;
    static _Alignas(8) uint8_t other_data[RING_BYTES];
    rings[0] = rings[1] = ring;
    rings[1].from = &other_from;
    rings[1].page = &other_to;
    rings[1].data = other_data;
    drain.rings = rings;
    drain.nr_rings = 2;
    drain.ring_bytes = BYTES;
    put_many(FIT);
    ck_assert(!yarn_drain_copy_rest(&drain));
    put_many(1);
    ck_assert(yarn_drain_copy_rest(&drain));
    uint64_t first_ns = yarn_drain_copied_ns(&drain);
    to.data_tail = to.data_head;
    other_from.data_head = from.data_head; /* the same records */
    ck_assert(yarn_drain_copy_rest(&drain));
    ck_assert_uint_gt(yarn_drain_copied_ns(&drain), first_ns);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("drain");
    TCase *tcase = tcase_create("rings");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, whole_records_are_copied);
    tcase_add_loop_test(tcase, an_impossible_size_is_counted_and_ends_the_pass, 0, 2);
    tcase_add_test(tcase, a_ring_that_is_full_holds_up_no_other);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
