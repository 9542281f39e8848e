/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <linux/perf_event.h>

#include "output/yarnprof/outside/drain.h"
#include "tests/support/suite.h"

enum { RING_BYTES = 4096, RECORD_BYTES = 24 };

/* Records of a type that no one cuts, in a ring like the kernel's. */
static struct perf_event_mmap_page from, to;
static _Alignas(8) uint8_t kernel_data[RING_BYTES], data[RING_BYTES];
static struct yarn_drain_ring ring;
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

int main(void)
{
    Suite *suite = suite_create("drain");
    TCase *rings = tcase_create("rings");
    tcase_add_checked_fixture(rings, set_up, tear_down);
    tcase_add_test(rings, whole_records_are_copied);
    tcase_add_loop_test(rings, an_impossible_size_is_counted_and_ends_the_pass, 0, 2);
    suite_add_tcase(suite, rings);
    return run_suite(suite);
}
