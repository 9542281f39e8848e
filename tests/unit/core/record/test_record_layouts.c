/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "core/record/merge.h"
#include "tests/support/suite.h"
#include "tests/unit/core/record/handmade.h"

enum { STACK_BYTES = 16, RAW_BYTES = 12, CHAIN = 2 };

/* An event of each kind: a clock with its stack, faults with the address, a tracepoint, and what
 * reads counters, one or a group. */
enum { CLOCK, FAULTS, TRACEPOINT, LONE, GROUP, EVENTS };
#define TIMES (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)
static const struct perf_event_attr layouts[EVENTS] = {
    [CLOCK] = {.sample_type =
                   YARN_SAMPLE_TYPE_COMMON | PERF_SAMPLE_PERIOD | PERF_SAMPLE_STACK_USER},
    [FAULTS] = {.sample_type = YARN_SAMPLE_TYPE_COMMON | PERF_SAMPLE_ADDR, .sample_period = 1000},
    [TRACEPOINT] = {.sample_type = YARN_SAMPLE_TYPE_COMMON | PERF_SAMPLE_PERIOD |
                                   PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW},
    [LONE] = {.sample_type = YARN_SAMPLE_TYPE_COMMON | PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN,
              .read_format = TIMES | PERF_FORMAT_ID | PERF_FORMAT_LOST},
    [GROUP] = {.sample_type = YARN_SAMPLE_TYPE_COMMON | PERF_SAMPLE_READ,
               .read_format = TIMES | PERF_FORMAT_ID | PERF_FORMAT_GROUP},
};

static struct handmade_record made;
static struct yarn_merge merge;
static unsigned seen[EVENTS];

static void begin(uint32_t event)
{
    uint64_t parts = layouts[event].sample_type;
    handmade_begin(&made, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
    yarn_bytes_u64(&made.bytes, 100 + event);
    yarn_bytes_u64(&made.bytes, 0x400000 + event);
    yarn_bytes_u32(&made.bytes, 11);
    yarn_bytes_u32(&made.bytes, 12);
    yarn_bytes_u64(&made.bytes, 1000 - event); /* younger the later in the ring, but for one */
    if (parts & PERF_SAMPLE_ADDR)
        yarn_bytes_u64(&made.bytes, 0xfa017);
    yarn_bytes_u32(&made.bytes, 3);
    yarn_bytes_u32(&made.bytes, 0);
    if (parts & PERF_SAMPLE_PERIOD)
        yarn_bytes_u64(&made.bytes, 77);
}

static void put_chain(void)
{
    yarn_bytes_u64(&made.bytes, CHAIN);
    for (uint64_t i = 0; i < CHAIN; i++)
        yarn_bytes_u64(&made.bytes, 0x500000 + i);
}

static void put_lone(void)
{
    yarn_bytes_u64(&made.bytes, 5);   /* value */
    yarn_bytes_u64(&made.bytes, 600); /* enabled */
    yarn_bytes_u64(&made.bytes, 500); /* running */
    yarn_bytes_u64(&made.bytes, 103);
    yarn_bytes_u64(&made.bytes, 9); /* lost */
}

static void put_group(uint64_t count, uint64_t written)
{
    yarn_bytes_u64(&made.bytes, count);
    yarn_bytes_u64(&made.bytes, 600);
    yarn_bytes_u64(&made.bytes, 500);
    for (uint64_t i = 0; i < written; i++) {
        yarn_bytes_u64(&made.bytes, 10 + i);
        yarn_bytes_u64(&made.bytes, 200 + i);
    }
}

static void put_parts(uint32_t event)
{
    if (event == CLOCK) {
        yarn_bytes_u64(&made.bytes, STACK_BYTES);
        handmade_pattern(&made, STACK_BYTES, 1);
        yarn_bytes_u64(&made.bytes, STACK_BYTES);
    } else if (event == TRACEPOINT) {
        put_chain();
        yarn_bytes_u32(&made.bytes, RAW_BYTES);
        handmade_pattern(&made, RAW_BYTES, 0x30);
    } else if (event == LONE) {
        put_lone();
        put_chain();
    } else if (event == GROUP) {
        put_group(3, 3);
    }
}

static void check_counters(const struct yarn_record *sample, uint32_t event)
{
    struct yarn_record_counter counter;
    uint64_t format = layouts[event].read_format, nr_counters = event == GROUP ? 3 : event == LONE;
    ck_assert(!yarn_record_counter(sample, format, nr_counters, &counter));
    for (uint64_t i = 0; i < nr_counters; i++) {
        ck_assert(yarn_record_counter(sample, format, i, &counter));
        ck_assert_uint_eq(counter.value, event == GROUP ? 10 + i : 5);
        ck_assert_uint_eq(counter.id, event == GROUP ? 200 + i : 103);
        ck_assert_uint_eq(counter.lost, event == GROUP ? 0 : 9);
    }
}

static void on_record(void *self, const struct yarn_typed_record *record)
{
    const struct yarn_record *sample = &record->perf;
    (void)self;
    if (record->type != YARN_RECORD_SAMPLE)
        return;
    uint32_t event = record->event;
    ck_assert_uint_lt(event, EVENTS);
    bool has_chain = event == TRACEPOINT || event == LONE;
    uint64_t period = event == FAULTS ? 1000 : event == LONE || event == GROUP ? 0 : 77;
    ck_assert_uint_eq(record->perf.id, 100 + event);
    ck_assert_uint_eq(record->perf.tid, 12);
    ck_assert_uint_eq(record->perf.cpu, 3);
    ck_assert_uint_eq(sample->ip, 0x400000 + event);
    ck_assert_uint_eq(sample->period, period);
    ck_assert_uint_eq(sample->addr, event == FAULTS ? 0xfa017 : 0);
    ck_assert_uint_eq(yarn_wrapped_size(&record->stack), event == CLOCK ? STACK_BYTES : 0);
    ck_assert_uint_eq(sample->raw.size, event == TRACEPOINT ? RAW_BYTES : 0);
    ck_assert_uint_eq(sample->callchain.size, has_chain ? CHAIN * 8 : 0);
    check_counters(sample, event);
    seen[event]++;
}

static unsigned nr_malformed;

static void on_malformed(void *self, uint32_t kernel_type, size_t size)
{
    (void)self;
    (void)size;
    ck_assert_uint_eq(kernel_type, PERF_RECORD_SAMPLE);
    nr_malformed++;
}

static void know_all(void)
{
    for (uint32_t event = 0; event < EVENTS; event++)
        handmade_know(&merge.decoder, layouts, 100 + event, event);
}

static void read_ring(struct handmade_ring *ring)
{
    const struct yarn_record_listener listener = {NULL, on_record, on_malformed};
    struct yarn_merge_source source = {.ring = &ring->ring};
    bool has_news;
    merge.sources = &source;
    merge.count = 1;
    yarn_merge_pass(&merge, UINT64_MAX, &listener, &has_news);
    ck_assert_uint_eq(ring->page.data_tail, ring->page.data_head);
}

/* At every position of the ring's end. */
START_TEST(samples_of_events_with_layouts_of_their_own_share_a_ring)
{
    enum { RING_BYTES = 1024 };
    know_all();
    for (uint64_t position = 0; position < RING_BYTES; position += 8) {
        struct handmade_ring ring;
        handmade_ring_open(&ring, RING_BYTES, position);
        memset(seen, 0, sizeof seen);
        for (uint32_t event = 0; event < EVENTS; event++) {
            begin(event);
            put_parts(event);
            handmade_end(&made);
            handmade_ring_put_record(&ring, &made);
            handmade_begin(&made, PERF_RECORD_CGROUP, 0);
            handmade_pattern(&made, 16, 1);
            handmade_trailer(&made, &handmade_someone);
            handmade_end(&made);
            handmade_ring_put_record(&ring, &made);
        }
        read_ring(&ring);
        for (uint32_t event = 0; event < EVENTS; event++)
            ck_assert_uint_eq(seen[event], 1);
        handmade_ring_close(&ring);
    }
    ck_assert_uint_eq(nr_malformed, 0);
}
END_TEST

static int decode_only(void)
{
    struct yarn_typed_record record;
    handmade_end(&made);
    struct perf_event_header header = handmade_header(&made);
    struct handmade_split split = handmade_split_at(&made, made.bytes.size);
    int err = yarn_record_decoder_decode(&merge.decoder, &header, &split.bytes, &record);
    handmade_split_free(&split);
    return err;
}

START_TEST(sample_that_is_too_short_for_its_event_is_refused_at_any_length)
{
    know_all();
    begin((uint32_t)_i);
    put_parts((uint32_t)_i);
    for (size_t whole = made.bytes.size; made.bytes.size >= sizeof(struct perf_event_header);
         made.bytes.size--)
        ck_assert_int_eq(decode_only(), made.bytes.size == whole ? 0 : -EBADMSG);
}
END_TEST

START_TEST(sample_of_an_event_that_nobody_opened_is_refused)
{
    know_all();
    handmade_begin(&made, PERF_RECORD_SAMPLE, 0);
    handmade_sample(&made, &handmade_someone, 1, 1);
    ck_assert_int_eq(decode_only(), -EBADMSG);
}
END_TEST

START_TEST(group_believes_no_lie_about_its_size)
{
    static const uint64_t lies[] = {3, 0xffff, 0x10000, UINT64_MAX / 2 + 1, UINT64_MAX};
    know_all();
    begin(GROUP);
    put_group(lies[_i], 2);
    ck_assert_int_eq(decode_only(), -EBADMSG);
}
END_TEST

START_TEST(period_is_that_of_the_opened_event_unless_it_has_a_frequency)
{
    struct perf_event_attr attr = {.sample_period = 100};
    ck_assert_uint_eq(yarn_record_fixed_period(&attr), 100);
    attr.freq = 1;
    ck_assert_uint_eq(yarn_record_fixed_period(&attr), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("record: layouts");
    TCase *tcase = tcase_create("events of different layouts");
    tcase_add_test(tcase, samples_of_events_with_layouts_of_their_own_share_a_ring);
    tcase_add_loop_test(tcase, sample_that_is_too_short_for_its_event_is_refused_at_any_length, 0,
                        EVENTS);
    tcase_add_test(tcase, sample_of_an_event_that_nobody_opened_is_refused);
    tcase_add_loop_test(tcase, group_believes_no_lie_about_its_size, 0, 5);
    tcase_add_test(tcase, period_is_that_of_the_opened_event_unless_it_has_a_frequency);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
